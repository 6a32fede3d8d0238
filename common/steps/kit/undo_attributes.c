/* SPDX-License-Identifier: Apache-2.0 */
/* undo_attributes.c - the inverses of pack and unpack: each is the other. */
#include "invert.h"
#include "undo.h"
#include "mongoreshape/inverse.h"

static const char *
text_of(const struct mrsi_undo *u, const char *key)
{
    struct mrs_val v = mrsi_undo_body(u, key);
    uint32_t n;
    return v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
}

/* Does `where` read the array or fields that go into it? Yes if unknown. */
static bool
reads_packed(const struct mrsi_undo *u, struct mrs_val fields)
{
    struct mrs_walk w, f;
    struct mrs_elem cond, el;
    struct mrs_val where = mrsi_undo_body(u, "where");
    const char *as = text_of(u, "as");
    if (where.type != MRS_DOCUMENT) {
        return false;
    }
    for (mrs_walk_init(&w, mrs_val_view(where)); mrs_walk_next(&w, &cond) == 1;) {
        size_t n = strcspn(cond.name, ".");
        if (cond.name[0] == '$' || !*as || (strcspn(as, ".") == n && memcmp(as, cond.name, n) == 0)) {
            return true;
        }
        if (fields.type != MRS_ARRAY) {
            continue;
        }
        for (mrs_walk_init(&f, mrs_val_view(fields)); mrs_walk_next(&f, &el) == 1;) {
            uint32_t len = 0;
            const char *name = el.v.type == MRS_STRING ? mrs_val_text(el.v, &len) : "*";
            size_t same = strcspn(name, "*");
            if (el.v.type != MRS_STRING || (same <= n && memcmp(name, cond.name, same) == 0)) {
                return true;
            }
        }
    }
    return false;
}

static void
put_common(struct mrsi_undo *u, struct mrs_val fields)
{
    mrsi_undo_take(u, "as", "as");
    mrsi_undo_take(u, "form", "form");
    mrsi_undo_take(u, "key", "key");
    mrsi_undo_take(u, "value", "value");
    if (!reads_packed(u, fields)) {
        mrsi_undo_take(u, "where", "where");
    } else {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "which documents `where` left out");
    }
    mrsi_undo_take(u, "indexes", "indexes");
}

enum mrs_status
mrsi_pack_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_open(&u, "unpack");
    mrsi_undo_take(&u, "in", "in");
    mrsi_undo_take(&u, "prefix", "strip");
    put_common(&u, mrsi_undo_body(&u, "fields"));
    mrsi_undo_close(&u);
    mrsi_undo_loss(&u, MRS_LOSS_PLACES | MRS_LOSS_VALUES,
                   "the places of the packed fields%s, and what `as` held before",
                   *text_of(&u, "strip") ? ", names among them that did not begin with `strip`" : "");
    return mrsi_undo_end(&u);
}

/* The fields that were in the array are known only if they have a prefix. */
enum mrs_status
mrsi_unpack_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    const char *prefix = text_of(&u, "prefix"), *as = text_of(&u, "as");
    bool known = *prefix && *as && !strchr(as, '.') && !strpbrk(prefix, ".*") && prefix[0] != '$';
    if (known) {
        char *pattern = mrs_arena_alloc(inv->arena, strlen(prefix) + 2);
        u.bad = u.bad || !pattern;
        mrsi_undo_open(&u, "pack");
        mrsi_undo_take(&u, "in", "in");
        mrsi_undo_deeper(&u, "fields", MRS_ARRAY);
        if (pattern) {
            memcpy(pattern, prefix, strlen(prefix));
            memcpy(pattern + strlen(prefix), "*", 2);
            mrsi_undo_item_text(&u, pattern);
        }
        mrsi_undo_up(&u);
        mrsi_undo_take(&u, "strip", "prefix");
        put_common(&u, mrs_missing());
        mrsi_undo_close(&u);
    }
    mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                   known ? "which fields with this prefix were there before, the place of `as`, and whether it "
                           "was there"
                         : "`as`: without a plain `prefix` its fields cannot be told apart from others, and they stay");
    return mrsi_undo_end(&u);
}
