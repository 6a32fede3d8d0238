/* SPDX-License-Identifier: Apache-2.0 */
/* id.c - the plan id: two plans that could give different documents have different ids.
 *
 * It is the hash of the plan as canonical BSON: keys in the order of the manual for any order in the file, without
 * comments and layout, server and database resolved, without the plan's name. Nested values keep their order, because
 * the output depends on it. */
#include "plan_internal.h"

static void
put64_big(uint8_t *to, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t)(v >> (56 - 8 * i));
    }
}

enum mrs_status
mrsi_plan_make_id(struct mrsi_plan *p, uint32_t version, const struct mrs_view *bodies,
                  struct mrs_err *e)
{
    MRS_ASSERT(bodies || p->pub.n_written == 0);
    struct mrs_plan *pub = &p->pub;
    struct mrs_buf buf;
    struct mrs_build b;
    mrs_buf_init(&buf, pub->mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    if (version) {
        mrs_build_i32(&b, "version", (int32_t)version);
    }
    mrs_build_text(&b, "server", pub->server, (uint32_t)strlen(pub->server));
    if (*pub->database) {
        mrs_build_text(&b, "database", pub->database, (uint32_t)strlen(pub->database));
    }
    mrs_build_open(&b, "steps", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < pub->n_steps; i++) {
        const char *name = pub->steps[i].type->name;
        mrs_build_item_open(&b, MRS_DOCUMENT);
        mrs_build_val(&b, name, (uint32_t)strlen(name), mrs_view_val(bodies[i]));
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    struct mrs_view doc;
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    const uint8_t *copy = s == MRS_OK ? mrs_arena_copy(&pub->arena, doc.p, doc.n) : NULL;
    if (copy) {
        struct mrs_hash128 h = mrs_hash(copy, doc.n, 0);
        pub->canonical = (struct mrs_view){copy, doc.n};
        put64_big(pub->id, h.hi);
        put64_big(pub->id + 8, h.lo);
    } else if (s == MRS_OK) {
        s = mrs_err_memory(e, doc.n);
    }
    mrs_buf_clear(&buf);
    return s;
}

void
mrs_plan_id_text(const struct mrs_plan *p, char text[33])
{
    static const char digit[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        text[2 * i] = digit[p->id[i] >> 4];
        text[2 * i + 1] = digit[p->id[i] & 15];
    }
    text[32] = '\0';
}
