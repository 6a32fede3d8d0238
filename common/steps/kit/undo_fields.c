/* SPDX-License-Identifier: Apache-2.0 */
/* undo_fields.c - the inverses of steps on the fields of one document: set, unset, rename, cast, replace, order, split.
 *
 * Most of them lose the old values: then the inverse is empty and the loss says so. */
#include "invert.h"
#include "undo.h"
#include "mongoreshape/inverse.h"

/* "a, b, c and more": names or paths in the value of a key. */
static const char *
names_of(struct mrs_val v, bool by_name, char text[300])
{
    struct mrs_walk w;
    struct mrs_elem e;
    size_t n = 0;
    uint32_t k = 0;
    text[0] = 0;
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return text;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) == 1; k++) {
        uint32_t len = e.name_len;
        const char *name = e.name;
        if (!by_name) {
            name = e.v.type == MRS_STRING ? mrs_val_text(e.v, &len) : "a field";
            len = e.v.type == MRS_STRING ? len : 7;
        }
        if (k == 6 || n + len + 16 > 300) {
            memcpy(text + n, " and more", 10);
            return text;
        }
        memcpy(text + n, ", ", 2);
        n += k ? 2 : 0;
        memcpy(text + n, name, len);
        n += len;
        text[n] = 0;
    }
    return text;
}

/* Is an expression of a plan a literal constant? */
static bool
removes_field(struct mrs_val v)
{
    return mrs_val_is_text(v, "$$REMOVE");
}

static bool
is_id(const char *path)
{
    return strcmp(path, "_id") == 0 || strncmp(path, "_id.", 4) == 0;
}

static void
lose_ids(struct mrsi_undo *u)
{
    mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS | MRS_LOSS_ORDER, "the _ids that documents had");
}

enum mrs_status
mrsi_set_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    struct mrs_walk w;
    struct mrs_elem el;
    char names[300];
    bool id = false, any = false;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val fields = mrsi_undo_body(&u, "fields");
    bool where = mrsi_undo_body(&u, "where").type != MRS_MISSING;
    mrsi_undo_open(&u, "unset");
    mrsi_undo_take(&u, "in", "in");
    mrsi_undo_deeper(&u, "fields", MRS_ARRAY);
    for (mrs_walk_init(&w, mrs_val_view(fields)); mrs_walk_next(&w, &el) == 1;) {
        bool own = is_id(el.name);
        id = id || own;
        if (!own && !removes_field(el.v) && !strchr(el.name, '*')) {
            mrsi_undo_item_text(&u, el.name);
            any = true;
        }
    }
    mrsi_undo_up(&u);
    mrsi_undo_take(&u, "indexes", "indexes");
    if (any && !where) {
        mrsi_undo_close(&u);
    }
    names_of(fields, true, names);
    mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_TYPES,
                   where ? "the values that %s had: `where` may find other documents now, so that what was written "
                           "stays"
                         : "the values that %s had, and the places where they stood",
                   names);
    if (id) {
        lose_ids(&u);
    }
    return mrsi_undo_end(&u);
}

/* A step that removes data for good. */
static enum mrs_status
only_loss(struct mrs_inverse *inv, unsigned kinds, const char *words, struct mrs_err *e)
{
    struct mrsi_undo u;
    struct mrs_walk w;
    struct mrs_elem el;
    char names[300];
    bool id = false;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val fields = mrsi_undo_body(&u, "fields");
    mrsi_undo_loss(&u, kinds, "%s%s", words, names_of(fields, fields.type == MRS_DOCUMENT, names));
    for (mrs_walk_init(&w, mrs_val_view(fields)); fields.type == MRS_DOCUMENT && mrs_walk_next(&w, &el) == 1;) {
        id = id || is_id(el.name);
    }
    if (id) {
        lose_ids(&u);
    }
    return mrsi_undo_end(&u);
}

enum mrs_status
mrsi_unset_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    (void)state;
    return only_loss(inv, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values and places of ", e);
}

enum mrs_status
mrsi_cast_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    (void)state;
    return only_loss(inv, MRS_LOSS_TYPES | MRS_LOSS_VALUES, "types, and what conversion changed, of ", e);
}

enum mrs_status
mrsi_replace_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    (void)state;
    return only_loss(inv, MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_TYPES, "the documents as they were", e);
}

enum mrs_status
mrsi_order_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    (void)state;
    return only_loss(inv, MRS_LOSS_PLACES, "the order of fields around ", e);
}

/* Does a query use a path that is renamed, or a parent or child of it? Yes if unknown. */
static bool
names_any(struct mrs_val where, struct mrs_val fields)
{
    struct mrs_walk w, f;
    struct mrs_elem cond, field;
    for (mrs_walk_init(&w, mrs_val_view(where)); mrs_walk_next(&w, &cond) == 1;) {
        size_t n = strcspn(cond.name, ".");
        if (cond.name[0] == '$') {
            return true;
        }
        for (mrs_walk_init(&f, mrs_val_view(fields)); mrs_walk_next(&f, &field) == 1;) {
            uint32_t len = 0;
            const char *to = field.v.type == MRS_STRING ? mrs_val_text(field.v, &len) : "";
            if ((strcspn(field.name, ".") == n && memcmp(field.name, cond.name, n) == 0) ||
                (strcspn(to, ".") == n && memcmp(to, cond.name, n) == 0) || field.v.type != MRS_STRING) {
                return true;
            }
        }
    }
    return false;
}

/* Length in bytes of a path without its last name. */
static size_t
above(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) + 1 : 0;
}

/* A prefix that is replaced by another one can be inverted. */
static bool
is_prefix_for_prefix(const char *old, const char *new)
{
    size_t n = strlen(old), m = new ? strlen(new) : 0;
    return m > 1 && n > above(old) && old[n - 1] == '*' && old[n - 2] != '*' && strchr(new, '*') == new + m - 1;
}

/* Writes the inverted patterns of `fields`, in reverse order, into an entry of their own. The others are a loss. */
static void
undo_patterns(struct mrsi_undo *u, struct mrs_val fields)
{
    uint32_t n = mrs_val_count(fields), any = 0;
    struct mrs_elem *el = mrs_arena_alloc(u->inv->arena, (n + 1) * sizeof *el);
    struct mrs_walk w;
    u->bad = u->bad || !el;
    mrs_walk_init(&w, mrs_val_view(fields));
    for (uint32_t i = 0; el && i < n && mrs_walk_next(&w, &el[i]) == 1; i++) {
        any += strchr(el[i].name, '*') != NULL;
    }
    if (!el || !any) {
        return;
    }
    mrsi_undo_open(u, "rename");
    mrsi_undo_take(u, "in", "in");
    mrsi_undo_deeper(u, "fields", MRS_DOCUMENT);
    bool put = false;
    while (n-- > 0) {
        uint32_t len;
        const char *old = el[n].name, *to = el[n].v.type == MRS_STRING ? mrs_val_text(el[n].v, &len) : NULL;
        if (!strchr(old, '*')) {
            continue;
        }
        if (!is_prefix_for_prefix(old, to)) {
            mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "the names that %s had", old);
            continue;
        }
        size_t head = above(old), size = head + strlen(to) + 1;
        char *path = mrs_arena_alloc(u->inv->arena, size);
        u->bad = u->bad || !path;
        if (path) {
            memcpy(path, old, head);
            memcpy(path + head, to, size - head);
            mrsi_undo_text(u, path, old + head);
            put = true;
        }
    }
    mrsi_undo_up(u);
    mrsi_undo_take(u, "types", "types");
    mrsi_undo_take(u, "indexes", "indexes");
    if (put) {
        mrsi_undo_close(u);
    }
}

enum mrs_status
mrsi_rename_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    struct mrs_walk w;
    struct mrs_elem el;
    bool all = true, plain = false;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    undo_patterns(&u, mrsi_undo_body(&u, "fields"));
    struct mrs_val fields = mrsi_undo_body(&u, "fields"), where = mrsi_undo_body(&u, "where");
    bool same_where = where.type == MRS_DOCUMENT && !names_any(where, fields);
    mrsi_undo_open(&u, "rename");
    mrsi_undo_take(&u, "in", "in");
    mrsi_undo_deeper(&u, "fields", MRS_DOCUMENT);
    for (mrs_walk_init(&w, mrs_val_view(fields)); mrs_walk_next(&w, &el) == 1;) {
        uint32_t n = 0;
        const char *to = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : NULL;
        if (strchr(el.name, '*')) {
            continue;
        }
        plain = true;
        to = to && !strchr(to, '*') ? to : NULL; /* a key cannot be a list of names */
        all = all && to;
        if (to) {
            mrsi_undo_text(&u, to, el.name);
        } else {
            mrsi_undo_loss(&u, MRS_LOSS_VALUES, "the name of %s, and of what is renamed with it", el.name);
        }
        bool level = to && strrchr(to, '.') == NULL && strrchr(el.name, '.') == NULL;
        if (!level) {
            mrsi_undo_loss(&u, MRS_LOSS_PLACES | MRS_LOSS_VALUES,
                           "the place of %s among its fields; documents that were made on the way stay", el.name);
        }
    }
    mrsi_undo_up(&u);
    if (same_where) {
        mrsi_undo_take(&u, "where", "where");
    }
    mrsi_undo_take(&u, "indexes", "indexes");
    if (all && plain) {
        mrsi_undo_close(&u);
    }
    mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "which documents had a new name of `fields` before%s",
                   where.type == MRS_DOCUMENT && !same_where ? ", and which were left out by `where`" : "");
    return mrsi_undo_end(&u);
}

/* path: "$path" */
static void
take_by_name(struct mrsi_undo *u, struct mrs_val path)
{
    uint32_t n;
    const char *text = mrs_val_text(path, &n);
    char *expr = mrs_arena_alloc(u->inv->arena, (size_t)n + 2);
    u->bad = u->bad || !expr;
    if (expr) {
        expr[0] = '$';
        memcpy(expr + 1, text, (size_t)n + 1);
        mrsi_undo_text(u, text, expr);
    }
}

/* Joins both parts by their `_id`. A list keeps nested fields at their paths; a dotted name must be written field by
 * field, because the part that stayed may have its parent. */
enum mrs_status
mrsi_split_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    struct mrs_walk w;
    struct mrs_elem el;
    char names[300];
    bool dotted = false, lists = false;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val fields = mrsi_undo_body(&u, "fields");
    for (mrs_walk_init(&w, mrs_val_view(fields)); mrs_walk_next(&w, &el) == 1;) {
        uint32_t n = 0;
        dotted = dotted || (el.v.type == MRS_STRING && memchr(mrs_val_text(el.v, &n), '.', el.v.n));
        lists = lists || el.v.type != MRS_STRING;
    }
    if (!lists) {
        mrsi_undo_open(&u, "copy");
        mrsi_undo_take(&u, "from", "into");
        mrsi_undo_take(&u, "into", "from");
        mrsi_undo_deeper(&u, "match", MRS_DOCUMENT);
        mrsi_undo_text(&u, "_id", "_id");
        mrsi_undo_up(&u);
        mrsi_undo_deeper(&u, "fields", dotted ? MRS_DOCUMENT : MRS_ARRAY);
        for (mrs_walk_init(&w, mrs_val_view(fields)); mrs_walk_next(&w, &el) == 1;) {
            if (dotted) {
                take_by_name(&u, el.v);
            } else {
                mrsi_undo_item_val(&u, el.v);
            }
        }
        mrsi_undo_up(&u);
        mrsi_undo_text(&u, "keep", "none");
        mrsi_undo_text(&u, "orphans", "keep");
        mrsi_undo_take(&u, "indexes", "indexes");
        mrsi_undo_close(&u);
    }
    names_of(fields, false, names);
    mrsi_undo_loss(&u, MRS_LOSS_PLACES, "the places of %s among the fields", names);
    mrsi_undo_loss(&u, MRS_LOSS_COLLECTIONS, "the collection of the siblings stays, perhaps empty");
    if (dotted || lists) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES, "%s, where they lie in arrays%s", names,
                       lists ? ", or have names that need a list: they are not put back" : "");
    }
    mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_VALUES,
                   "siblings that were there before or whose document is gone, and which of several with one _id "
                   "counted");
    return mrsi_undo_end(&u);
}
