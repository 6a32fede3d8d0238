/* SPDX-License-Identifier: Apache-2.0 */
/* cast_uuid.c - types of the step `cast` for UUIDs as old drivers wrote them.
 *
 * Before subtype 4 each driver wrote the 16 bytes of a UUID as subtype 3 in its own order, and nothing in the value
 * identifies the order. So the plan names the driver. Values in the new form stay, so the step can be repeated. */
#include "cast_uuid.h"

enum { OLD_FORM = 3, NEW_FORM = 4, UUID_BYTES = 16 };

static const struct mrs_key drivers = {.name = "uuid", .choices = "csharp|java|python"};
enum { CSHARP, JAVA };

bool
mrsi_uuid_read(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_uuid *out, const char **words)
{
    static const char *const name[] = {"csharp", "java", "python"};
    static const struct mrs_key forms[] = {{"uuid", MRS_ARG_CHOICE, false, NULL, NULL},
                                           {"legacy_uuid", MRS_ARG_CHOICE, false, NULL, NULL}};
    *out = (struct mrsi_uuid){-1, false};
    if (s.v.type == MRS_STRING) {
        *words = "UUID";
        return mrs_val_is_text(s.v, "uuid");
    }
    if (!mrsi_read_map(r, s, forms, 2)) {
        return false;
    }
    struct mrsi_slot one = s;
    one.v = mrs_doc_get(mrs_val_view(s.v), "uuid");
    out->legacy = one.v.type == MRS_MISSING;
    one.v = out->legacy ? mrs_doc_get(mrs_val_view(s.v), "legacy_uuid") : one.v;
    one.def = &drivers;
    if (mrs_val_count(s.v) != 1) {
        return mrsi_read_error(r, s.key, s.sub,
                               "one of `uuid` and `legacy_uuid` is meant, with csharp, java or python");
    }
    if (!mrsi_read_choice(r, one, &out->driver)) {
        return false;
    }
    *words = mrsi_read_text_of(r, out->legacy ? "the UUID form of old %s drivers" : "UUID (%s)", name[out->driver]);
    return *words != NULL;
}

static void
turn(uint8_t *to, const uint8_t *from, int n)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[n - 1 - i];
    }
}

/* The permutation is its own inverse. */
static void
reorder(int driver, const uint8_t from[UUID_BYTES], uint8_t to[UUID_BYTES])
{
    memcpy(to, from, UUID_BYTES);
    if (driver == CSHARP) {
        turn(to, from, 4);
        turn(to + 4, from + 4, 2);
        turn(to + 6, from + 6, 2);
    } else if (driver == JAVA) {
        turn(to, from, 8);
        turn(to + 8, from + 8, 8);
    }
}

static enum mrs_status
no_uuid(const struct mrsi_uuid *u, struct mrs_eval *ev, struct mrs_val v)
{
    if (v.type != MRS_BINARY) {
        return mrs_err_set(ev->err, MRS_FAIL, MRS_E_EXPR, "cannot convert %s to a %sUUID%s", mrs_type_name(v.type),
                           u->legacy ? "legacy " : "",
                           u->legacy && v.type == MRS_STRING ? ": cast it to `uuid` in a step before" : "");
    }
    const char *hint = u->driver < 0 && v.p[4] == OLD_FORM ? ": name the driver that wrote it, as `{ uuid: java "
                                                             "}`" : "";
    return mrs_err_set(ev->err, MRS_FAIL, MRS_E_EXPR, "%u bytes of binary data of subtype %u cannot become a UUID%s",
                       v.n - 5, v.p[4], hint);
}

enum mrs_status
mrsi_uuid_cast(const struct mrsi_uuid *u, struct mrs_eval *ev, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint8_t have = u->legacy ? NEW_FORM : OLD_FORM, expected = u->legacy ? OLD_FORM : NEW_FORM;
    if (v.type == MRS_STRING && !u->legacy) {
        return mrs_convert(ev, v, "uuid", out);
    }
    bool whole = v.type == MRS_BINARY && v.n == UUID_BYTES + 5;
    if (whole && v.p[4] == expected) {
        *out = v;
        return MRS_OK;
    }
    if (!whole || v.p[4] != have || u->driver < 0) {
        return no_uuid(u, ev, v);
    }
    uint8_t *room = mrs_arena_alloc(ev->arena, UUID_BYTES + 5);
    MRS_TRY(mrs_allocated(room, UUID_BYTES + 5, ev->err));
    mrs_put32(room, UUID_BYTES);
    room[4] = expected;
    reorder(u->driver, v.p + 5, room + 5);
    *out = (struct mrs_val){room, UUID_BYTES + 5, MRS_BINARY};
    return MRS_OK;
}
