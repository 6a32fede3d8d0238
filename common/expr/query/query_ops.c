/* SPDX-License-Identifier: Apache-2.0 */
/* query_ops.c - the operators at a field of a filter.
 *
 * One function an operator; $ne and $nin become negations, $all an and, so that there are few kinds of nodes to match
 * with. Errors that the server reports when it reads a filter are reported here, with the operator's name. */
#include "query_build.h"

enum { BIT_MOST = INT32_MAX };

/* An operator in the filter: its name and the argument of its row, its path (NULL: inside a $elemMatch of values), and
 * its document with further operators. */
struct site {
    const char *op;
    int arg;
    const struct mrsi_query_path *path;
    struct mrs_view doc;
};

typedef enum mrs_status (*op_fn)(struct mrsi_query_builder *b, const struct site *at,
                                 struct mrs_val v, struct mrsi_query_node **out, struct mrs_err *e);

static enum mrs_status
negate(struct mrsi_query_builder *b, struct mrsi_query_node **node, struct mrs_err *e)
{
    struct mrsi_query_node *kid = *node;
    MRS_TRY(mrsi_query_tree(b, Q_NOT, 1, node, e));
    (*node)->kid[(*node)->n_kids++] = kid;
    return MRS_OK;
}

/* ---- operators at a path ---- */

static enum mrs_status
op_compare(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
           struct mrsi_query_node **out, struct mrs_err *e)
{
    if (v.type == MRS_UNDEFINED) {
        return REFUSE(e, "%s: nothing can be compared with undefined", at->op);
    }
    if (v.type == MRS_REGEX && at->arg != Q_EQ) {
        return REFUSE(e, "%s: nothing can be compared with a regular expression", at->op);
    }
    *out = mrsi_query_new(b, (enum mrsi_query_kind)at->arg, at->path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    (*out)->v = v;
    return MRS_OK;
}

static enum mrs_status
op_ne(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
      struct mrsi_query_node **out, struct mrs_err *e)
{
    struct site eq = {"$ne", Q_EQ, at->path, at->doc};
    if (v.type == MRS_REGEX) {
        return REFUSE(e, "$ne: nothing can be compared with a regular expression");
    }
    MRS_TRY(op_compare(b, &eq, v, out, e));
    return negate(b, out, e);
}

/* Appends a regular expression to a node. */
static enum mrs_status
add_regex(struct mrsi_query_builder *b, struct mrsi_query_node *n, struct mrsi_text pattern,
          struct mrsi_text options, struct mrs_val v, struct mrs_err *e)
{
    char why[160];
    enum mrs_status s = mrsi_regex_new(b->q->mem, pattern, options, &n->regex[n->n_regex], why, e);
    if (s == MRS_OK) {
        n->regex_val[n->n_regex++] = v;
    }
    return s == MRS_FAIL ? REFUSE(e, "$regex: %s", why) : s;
}

static enum mrs_status
regex_room(struct mrsi_query_builder *b, struct mrsi_query_node *n, uint32_t most,
           struct mrs_err *e)
{
    n->regex = mrsi_query_room(b, most * sizeof *n->regex, e);
    n->regex_val = n->regex ? mrsi_query_room(b, most * sizeof *n->regex_val, e) : NULL;
    if (!n->regex_val) {
        return MRS_DEAD;
    }
    mrsi_query_own(b, n);
    return MRS_OK;
}

static int
cmp_values(const void *arg, uint32_t x, uint32_t y)
{
    const struct mrs_val *v = arg;
    return mrs_compare(v[x], v[y]);
}

static enum mrs_status
sort_list(struct mrsi_query_builder *b, struct mrsi_query_node *n, struct mrs_err *e)
{
    uint32_t *at = mrsi_query_room(b, 2 * (size_t)n->n_list * sizeof *at, e);
    struct mrs_val *sorted = at ? mrsi_query_room(b, n->n_list * sizeof *sorted, e) : NULL;
    if (!sorted) {
        return MRS_DEAD;
    }
    for (uint32_t i = 0; i < n->n_list; i++) {
        at[i] = i;
    }
    (void)mrsi_sort_stable(NULL, at, at + n->n_list, n->n_list, cmp_values, n->list);
    for (uint32_t i = 0; i < n->n_list; i++) {
        sorted[i] = n->list[at[i]];
    }
    n->list = sorted;
    return MRS_OK;
}

/* $in and $nin with the values of another collection. */
static enum mrs_status
op_far(struct mrsi_query_builder *b, const struct site *at, struct mrs_view spec, struct mrsi_query_node **out,
       struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    uint32_t list;
    const struct mrs_far *far = b->env->far;
    *out = mrsi_query_new(b, Q_FAR, at->path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    MRS_TRY(far->read(far->arg, spec, at->path ? at->path->text : b->prefix, at->arg, &list, e));
    (*out)->number[0] = list;
    return at->arg ? negate(b, out, e) : MRS_OK;
}

static enum mrs_status
op_in(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
      struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (v.type == MRS_DOCUMENT && b->env->far) {
        return op_far(b, at, mrs_val_view(v), out, e);
    }
    if (v.type != MRS_ARRAY) {
        return REFUSE(e, "%s needs an array%s", at->op,
                      b->env->far ? ", or { from: COLLECTION, field: PATH } for the values of another collection" : "");
    }
    uint32_t most = mrs_val_count(v);
    struct mrsi_query_node *n = *out = mrsi_query_new(b, Q_IN, at->path, e);
    if (!n) {
        return MRS_DEAD;
    }
    n->list = mrsi_query_room(b, most * sizeof *n->list, e);
    if (!n->list) {
        return MRS_DEAD;
    }
    MRS_TRY(regex_room(b, n, most, e));
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) > 0) {
        if (mrsi_query_is_ops(el.v)) {
            return REFUSE(e, "%s cannot hold operators", at->op);
        }
        if (el.v.type == MRS_UNDEFINED) {
            return REFUSE(e, "%s: nothing can be compared with undefined", at->op);
        }
        if (el.v.type == MRS_REGEX) {
            struct mrsi_text pattern, options;
            mrsi_regex_parts(el.v, &pattern, &options);
            MRS_TRY(add_regex(b, n, pattern, options, el.v, e));
        } else {
            n->list[n->n_list++] = el.v;
        }
    }
    MRS_TRY(sort_list(b, n, e));
    return at->arg ? negate(b, out, e) : MRS_OK;
}

static enum mrs_status
op_exists(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
          struct mrsi_query_node **out, struct mrs_err *e)
{
    *out = mrsi_query_new(b, Q_EXISTS, at->path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    return mrsi_truthy(v) ? MRS_OK : negate(b, out, e);
}

uint32_t
mrs_type_bits(struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    int64_t number;
    if (v.type == MRS_STRING) {
        struct mrsi_text name = mrsi_text_of(v);
        if (mrsi_text_is(name.p, name.n, "number")) {
            return 1u << MRS_DOUBLE | 1u << MRS_INT32 | 1u << MRS_INT64 | 1u << MRS_DECIMAL128;
        }
        for (uint32_t type = MRS_DOUBLE; type <= MRS_DECIMAL128; type++) {
            if (mrsi_text_is(name.p, name.n, mrs_type_name((uint8_t)type))) {
                return 1u << type;
            }
        }
        return mrsi_text_is(name.p, name.n, "minKey") ? 1u << 31
             : mrsi_text_is(name.p, name.n, "maxKey") ? 1u << 30
                                                      : 0;
    }
    if (!mrs_val_integral(v, &number)) {
        return 0;
    }
    return number == -1 || number == 255                    ? 1u << 31
         : number == 127                                    ? 1u << 30
         : number >= MRS_DOUBLE && number <= MRS_DECIMAL128 ? 1u << number
                                                            : 0;
}

static enum mrs_status
op_type(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
        struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrsi_query_node *n = *out = mrsi_query_new(b, Q_TYPE, at->path, e);
    if (!n) {
        return MRS_DEAD;
    }
    bool ok = true;
    if (v.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(v));
        while (ok && mrs_walk_next(&w, &el) > 0) {
            uint32_t bits = mrs_type_bits(el.v);
            ok = bits != 0;
            n->types |= bits;
        }
    } else {
        n->types = mrs_type_bits(v);
    }
    return ok && n->types
             ? MRS_OK
             : REFUSE(e, "%s needs the name or number of a type, or a list of them", at->op);
}

static enum mrs_status
op_size(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
        struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrsi_query_node *n = *out = mrsi_query_new(b, Q_SIZE, at->path, e);
    if (!n) {
        return MRS_DEAD;
    }
    if (!mrs_val_integral(v, &n->number[0]) || n->number[0] < 0 || n->number[0] > INT32_MAX) {
        return REFUSE(e, "%s needs a whole number that is not negative", at->op);
    }
    return MRS_OK;
}

static enum mrs_status
op_mod(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
       struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t i = 0;
    struct mrsi_query_node *n = *out = mrsi_query_new(b, Q_MOD, at->path, e);
    if (!n) {
        return MRS_DEAD;
    }
    bool ok = v.type == MRS_ARRAY;
    if (ok) {
        mrs_walk_init(&w, mrs_val_view(v));
        for (; ok && mrs_walk_next(&w, &el) > 0; i++) {
            ok = i < 2 && mrsi_query_cut(el.v, &n->number[i]);
        }
    }
    if (!ok || i != 2 || !n->number[0]) {
        return REFUSE(e, "%s needs [divisor, remainder], two numbers, the divisor not 0", at->op);
    }
    return MRS_OK;
}

/* $regex, with the $options next to it. */
static enum mrs_status
op_regex(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
         struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrsi_text pattern, options = {"", 0};
    struct mrs_elem options_elem;
    bool beside = mrs_doc_find(at->doc, "$options", 8, &options_elem);
    if (v.type == MRS_REGEX) {
        mrsi_regex_parts(v, &pattern, &options);
    } else if (v.type == MRS_STRING) {
        pattern = mrsi_text_of(v);
    } else {
        return REFUSE(e, "%s must be a string or a regular expression", at->op);
    }
    if (beside && options_elem.v.type != MRS_STRING) {
        return REFUSE(e, "$options must be a string");
    }
    if (beside && options.n) {
        return REFUSE(e, "%s: options are both in the regular expression and in $options",
                      at->op);
    }
    if (beside) {
        options = mrsi_text_of(options_elem.v);
    }
    *out = mrsi_query_new(b, Q_REGEX, at->path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    MRS_TRY(regex_room(b, *out, 1, e));
    if (memchr(options.p, 0, options.n) || memchr(pattern.p, 0, pattern.n)) {
        return REFUSE(e, "%s holds a NUL byte", at->op);
    }
    uint8_t *bytes = mrsi_query_room(b, (size_t)pattern.n + options.n + 2, e);
    if (!bytes) {
        return MRS_DEAD;
    }
    memcpy(bytes, pattern.p, pattern.n);
    memcpy(bytes + pattern.n + 1, options.p, options.n);
    struct mrs_val as_value = {bytes, pattern.n + options.n + 2, MRS_REGEX};
    return add_regex(b, *out, pattern, options, as_value, e);
}

/* $regex reads $options. */
static enum mrs_status
op_options(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
           struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_elem el;
    (void)b;
    (void)at;
    (void)v;
    *out = NULL;
    return mrs_doc_find(at->doc, "$regex", 6, &el) ? MRS_OK
                                                   : REFUSE(e, "%s needs $regex", at->op);
}

static enum mrs_status
op_not(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
       struct mrsi_query_node **out, struct mrs_err *e)
{
    struct site regex = {"$not", 0, at->path, mrs_empty_doc()};
    if (v.type == MRS_REGEX) {
        MRS_TRY(op_regex(b, &regex, v, out, e));
        return negate(b, out, e);
    }
    if (!mrsi_query_is_ops(v)) {
        return REFUSE(e, "%s needs a document of operators or a regular expression; of a value: $ne", at->op);
    }
    MRS_TRY(mrsi_query_ops(b, at->path, mrs_val_view(v), out, e));
    return negate(b, out, e);
}

/* ---- bits ---- */

static enum mrs_status
bits_of_bytes(struct mrsi_query_builder *b, struct mrsi_query_node *n, const uint8_t *p,
              uint32_t size, struct mrs_err *e)
{
    MRS_ASSERT(p || size == 0);
    n->bit = mrsi_query_room(b, (size_t)size * 8 * sizeof *n->bit, e);
    if (!n->bit) {
        return MRS_DEAD;
    }
    for (uint32_t i = 0; i < size * 8; i++) {
        if (p[i / 8] >> i % 8 & 1) {
            n->bit[n->n_bits++] = i;
        }
    }
    return MRS_OK;
}

static enum mrs_status
bits_of_list(struct mrsi_query_builder *b, struct mrsi_query_node *n, struct mrs_val v,
             struct mrs_err *e)
{
    MRS_ASSERT(v.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem el;
    n->bit = mrsi_query_room(b, mrs_val_count(v) * sizeof *n->bit, e);
    if (!n->bit) {
        return MRS_DEAD;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) > 0) {
        int64_t at;
        if (!mrs_val_integral(el.v, &at) || at < 0 || at > BIT_MOST) {
            return REFUSE(
                e, "a position of a bit must be a whole number of 32 bits that is not negative");
        }
        n->bit[n->n_bits++] = (uint32_t)at;
    }
    return MRS_OK;
}

static enum mrs_status
op_bits(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
        struct mrsi_query_node **out, struct mrs_err *e)
{
    int64_t mask;
    uint8_t bytes[8];
    struct mrsi_query_node *n = *out = mrsi_query_new(b, Q_BITS, at->path, e);
    if (!n) {
        return MRS_DEAD;
    }
    n->how = (enum mrsi_query_bits)at->arg;
    if (v.type == MRS_ARRAY) {
        return bits_of_list(b, n, v, e);
    }
    if (v.type == MRS_BINARY) {
        return bits_of_bytes(b, n, v.p + 5, v.n - 5, e);
    }
    if (!mrs_val_integral(v, &mask) || mask < 0) {
        return REFUSE(e,
                      "%s needs a whole number of 64 bits that is not negative, a list of "
                      "positions, or binary data",
                      at->op);
    }
    mrs_put64(bytes, (uint64_t)mask);
    return bits_of_bytes(b, n, bytes, 8, e);
}

/* ---- $elemMatch and $all ---- */

static enum mrs_status
op_elem(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
        struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_elem el;
    if (v.type != MRS_DOCUMENT) {
        return REFUSE(e, "%s needs a document", at->op);
    }
    bool tree =
        mrsi_query_first(v, &el) && (mrs_name_is(&el, "$and", 4) || mrs_name_is(&el, "$or", 3) ||
                                     mrs_name_is(&el, "$nor", 4) || mrs_name_is(&el, "$expr", 5));
    bool value = mrsi_query_is_ops(v) && !tree;
    struct mrsi_query_node *n = *out =
        mrsi_query_new(b, value ? Q_ELEM_VALUE : Q_ELEM_OBJECT, at->path, e);
    if (!n) {
        return MRS_DEAD;
    }
    n->kid = mrsi_query_room(b, sizeof(struct mrsi_query_node *), e);
    if (!n->kid) {
        return MRS_DEAD;
    }
    struct mrsi_query_builder inner = *b;
    inner.in_elem = true;
    inner.depth++;
    inner.prefix = at->path ? at->path->text : b->prefix;
    if (inner.depth > MRSI_QUERY_DEPTH_MAX) {
        return REFUSE(e, "the filter is nested too deeply");
    }
    enum mrs_status s = value ? mrsi_query_ops(&inner, NULL, mrs_val_view(v), &n->kid[0], e)
                              : mrsi_query_filter(&inner, mrs_val_view(v), &n->kid[0], e);
    n->n_kids = s == MRS_OK;
    return s;
}

/* One entry of $all; elems: the first one was a $elemMatch, so all must be. */
static enum mrs_status
all_item(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v, bool elems,
         struct mrsi_query_node **out, struct mrs_err *e)
{
    MRS_ASSERT(v.type != MRS_MISSING);
    struct site here = {"$all", Q_EQ, at->path, mrs_empty_doc()};
    struct mrs_elem el;
    bool is_elem = mrsi_query_first(v, &el) && mrs_name_is(&el, "$elemMatch", 10);
    if (is_elem != elems || (!is_elem && mrsi_query_is_ops(v)) ||
        (is_elem && mrs_val_count(v) != 1)) {
        return REFUSE(e, "%s holds either values or $elemMatch, and no other operators", at->op);
    }
    if (is_elem) {
        here.op = "$elemMatch";
        return op_elem(b, &here, el.v, out, e);
    }
    return v.type == MRS_REGEX ? op_regex(b, &here, v, out, e) : op_compare(b, &here, v, out, e);
}

static enum mrs_status
op_all(struct mrsi_query_builder *b, const struct site *at, struct mrs_val v,
       struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el, first;
    if (v.type != MRS_ARRAY) {
        return REFUSE(e, "%s needs an array", at->op);
    }
    uint32_t n = mrs_val_count(v);
    MRS_TRY(mrsi_query_tree(b, n ? Q_AND : Q_NEVER, n, out, e));
    mrs_walk_init(&w, mrs_val_view(v));
    bool elems = false;
    for (uint32_t i = 0; i < n && mrs_walk_next(&w, &el) > 0; i++) {
        if (i == 0) {
            elems = mrsi_query_first(el.v, &first) && mrs_name_is(&first, "$elemMatch", 10);
        }
        MRS_TRY(all_item(b, at, el.v, elems, &(*out)->kid[i], e));
        (*out)->n_kids++;
    }
    return MRS_OK;
}

static const struct {
    const char *name;
    op_fn fn;
    int arg;
} OPS[] = {
    {"$eq", op_compare, Q_EQ},
    {"$ne", op_ne, 0},
    {"$gt", op_compare, Q_GT},
    {"$gte", op_compare, Q_GTE},
    {"$lt", op_compare, Q_LT},
    {"$lte", op_compare, Q_LTE},
    {"$in", op_in, 0},
    {"$nin", op_in, 1},
    {"$exists", op_exists, 0},
    {"$type", op_type, 0},
    {"$size", op_size, 0},
    {"$mod", op_mod, 0},
    {"$regex", op_regex, 0},
    {"$options", op_options, 0},
    {"$not", op_not, 0},
    {"$all", op_all, 0},
    {"$elemMatch", op_elem, 0},
    {"$bitsAllSet", op_bits, BITS_ALL_SET},
    {"$bitsAllClear", op_bits, BITS_ALL_CLEAR},
    {"$bitsAnySet", op_bits, BITS_ANY_SET},
    {"$bitsAnyClear", op_bits, BITS_ANY_CLEAR},
};

#define N_OPS (sizeof OPS / sizeof *OPS)

enum mrs_status
mrsi_query_equals(struct mrsi_query_builder *b, const struct mrsi_query_path *path,
                  struct mrs_val v, struct mrsi_query_node **out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct site here = {v.type == MRS_REGEX ? "$regex" : "$eq", Q_EQ, path, mrs_empty_doc()};
    return v.type == MRS_REGEX ? op_regex(b, &here, v, out, e) : op_compare(b, &here, v, out, e);
}

enum mrs_status
mrsi_query_ops(struct mrsi_query_builder *b, const struct mrsi_query_path *path,
               struct mrs_view ops, struct mrsi_query_node **out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(ops));
    struct mrs_walk w;
    struct mrs_elem el;
    if (b->depth >= MRSI_QUERY_DEPTH_MAX) {
        return REFUSE(e, "the filter is nested too deeply");
    }
    MRS_TRY(mrsi_query_tree(b, Q_AND, mrs_doc_count(ops), out, e));
    b->depth++;
    mrs_walk_init(&w, ops);
    while (mrs_walk_next(&w, &el) > 0) {
        size_t i = 0;
        while (i < N_OPS && !mrsi_text_is(el.name, el.name_len, OPS[i].name)) {
            i++;
        }
        if (i == N_OPS) {
            return mrsi_query_unknown(&el, false, e);
        }
        struct site at = {OPS[i].name, OPS[i].arg, path, ops};
        struct mrsi_query_node *kid;
        MRS_TRY(OPS[i].fn(b, &at, el.v, &kid, e));
        if (kid) {
            (*out)->kid[(*out)->n_kids++] = kid;
        }
    }
    b->depth--;
    return MRS_OK;
}
