/* SPDX-License-Identifier: Apache-2.0 */
/* fitted.c - an expanded plan as text, for callers that store plans and must find the same collections again. */
#include "fit.h"

/* A map of collections by tag; a text needs distinct keys. NULL: they are distinct. */
static const char *
tag_twice(const struct mrs_step *st)
{
    struct mrs_val from = mrs_doc_get(st->body, "from");
    struct mrs_walk w, before;
    struct mrs_elem e, k;
    if (st->type->stars != MRS_STARS_LIST || from.type != MRS_DOCUMENT) {
        return NULL;
    }
    for (mrs_walk_init(&w, mrs_val_view(from)); mrs_walk_next(&w, &e) == 1;) {
        mrs_walk_init(&before, mrs_val_view(from));
        while (mrs_walk_next(&before, &k) == 1 && k.name != e.name) {
            if (strcmp(k.name, e.name) == 0) {
                return e.name;
            }
        }
    }
    return NULL;
}

enum mrs_status
mrs_plan_fitted(const struct mrs_plan *p, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(p->fitted && mrs_buf_is_sound(out));
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, p->mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    if (*p->name) {
        mrs_build_text(&b, "plan", p->name, (uint32_t)strlen(p->name));
    }
    mrs_build_text(&b, "server", p->server, (uint32_t)strlen(p->server));
    if (*p->database) {
        mrs_build_text(&b, "database", p->database, (uint32_t)strlen(p->database));
    }
    mrs_build_open(&b, "steps", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const char *type = p->steps[i].type->name, *twice = tag_twice(&p->steps[i]);
        if (twice) {
            mrs_buf_clear(&buf);
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "step %u %s: `from` has several collections that fit with the "
                               "tag \"%s\", and the plan that a run on a server keeps can name one for each tag: write "
                               "a step for each of them", p->steps[i].no, type, twice);
        }
        mrs_build_item_open(&b, MRS_DOCUMENT);
        mrs_build_val(&b, type, (uint32_t)strlen(type), mrs_view_val(p->steps[i].body));
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    MRS_THEN(s, mrs_plan_text(doc, out, e));
    mrs_buf_clear(&buf);
    return s;
}
