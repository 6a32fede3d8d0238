/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the plan language as a JSON Schema (draft-07), for editors; generated from the tables of the steps.
 *
 * It has what a table has: keys, choices, basic types. Only `check` knows whether a path is valid or an expression
 * compiles. */
#include "plan/plan_internal.h"

/* Types that several keys share; expressions are anything. */
static const char definitions[] =
    "\"name\":{\"type\":\"string\",\"minLength\":1},"
    "\"literal\":{\"anyOf\":[{\"$ref\":\"#/definitions/name\"},{\"type\":\"array\",\"minItems\":1,\"maxItems\":1,"
    "\"items\":{\"$ref\":\"#/definitions/name\"}}]},"
    "\"coll\":{\"anyOf\":[{\"$ref\":\"#/definitions/name\"},{\"type\":\"object\",\"required\":[\"coll\"],"
    "\"additionalProperties\":false,\"properties\":{\"db\":{\"$ref\":\"#/definitions/literal\"},"
    "\"coll\":{\"$ref\":\"#/definitions/literal\"}}}]},"
    "\"colls\":{\"anyOf\":[{\"$ref\":\"#/definitions/name\"},{\"type\":\"object\",\"minProperties\":1,"
    "\"additionalProperties\":{\"$ref\":\"#/definitions/coll\"}},"
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"anyOf\":[{\"$ref\":\"#/definitions/coll\"},{\"type\":\"object\","
    "\"required\":[\"value\",\"into\"],\"additionalProperties\":false,"
    "\"properties\":{\"value\":{},\"into\":{\"$ref\":\"#/definitions/coll\"}}}]}}]},"
    "\"path\":{\"anyOf\":[{\"$ref\":\"#/definitions/name\"},{\"type\":\"array\",\"minItems\":1,"
    "\"items\":{\"$ref\":\"#/definitions/name\"}}]},"
    "\"paths\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/path\"}},"
    "\"fields\":{\"anyOf\":[{\"$ref\":\"#/definitions/paths\"},{\"type\":\"object\"}]},"
    "\"match\":{\"anyOf\":[{\"type\":\"object\",\"minProperties\":1,"
    "\"additionalProperties\":{\"$ref\":\"#/definitions/path\"}},{\"type\":\"array\",\"minItems\":1,"
    "\"items\":{\"type\":\"object\",\"required\":[\"from\",\"into\"],\"additionalProperties\":false,"
    "\"properties\":{\"from\":{},\"into\":{}}}}]}";

static void
put(struct mrs_buf *out, const char *text)
{
    mrs_buf_put(out, text, strlen(text));
}

static void
put_text(struct mrs_buf *out, const char *text)
{
    mrs_buf_byte(out, '"');
    for (; *text; text++) {
        mrs_buf_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    mrs_buf_byte(out, '"');
}

/* The word null may also be YAML's null. */
static void
put_choices(struct mrs_buf *out, const struct mrs_key *k)
{
    MRS_ASSERT(k->name);
    bool null = k->type == MRS_ARG_ANY;
    put(out, "{\"enum\":[");
    for (const char *at = k->choices; *at; at += strcspn(at, "|"), at += *at == '|') {
        int n = (int)strcspn(at, "|");
        mrs_buf_printf(out, "%s\"%.*s\"", at == k->choices ? "" : ",", n, at);
        null = null || (n == 4 && memcmp(at, "null", 4) == 0);
    }
    put(out, null ? ",null]}" : "]}");
}

/* The schema of a key's value, by its type alone. */
static void
put_shape(struct mrs_buf *out, const struct mrs_key *k)
{
    MRS_ASSERT(k->name);
    static const char *const shapes[] = {[MRS_ARG_COLL] = "{\"$ref\":\"#/definitions/coll\"}",
                                         [MRS_ARG_COLLS] = "{\"$ref\":\"#/definitions/colls\"}",
                                         [MRS_ARG_TEXT] = "{\"type\":\"string\"}",
                                         [MRS_ARG_NAME] = "{\"$ref\":\"#/definitions/name\"}",
                                         [MRS_ARG_PATH] = "{\"$ref\":\"#/definitions/path\"}",
                                         [MRS_ARG_PATHS] = "{\"$ref\":\"#/definitions/paths\"}",
                                         [MRS_ARG_FIELDS] = "{\"$ref\":\"#/definitions/fields\"}",
                                         [MRS_ARG_EXPR] = "{}",
                                         [MRS_ARG_QUERY] = "{\"type\":\"object\"}",
                                         [MRS_ARG_SORT] = "{\"type\":\"object\"}",
                                         [MRS_ARG_MATCH] = "{\"$ref\":\"#/definitions/match\"}",
                                         [MRS_ARG_BOOL] = "{\"type\":\"boolean\"}",
                                         [MRS_ARG_COUNT] = "{\"type\":\"integer\",\"minimum\":0}",
                                         [MRS_ARG_CHOICE] = "",
                                         [MRS_ARG_CHOICE_OR_COLL] = "",
                                         [MRS_ARG_MAP] = "{\"type\":\"object\"}",
                                         [MRS_ARG_LIST] = "{\"type\":\"array\"}",
                                         [MRS_ARG_ANY] = "{}"};
    if (k->type == MRS_ARG_CHOICE_OR_COLL) {
        put(out, "{\"anyOf\":[");
        put_choices(out, k);
        put(out, ",{\"type\":\"object\",\"required\":[\"into\"],\"additionalProperties\":false,"
             "\"properties\":{\"into\":{\"$ref\":\"#/definitions/coll\"}}}]}");
    } else if (k->choices) {
        put_choices(out, k);
    } else {
        put(out, shapes[k->type]);
    }
}

static const struct mrs_inner *
inner_of(const struct mrs_step_type *t, const char *key)
{
    for (uint32_t i = 0; t && i < t->n_inner; i++) {
        if (strcmp(t->inner[i].key, key) == 0) {
            return &t->inner[i];
        }
    }
    return NULL;
}

static void
put_needed(struct mrs_buf *out, const struct mrs_key *keys, uint32_t n)
{
    MRS_ASSERT(keys || n == 0);
    const char *comma = "\"required\":[";
    for (uint32_t i = 0; i < n; i++) {
        if (keys[i].needed) {
            mrs_buf_printf(out, "%s\"%s\"", comma, keys[i].name);
            comma = ",";
        }
    }
    put(out, *comma == ',' ? "]," : "");
}

/* A nested map: its keys have no maps of their own. */
static void
put_inner(struct mrs_buf *out, const struct mrs_key *k, const struct mrs_inner *in)
{
    MRS_ASSERT(in->keys || in->n_keys == 0);
    bool any = k->type == MRS_ARG_ANY; /* other types are allowed: a text instead of the map, a map instead of the
                                        * list */
    put(out, any ? "{\"anyOf\":[" : "");
    put(out, in->each ? "{\"type\":\"array\",\"items\":" : "");
    put(out, "{\"type\":\"object\",\"additionalProperties\":false,");
    put_needed(out, in->keys, in->n_keys);
    put(out, "\"properties\":{");
    for (uint32_t i = 0; i < in->n_keys; i++) {
        mrs_buf_printf(out, "%s\"%s\":{\"description\":", i ? "," : "", in->keys[i].name);
        put_text(out, in->keys[i].help);
        put(out, ",\"allOf\":[");
        put_shape(out, &in->keys[i]);
        put(out, "]}");
    }
    put(out, "}}");
    put(out, in->each ? "}" : "");
    if (any) {
        mrs_buf_printf(out, ",{\"not\":{\"type\":\"%s\"}}]}", in->each ? "array" : "object");
    }
}

static void
put_key(struct mrs_buf *out, const struct mrs_step_type *t, const struct mrs_key *k)
{
    const struct mrs_inner *in = inner_of(t, k->name);
    mrs_buf_printf(out, "\n\"%s\":{\"description\":", k->name);
    put_text(out, k->help);
    if (k->choices && k->type != MRS_ARG_ANY && !k->needed) {
        mrs_buf_printf(out, ",\"default\":\"%.*s\"", (int)strcspn(k->choices, "|"), k->choices);
    }
    put(out, ",\"allOf\":[");
    if (in) {
        put_inner(out, k, in);
    } else {
        put_shape(out, k);
    }
    put(out, "]}");
}

static void
put_step(struct mrs_buf *out, const struct mrs_step_type *t)
{
    MRS_ASSERT(t->name);
    mrs_buf_printf(out, "\"%s\":{\"description\":", t->name);
    put_text(out, t->summary);
    put(out, ",\"type\":\"object\",\"additionalProperties\":false,");
    put_needed(out, t->keys, t->n_keys);
    put(out, "\"properties\":{");
    for (uint32_t i = 0; i < t->n_keys; i++) {
        put(out, i ? "," : "");
        put_key(out, t, &t->keys[i]);
    }
    put(out, "}}");
}

/* What a plan of version 1 must not have: a condition for each later step and key. */
static void
put_later(struct mrs_buf *out)
{
    const struct mrs_step_type *t;
    put(out, ",\n\"if\":{\"required\":[\"version\"],\"properties\":{\"version\":{\"const\":1}}},"
             "\"then\":{\"properties\":{\"steps\":{\"items\":{\"not\":{\"anyOf\":[false");
    for (uint32_t i = 0; (t = mrs_step_type_at(i)); i++) {
        if (!mrsi_step_known(t, 1)) {
            mrs_buf_printf(out, ",{\"required\":[\"%s\"]}", t->name);
        }
        for (uint32_t k = 0; k < t->n_keys; k++) {
            if (!mrsi_key_known(t, t->keys[k].name, 1)) {
                mrs_buf_printf(out, ",{\"required\":[\"%s\"],\"properties\":{\"%s\":{\"required\":[\"%s\"]}}}",
                               t->name, t->name, t->keys[k].name);
            }
        }
    }
    put(out, "]}}}}}");
}

void
mrs_plan_schema(struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrs_step_type *t;
    uint32_t n;
    const struct mrs_key *top = mrs_plan_keys(&n);
    put(out, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"plan of mongoreshape\","
                        "\"type\":\"object\",\"additionalProperties\":false,");
    put_needed(out, top, n);
    put(out, "\"properties\":{");
    for (uint32_t i = 0; i + 1 < n; i++) {
        put_key(out, NULL, &top[i]);
        mrs_buf_byte(out, ',');
    }
    put(out, "\n\"steps\":{\"description\":");
    put_text(out, top[n - 1].help);
    put(out, ",\"type\":\"array\",\"items\":{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":1,"
                        "\"additionalProperties\":false,\"properties\":{");
    for (uint32_t i = 0; (t = mrs_step_type_at(i)); i++) {
        put(out, i ? ",\n" : "\n");
        put_step(out, t);
    }
    put(out, "}}}}");
    put_later(out);
    mrs_buf_printf(out, ",\n\"definitions\":{%s}}\n", definitions);
}
