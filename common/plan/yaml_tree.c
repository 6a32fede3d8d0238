/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_tree.c - looks up nodes in the tree of a plan, and converts values to BSON.
 *
 * A map with the keys of an Extended JSON wrapper becomes the typed value. This is decided on its unresolved content,
 * because numbers inside a wrapper must be texts. Recursion is as deep as plans may be nested. Knows no step. */
#include "plan_internal.h"
#include "shell.h"

struct mrsi_yaml_entry *
mrsi_tree_find(const struct mrsi_yaml_node *map, const char *key)
{
    MRS_ASSERT(key);
    struct mrsi_yaml_entry *entry = map && map->kind == MRSI_MAP ? map->first : NULL;
    while (entry && strcmp(entry->key, key) != 0) {
        entry = entry->next;
    }
    return entry;
}

static struct mrsi_yaml_entry *
find_part(const struct mrsi_yaml_node *node, const char *part, size_t n)
{
    MRS_ASSERT(part || n == 0);
    struct mrsi_yaml_entry *entry = node->first;
    if (node->kind == MRSI_LIST) {
        uint64_t index = 0;
        for (size_t i = 0; i < n; i++) {
            if (part[i] < '0' || part[i] > '9' || index > UINT32_MAX) {
                return NULL;
            }
            index = index * 10 + (uint64_t)(part[i] - '0');
        }
        while (entry && index--) {
            entry = entry->next;
        }
        return n ? entry : NULL;
    }
    while (entry && (entry->key_n != n || memcmp(entry->key, part, n) != 0)) {
        entry = entry->next;
    }
    return entry;
}

void
mrsi_tree_locate(const struct mrsi_yaml_node *node, const char *path, uint32_t *line, uint32_t *col)
{
    MRS_ASSERT(line && col);
    while (node && path && *path) {
        /* keys may contain dots: the longest existing key is chosen */
        size_t n = strlen(path);
        struct mrsi_yaml_entry *entry = find_part(node, path, n);
        while (!entry && n > 0) {
            n--;
            if (n > 0 && strchr(".[]", path[n])) {
                entry = find_part(node, path, n);
            }
        }
        if (!entry) {
            return;
        }
        *line = entry->line;
        *col = entry->col;
        node = entry->node;
        path += n;
        path += strspn(path, ".[]");
    }
}

static void put_node(struct mrsi_plan *p, struct mrs_build *b, const struct mrsi_yaml_entry *at,
                     const struct mrsi_yaml_node *node, bool raw);

static void
put_children(struct mrsi_plan *p, struct mrs_build *b, const struct mrsi_yaml_node *node, bool raw)
{
    for (const struct mrsi_yaml_entry *entry = node->first; entry; entry = entry->next) {
        put_node(p, b, node->kind == MRSI_LIST ? NULL : entry, entry->node, raw);
    }
}

/* The typed value of a map that is a wrapper; missing: not a wrapper. A wrapper with invalid content is reported once,
 * here, and becomes null. */
static struct mrs_val
unwrapped(struct mrsi_plan *p, const struct mrsi_yaml_node *node)
{
    struct mrs_buf raw;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_err e;
    struct mrs_val v = mrs_missing();
    if (node->count == 0 || node->count > 2 || node->first->key[0] != '$') {
        return v;
    }
    mrs_err_clear(&e);
    mrs_buf_init(&raw, p->pub.mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &raw);
    put_children(p, &b, node, true);
    enum mrs_status s = mrs_build_finish(&b, &doc, &e);
    if (s == MRS_OK) {
        struct mrs_val got = mrs_view_val(doc);
        s = mrs_ejson_unwrap(&p->pub.arena, MRS_EJSON_STRICT, &got, &e);
        if (s == MRS_OK && got.type != MRS_DOCUMENT) {
            v = got;
        }
    }
    if (s == MRS_DEAD) {
        p->dead = true;
    } else if (s != MRS_OK) {
        mrsi_plan_error(p, node->line, node->col, "not a value of Extended JSON: %.400s", e.msg);
        v = mrs_null();
    }
    mrs_buf_clear(&raw);
    return v;
}

/* at: the entry of a map; NULL: inside a list. */
static void
put_node(struct mrsi_plan *p, struct mrs_build *b, const struct mrsi_yaml_entry *at,
         const struct mrsi_yaml_node *node, bool raw)
{
    MRS_ASSERT(at || node);
    struct mrs_val v = node->kind == MRSI_SCALAR ? node->val : mrs_missing();
    if (node->kind == MRSI_MAP && !raw) {
        v = unwrapped(p, node);
    }
    if (v.type != MRS_MISSING) {
        at ? mrs_build_val(b, at->key, at->key_n, v) : mrs_build_item(b, v);
        return;
    }
    uint8_t type = node->kind == MRSI_MAP ? MRS_DOCUMENT : MRS_ARRAY;
    at ? mrs_build_open(b, at->key, at->key_n, type) : mrs_build_item_open(b, type);
    put_children(p, b, node, raw);
    mrs_build_close(b);
}

bool
mrsi_tree_val(struct mrsi_plan *p, const struct mrsi_yaml_node *node, struct mrs_val *out)
{
    MRS_ASSERT(out);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    struct mrs_err e;
    uint32_t before = p->pub.n_errors + p->unseen;
    if (node->kind == MRSI_SCALAR) {
        *out = node->val;
        return true;
    }
    struct mrsi_yaml_entry top = {.key = "", .line = node->line, .col = node->col};
    mrs_err_clear(&e);
    mrs_buf_init(&buf, p->pub.mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    put_node(p, &b, &top, node, false);
    enum mrs_status s = mrs_build_finish(&b, &doc, &e);
    if (s == MRS_OK && !mrs_val_copy(&p->pub.arena, mrs_doc_get(doc, ""), out)) {
        s = MRS_DEAD;
    }
    if (s == MRS_DEAD) {
        p->dead = true;
    } else if (s != MRS_OK) {
        mrsi_plan_error(p, node->line, node->col, "this value cannot be stored: %.400s", e.msg);
    }
    mrs_buf_clear(&buf);
    return !p->dead && p->pub.n_errors + p->unseen == before;
}

static void
check_query(struct mrsi_plan *p, const struct mrs_query_text *q)
{
    const struct mrsi_yaml_entry at = {.key = "", .line = 1, .col = 1, .node = p->root};
    const struct mrs_step_type type = {.name = q->command};
    const struct mrs_key key = {q->option, MRS_ARG_QUERY, false, NULL, ""};
    (void)mrsi_plan_shell(p, &type, &key, &at);
}

/* The map in the text, checked as the query of q; q: NULL for another map. */
static enum mrs_status
read_doc(struct mrsi_plan *p, const char *text, size_t n, const struct mrs_query_text *q, struct mrs_buf *out,
         struct mrs_err *e)
{
    MRS_ASSERT(text || n == 0);
    struct mrs_val v = mrs_missing();
    if (n > MRS_PLAN_BYTES_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "more than 4 MiB of YAML");
    }
    if (mrsi_yaml_read(p, text, n) && p->root && p->root->kind == MRSI_MAP) {
        if (mrsi_tree_val(p, p->root, &v) && q) {
            check_query(p, q);
        }
    } else if (!p->pub.n_errors && !p->dead) {
        mrsi_plan_error(p, 1, 1, "a map is expected");
    }
    enum mrs_status s = mrsi_plan_errors_status(p, e);
    if (s == MRS_OK) {
        mrs_buf_put(out, v.p, v.n);
        s = mrs_buf_status(out, e);
    }
    for (uint32_t i = 0; i < p->pub.n_warnings && s == MRS_OK && q; i++) {
        q->warn(q->arg, p->pub.errors[i].msg);
    }
    return s;
}

static enum mrs_status
read_text(struct mrs_mem *mem, const char *text, size_t n, const struct mrs_query_text *q, struct mrs_buf *out,
          struct mrs_err *e)
{
    struct mrsi_plan p = {.pub = {.mem = mem, .file = q ? q->option : "options", .name = "", .database = "",
                                  .server = ""}};
    mrs_arena_init(&p.pub.arena, mem);
    enum mrs_status s = read_doc(&p, text, n, q, out, e);
    mrs_free(mem, p.pub.errors);
    mrs_arena_clear(&p.pub.arena);
    return s;
}

enum mrs_status
mrs_yaml_doc(struct mrs_mem *mem, const char *text, size_t n, struct mrs_buf *out, struct mrs_err *e)
{
    return read_text(mem, text, n, NULL, out, e);
}

enum mrs_status
mrs_yaml_query(struct mrs_mem *mem, const struct mrs_query_text *q, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(q && q->text && q->command && q->option && q->warn);
    return read_text(mem, q->text, strlen(q->text), q, out, e);
}
