/* SPDX-License-Identifier: Apache-2.0 */
/* skeleton.c - prints a plan of one step as a starting point: its keys, an example of each and its meaning; from the
 * step's own tables. */
#include "plan/plan_internal.h"

#define SKELETON_COLUMN 44 /* column of comments */

/* The text after a key. */
const char *
mrs_arg_word(enum mrs_arg_type type)
{
    static const char *const words[] = {[MRS_ARG_COLL] = "collection",
                                        [MRS_ARG_COLLS] = "collections",
                                        [MRS_ARG_TEXT] = "text",
                                        [MRS_ARG_NAME] = "field name",
                                        [MRS_ARG_PATH] = "path",
                                        [MRS_ARG_PATHS] = "paths",
                                        [MRS_ARG_FIELDS] = "paths or map",
                                        [MRS_ARG_EXPR] = "expression",
                                        [MRS_ARG_QUERY] = "query",
                                        [MRS_ARG_SORT] = "sort",
                                        [MRS_ARG_MATCH] = "path: path",
                                        [MRS_ARG_BOOL] = "bool",
                                        [MRS_ARG_COUNT] = "count",
                                        [MRS_ARG_CHOICE] = "one of",
                                        [MRS_ARG_CHOICE_OR_COLL] = "one of, or { into: COLL }",
                                        [MRS_ARG_MAP] = "map",
                                        [MRS_ARG_LIST] = "list",
                                        [MRS_ARG_ANY] = "value"};
    return words[type];
}

/* The value of a key in the example, n bytes; NULL: none. The example, up to the empty line, is a valid step. */
static const char *
example_of(const struct mrs_step_type *t, const char *key, size_t *n, bool *live)
{
    MRS_ASSERT(t->example && key);
    size_t len = strlen(key);
    *live = true;
    for (const char *at = t->example; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        *live = *live && *at != '\n';
        if (strncmp(at, key, len) == 0 && at[len] == ':') {
            at += len + 2;
            *n = strcspn(at, "\n");
            return at;
        }
    }
    *live = false;
    return NULL;
}

static void
put_value(const struct mrs_step_type *t, const struct mrs_key *k, struct mrs_buf *out)
{
    size_t n;
    bool live;
    const char *example = example_of(t, k->name, &n, &live);
    if (example) {
        mrs_buf_put(out, example, n);
    } else if (k->choices) {
        mrs_buf_put(out, k->choices, strcspn(k->choices, "|"));
    } else if (k->type == MRS_ARG_BOOL) {
        mrs_buf_printf(out, strcmp(k->name, "indexes") == 0 ? "true" : "false");
    }
}

static void
put_remark(const struct mrs_key *k, struct mrs_buf *out)
{
    mrs_buf_printf(out, "# %s", k->help);
    for (const char *at = k->choices; at && *at; at += strcspn(at, "|"), at += *at == '|') {
        mrs_buf_printf(out, "%s%.*s", at == k->choices ? " (" : " | ", (int)strcspn(at, "|"), at);
    }
    mrs_buf_printf(out, "%s%s\n", k->type == MRS_ARG_CHOICE_OR_COLL ? " | { into: COLL }" : "", k->choices ? ")" : "");
}

static void
put_key(const struct mrs_step_type *t, const struct mrs_key *k, struct mrs_val value, bool live, struct mrs_buf *out)
{
    MRS_ASSERT(k->name);
    size_t from = out->n;
    mrs_buf_printf(out, "      %s%s: ", live ? "" : "# ", k->name);
    if (value.type != MRS_MISSING) {
        mrsi_flow_val(out, value);
    } else {
        put_value(t, k, out);
    }
    size_t n = out->n - from;
    if (n < SKELETON_COLUMN) {
        mrs_buf_printf(out, "%*s", (int)(SKELETON_COLUMN - n), "");
    } else {
        mrs_buf_printf(out, "\n        ");
    }
    put_remark(k, out);
}

void
mrs_plan_skeleton(const struct mrs_step_type *t, const struct mrs_plan_start *start, struct mrs_buf *out)
{
    MRS_ASSERT(t->name && mrs_buf_is_sound(out));
    mrs_buf_printf(out, "# %s: %s\n", t->name, t->summary);
    for (uint32_t i = 0; i < start->n_remarks; i++) {
        mrs_buf_printf(out, "# ");
        mrs_yaml_comment(out, start->remarks[i]);
        mrs_buf_byte(out, '\n');
    }
    mrs_buf_printf(out, "plan: %s\n", t->name);
    if (start->database) {
        mrs_buf_printf(out, "database: ");
        mrs_yaml_text(out, start->database, strlen(start->database));
        mrs_buf_byte(out, '\n');
    }
    mrs_buf_printf(out, "steps:\n  - %s:\n", t->name);
    for (int second = 0; second < 2; second++) {
        for (uint32_t i = 0; i < t->n_keys; i++) {
            const struct mrs_key *k = &t->keys[i];
            struct mrs_val value = start->fill.n ? mrs_doc_get(start->fill, k->name) : mrs_missing();
            size_t n;
            bool live;
            example_of(t, k->name, &n, &live);
            if ((live || k->needed || value.type != MRS_MISSING) == !second) {
                put_key(t, k, value, !second, out);
            }
        }
    }
}
