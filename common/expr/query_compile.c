/* query_compile.c - from the BSON of a filter to a tree of predicates.
 *
 * The tree has few kinds of nodes: $ne is not-$eq, $nin not-$in, $all an and, so that matching stays small. What the server refuses when it reads
 * a filter is refused here, with the operator's name. Recursion follows the filter and is bounded. */
#include "query.h"

enum { QUERY_DEPTH_MAX = MRS_PLAN_DEPTH_MAX, QUERY_PARTS_MAX = 200, BIT_MOST = INT32_MAX };

struct builder {
    const struct mrs_expr_env *env;
    struct mrs_query *q;
    const char *prefix; /* path of the $elemMatch around, for reads; "" */
    int depth;
    bool in_elem;
};

struct op_name;
/* Compiles one operator at a path (NULL: inside a value $elemMatch) into *out; doc: the document it stands in. */
typedef enum mrs_status (*op_fn)(struct builder *b, const struct op_name *op, const struct mrsi_query_path *path, struct mrs_view doc,
                                 struct mrs_val v, struct mrsi_query_node **out, struct mrs_err *e);
struct op_name {
    const char *name;
    op_fn fn;
    int arg;
};

static enum mrs_status build_filter(struct builder *b, struct mrs_view filter, struct mrsi_query_node **out, struct mrs_err *e);
static enum mrs_status build_ops(struct builder *b, const struct mrsi_query_path *path, struct mrs_view ops, struct mrsi_query_node **out,
                                 struct mrs_err *e);

#define REFUSE(e, ...) mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, __VA_ARGS__)

static void *
room(struct builder *b, size_t n, struct mrs_err *e)
{
    void *p = mrs_arena_alloc(&b->q->arena, n ? n : 1);
    if (!p) {
        mrs_err_memory(e, n);
        return NULL;
    }
    memset(p, 0, n);
    return p;
}

static struct mrsi_query_node *
new_node(struct builder *b, enum mrsi_query_kind kind, const struct mrsi_query_path *path, struct mrs_err *e)
{
    struct mrsi_query_node *n = room(b, sizeof *n, e);
    if (n) {
        n->kind = kind;
        n->path = path;
    }
    return n;
}

/* A node of this kind over n kids. */
static enum mrs_status
new_tree(struct builder *b, enum mrsi_query_kind kind, uint32_t n, struct mrsi_query_node **out, struct mrs_err *e)
{
    *out = new_node(b, kind, NULL, e);
    if (!*out) {
        return MRS_DEAD;
    }
    (*out)->kid = room(b, n * sizeof(struct mrsi_query_node *), e);
    return (*out)->kid ? MRS_OK : MRS_DEAD;
}

static enum mrs_status
negate(struct builder *b, struct mrsi_query_node **node, struct mrs_err *e)
{
    struct mrsi_query_node *kid = *node;
    MRSI_TRY(new_tree(b, Q_NOT, 1, node, e));
    (*node)->kid[(*node)->n_kids++] = kid;
    return MRS_OK;
}

static void
own(struct builder *b, struct mrsi_query_node *n)
{
    n->next_owned = b->q->owned;
    b->q->owned = n;
}

static uint32_t
count(struct mrs_view d)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &el) > 0) {
        n++;
    }
    return n;
}

static bool
first_elem(struct mrs_val v, struct mrs_elem *el)
{
    struct mrs_walk w;
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    return mrs_walk_next(&w, el) > 0;
}

/* A document of operators: its first name has a dollar, and it is no DBRef. */
static bool
is_ops(struct mrs_val v)
{
    struct mrs_elem el, id;
    if (!first_elem(v, &el) || el.name[0] != '$') {
        return false;
    }
    return !(mrs_doc_find(mrs_val_view(v), "$ref", 4, &el) && mrs_doc_find(mrs_val_view(v), "$id", 3, &id));
}

/* ---- paths ---- */

static int64_t
index_of(const char *p, uint32_t n)
{
    int64_t v = 0;
    if (!n || n > 9 || (n > 1 && p[0] == '0')) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return -1;
        }
        v = v * 10 + p[i] - '0';
    }
    return v;
}

static enum mrs_status
new_path(struct builder *b, const char *text, uint32_t n, const struct mrsi_query_path **out, struct mrs_err *e)
{
    size_t before = strlen(b->prefix);
    struct mrsi_query_path *path = room(b, sizeof *path, e);
    char *whole = path ? room(b, before + n + 2, e) : NULL;
    if (!whole) {
        return MRS_DEAD;
    }
    memcpy(whole, b->prefix, before);
    whole[before] = '.';
    char *own_text = whole + before + (before > 0);
    memcpy(own_text, text, n);
    own_text[n] = 0;
    path->text = whole;
    path->n = 1;
    for (uint32_t i = 0; i < n; i++) {
        path->n += text[i] == '.';
    }
    if (path->n > QUERY_PARTS_MAX) {
        return REFUSE(e, "the path '%.100s' has more than %d parts", own_text, QUERY_PARTS_MAX);
    }
    path->part = room(b, path->n * sizeof *path->part, e);
    if (!path->part) {
        return MRS_DEAD;
    }
    const char *at = own_text;
    for (uint32_t i = 0; i < path->n; i++) {
        const char *dot = strchr(at, '.');
        uint32_t len = dot ? (uint32_t)(dot - at) : (uint32_t)strlen(at);
        path->part[i] = (struct mrsi_query_part){at, len, index_of(at, len)};
        at += len + 1;
    }
    *out = path;
    return MRS_OK;
}

/* ---- operators at a path ---- */

#define OP_ARGS                                                                                                                            \
    struct builder *b, const struct op_name *op, const struct mrsi_query_path *path, struct mrs_view doc, struct mrs_val v,                \
        struct mrsi_query_node **out, struct mrs_err *e

static enum mrs_status
op_compare(OP_ARGS)
{
    (void)doc;
    if (v.type == MRS_UNDEFINED) {
        return REFUSE(e, "%s: nothing can be compared with undefined", op->name);
    }
    if (v.type == MRS_REGEX && op->arg != Q_EQ) {
        return REFUSE(e, "%s: nothing can be compared with a regular expression", op->name);
    }
    *out = new_node(b, (enum mrsi_query_kind)op->arg, path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    (*out)->v = v;
    return MRS_OK;
}

static enum mrs_status
op_ne(OP_ARGS)
{
    static const struct op_name eq = {"$ne", op_compare, Q_EQ};
    (void)op;
    if (v.type == MRS_REGEX) {
        return REFUSE(e, "$ne: nothing can be compared with a regular expression");
    }
    MRSI_TRY(op_compare(b, &eq, path, doc, v, out, e));
    return negate(b, out, e);
}

/* Appends a regular expression to a node. */
static enum mrs_status
add_regex(struct builder *b, struct mrsi_query_node *n, struct mrsi_text pattern, struct mrsi_text options, struct mrs_val v,
          struct mrs_err *e)
{
    char why[160];
    enum mrs_status s = mrsi_regex_new(b->q->mem, pattern, options, &n->regex[n->n_regex], why, e);
    if (s == MRS_OK) {
        n->regex_val[n->n_regex++] = v;
    }
    return s == MRS_FAIL ? REFUSE(e, "$regex: %s", why) : s;
}

static enum mrs_status
regex_room(struct builder *b, struct mrsi_query_node *n, uint32_t most, struct mrs_err *e)
{
    n->regex = room(b, most * sizeof *n->regex, e);
    n->regex_val = n->regex ? room(b, most * sizeof *n->regex_val, e) : NULL;
    if (!n->regex_val) {
        return MRS_DEAD;
    }
    own(b, n);
    return MRS_OK;
}

static int
cmp_values(const void *arg, uint32_t x, uint32_t y)
{
    const struct mrs_val *v = arg;
    return mrs_compare(v[x], v[y]);
}

static enum mrs_status
sort_list(struct builder *b, struct mrsi_query_node *n, struct mrs_err *e)
{
    uint32_t *at = room(b, 2 * (size_t)n->n_list * sizeof *at, e);
    struct mrs_val *sorted = at ? room(b, n->n_list * sizeof *sorted, e) : NULL;
    if (!sorted) {
        return MRS_DEAD;
    }
    for (uint32_t i = 0; i < n->n_list; i++) {
        at[i] = i;
    }
    mrsi_sort_stable(at, at + n->n_list, n->n_list, cmp_values, n->list);
    for (uint32_t i = 0; i < n->n_list; i++) {
        sorted[i] = n->list[at[i]];
    }
    n->list = sorted;
    return MRS_OK;
}

static enum mrs_status
op_in(OP_ARGS)
{
    struct mrs_walk w;
    struct mrs_elem el;
    (void)doc;
    if (v.type != MRS_ARRAY) {
        return REFUSE(e, "%s needs an array", op->name);
    }
    uint32_t most = count(mrs_val_view(v));
    struct mrsi_query_node *n = *out = new_node(b, Q_IN, path, e);
    if (!n) {
        return MRS_DEAD;
    }
    n->list = room(b, most * sizeof *n->list, e);
    if (!n->list) {
        return MRS_DEAD;
    }
    MRSI_TRY(regex_room(b, n, most, e));
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) > 0) {
        if (is_ops(el.v)) {
            return REFUSE(e, "%s cannot hold operators", op->name);
        }
        if (el.v.type == MRS_UNDEFINED) {
            return REFUSE(e, "%s: nothing can be compared with undefined", op->name);
        }
        if (el.v.type == MRS_REGEX) {
            struct mrsi_text pattern, options;
            mrsi_regex_parts(el.v, &pattern, &options);
            MRSI_TRY(add_regex(b, n, pattern, options, el.v, e));
        } else {
            n->list[n->n_list++] = el.v;
        }
    }
    MRSI_TRY(sort_list(b, n, e));
    return op->arg ? negate(b, out, e) : MRS_OK;
}

static enum mrs_status
op_exists(OP_ARGS)
{
    (void)doc;
    (void)op;
    *out = new_node(b, Q_EXISTS, path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    return mrsi_truthy(v) ? MRS_OK : negate(b, out, e);
}

/* The bits of a type's name or number; 0: it is none. */
static uint32_t
type_bits(struct mrs_val v)
{
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
        return mrsi_text_is(name.p, name.n, "minKey") ? 1u << 31 : mrsi_text_is(name.p, name.n, "maxKey") ? 1u << 30 : 0;
    }
    if (!mrs_val_integral(v, &number)) {
        return 0;
    }
    return number == -1 || number == 255 ? 1u << 31
           : number == 127               ? 1u << 30
           : number >= MRS_DOUBLE && number <= MRS_DECIMAL128 ? 1u << number
                                                              : 0;
}

static enum mrs_status
op_type(OP_ARGS)
{
    struct mrs_walk w;
    struct mrs_elem el;
    (void)doc;
    struct mrsi_query_node *n = *out = new_node(b, Q_TYPE, path, e);
    if (!n) {
        return MRS_DEAD;
    }
    bool ok = true;
    if (v.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(v));
        while (ok && mrs_walk_next(&w, &el) > 0) {
            uint32_t bits = type_bits(el.v);
            ok = bits != 0;
            n->types |= bits;
        }
    } else {
        n->types = type_bits(v);
    }
    return ok && n->types ? MRS_OK : REFUSE(e, "%s needs the name or number of a type, or a list of them", op->name);
}

static enum mrs_status
op_size(OP_ARGS)
{
    (void)doc;
    struct mrsi_query_node *n = *out = new_node(b, Q_SIZE, path, e);
    if (!n) {
        return MRS_DEAD;
    }
    if (!mrs_val_integral(v, &n->number[0]) || n->number[0] < 0 || n->number[0] > INT32_MAX) {
        return REFUSE(e, "%s needs a whole number that is not negative", op->name);
    }
    return MRS_OK;
}

static enum mrs_status
op_mod(OP_ARGS)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t i = 0;
    (void)doc;
    struct mrsi_query_node *n = *out = new_node(b, Q_MOD, path, e);
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
        return REFUSE(e, "%s needs [divisor, remainder], two numbers, the divisor not 0", op->name);
    }
    return MRS_OK;
}

/* $regex, with the $options that stand beside it. */
static enum mrs_status
op_regex(OP_ARGS)
{
    struct mrsi_text pattern, options = {"", 0};
    struct mrs_elem given;
    bool beside = mrs_doc_find(doc, "$options", 8, &given);
    if (v.type == MRS_REGEX) {
        mrsi_regex_parts(v, &pattern, &options);
    } else if (v.type == MRS_STRING) {
        pattern = mrsi_text_of(v);
    } else {
        return REFUSE(e, "%s must be a string or a regular expression", op->name);
    }
    if (beside && given.v.type != MRS_STRING) {
        return REFUSE(e, "$options must be a string");
    }
    if (beside && options.n) {
        return REFUSE(e, "%s: options stand both in the regular expression and in $options", op->name);
    }
    if (beside) {
        options = mrsi_text_of(given.v);
    }
    *out = new_node(b, Q_REGEX, path, e);
    if (!*out) {
        return MRS_DEAD;
    }
    MRSI_TRY(regex_room(b, *out, 1, e));
    if (memchr(options.p, 0, options.n) || memchr(pattern.p, 0, pattern.n)) {
        return REFUSE(e, "%s holds a NUL byte", op->name);
    }
    uint8_t *bytes = room(b, (size_t)pattern.n + options.n + 2, e);
    if (!bytes) {
        return MRS_DEAD;
    }
    memcpy(bytes, pattern.p, pattern.n);
    memcpy(bytes + pattern.n + 1, options.p, options.n);
    struct mrs_val as_value = {bytes, pattern.n + options.n + 2, MRS_REGEX};
    return add_regex(b, *out, pattern, options, as_value, e);
}

/* $options is read by $regex. */
static enum mrs_status
op_options(OP_ARGS)
{
    struct mrs_elem el;
    (void)b;
    (void)path;
    (void)v;
    *out = NULL;
    return mrs_doc_find(doc, "$regex", 6, &el) ? MRS_OK : REFUSE(e, "%s stands without $regex", op->name);
}

static enum mrs_status
op_not(OP_ARGS)
{
    static const struct op_name regex = {"$not", op_regex, 0};
    if (v.type == MRS_REGEX) {
        MRSI_TRY(op_regex(b, &regex, path, mrs_empty_doc(), v, out, e));
        return negate(b, out, e);
    }
    (void)doc;
    if (!is_ops(v)) {
        return REFUSE(e, "%s needs a document of operators or a regular expression", op->name);
    }
    MRSI_TRY(build_ops(b, path, mrs_val_view(v), out, e));
    return negate(b, out, e);
}

/* ---- bits ---- */

static enum mrs_status
bits_of_bytes(struct builder *b, struct mrsi_query_node *n, const uint8_t *p, uint32_t size, struct mrs_err *e)
{
    n->bit = room(b, (size_t)size * 8 * sizeof *n->bit, e);
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
bits_of_list(struct builder *b, struct mrsi_query_node *n, struct mrs_val v, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    n->bit = room(b, count(mrs_val_view(v)) * sizeof *n->bit, e);
    if (!n->bit) {
        return MRS_DEAD;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &el) > 0) {
        int64_t at;
        if (!mrs_val_integral(el.v, &at) || at < 0 || at > BIT_MOST) {
            return REFUSE(e, "a position of a bit must be a whole number of 32 bits that is not negative");
        }
        n->bit[n->n_bits++] = (uint32_t)at;
    }
    return MRS_OK;
}

static enum mrs_status
op_bits(OP_ARGS)
{
    int64_t mask;
    uint8_t bytes[8];
    (void)doc;
    struct mrsi_query_node *n = *out = new_node(b, Q_BITS, path, e);
    if (!n) {
        return MRS_DEAD;
    }
    n->how = (enum mrsi_query_bits)op->arg;
    if (v.type == MRS_ARRAY) {
        return bits_of_list(b, n, v, e);
    }
    if (v.type == MRS_BINARY) {
        return bits_of_bytes(b, n, v.p + 5, v.n - 5, e);
    }
    if (!mrs_val_integral(v, &mask) || mask < 0) {
        return REFUSE(e, "%s needs a whole number of 64 bits that is not negative, a list of positions, or binary data", op->name);
    }
    mrs_put64(bytes, (uint64_t)mask);
    return bits_of_bytes(b, n, bytes, 8, e);
}

/* ---- $elemMatch and $all ---- */

static enum mrs_status
op_elem(OP_ARGS)
{
    struct mrs_elem el;
    (void)doc;
    if (v.type != MRS_DOCUMENT) {
        return REFUSE(e, "%s needs a document", op->name);
    }
    bool tree = first_elem(v, &el) &&
                (mrs_name_is(&el, "$and", 4) || mrs_name_is(&el, "$or", 3) || mrs_name_is(&el, "$nor", 4) || mrs_name_is(&el, "$expr", 5));
    bool value = is_ops(v) && !tree;
    struct mrsi_query_node *n = *out = new_node(b, value ? Q_ELEM_VALUE : Q_ELEM_OBJECT, path, e);
    if (!n) {
        return MRS_DEAD;
    }
    n->kid = room(b, sizeof(struct mrsi_query_node *), e);
    if (!n->kid) {
        return MRS_DEAD;
    }
    struct builder inner = *b;
    inner.in_elem = true;
    inner.depth++;
    inner.prefix = path ? path->text : b->prefix;
    if (inner.depth > QUERY_DEPTH_MAX) {
        return REFUSE(e, "the filter is nested too deeply");
    }
    enum mrs_status s = value ? build_ops(&inner, NULL, mrs_val_view(v), &n->kid[0], e)
                              : build_filter(&inner, mrs_val_view(v), &n->kid[0], e);
    n->n_kids = s == MRS_OK;
    return s;
}

static enum mrs_status
all_item(struct builder *b, const struct op_name *op, const struct mrsi_query_path *path, struct mrs_val v, bool elems,
         struct mrsi_query_node **out, struct mrs_err *e)
{
    static const struct op_name eq = {"$all", op_compare, Q_EQ}, elem = {"$elemMatch", op_elem, 0}, regex = {"$all", op_regex, 0};
    struct mrs_elem el;
    bool is_elem = first_elem(v, &el) && mrs_name_is(&el, "$elemMatch", 10);
    if (is_elem != elems || (!is_elem && is_ops(v)) || (is_elem && count(mrs_val_view(v)) != 1)) {
        return REFUSE(e, "%s holds either values or $elemMatch, and no other operators", op->name);
    }
    if (is_elem) {
        return op_elem(b, &elem, path, mrs_empty_doc(), el.v, out, e);
    }
    return v.type == MRS_REGEX ? op_regex(b, &regex, path, mrs_empty_doc(), v, out, e)
                               : op_compare(b, &eq, path, mrs_empty_doc(), v, out, e);
}

static enum mrs_status
op_all(OP_ARGS)
{
    struct mrs_walk w;
    struct mrs_elem el, first;
    (void)doc;
    if (v.type != MRS_ARRAY) {
        return REFUSE(e, "%s needs an array", op->name);
    }
    uint32_t n = count(mrs_val_view(v));
    MRSI_TRY(new_tree(b, n ? Q_AND : Q_NEVER, n, out, e));
    mrs_walk_init(&w, mrs_val_view(v));
    bool elems = false;
    for (uint32_t i = 0; i < n && mrs_walk_next(&w, &el) > 0; i++) {
        if (i == 0) {
            elems = first_elem(el.v, &first) && mrs_name_is(&first, "$elemMatch", 10);
        }
        MRSI_TRY(all_item(b, op, path, el.v, elems, &(*out)->kid[i], e));
        (*out)->n_kids++;
    }
    return MRS_OK;
}

static const struct op_name OPS[] = {
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

const struct mrs_op_row mrsi_query_rows[] = {
    {"$all", "query", ""},
    {"$and", "query", ""},
    {"$bitsAllClear", "query", ""},
    {"$bitsAllSet", "query", ""},
    {"$bitsAnyClear", "query", ""},
    {"$bitsAnySet", "query", ""},
    {"$comment", "query", ""},
    {"$elemMatch", "query", ""},
    {"$eq", "query", ""},
    {"$exists", "query", ""},
    {"$expr", "query", ""},
    {"$gt", "query", ""},
    {"$gte", "query", ""},
    {"$in", "query", ""},
    {"$lt", "query", ""},
    {"$lte", "query", ""},
    {"$mod", "query", ""},
    {"$ne", "query", ""},
    {"$nin", "query", ""},
    {"$nor", "query", ""},
    {"$not", "query", ""},
    {"$options", "query", ""},
    {"$or", "query", ""},
    {"$regex", "query", ""},
    {"$size", "query", ""},
    {"$type", "query", ""},
    {NULL, NULL, NULL},
};

static enum mrs_status
unknown(const struct mrs_elem *el, bool top, struct mrs_err *e)
{
    return REFUSE(e, "there is no query operator %.60s %s", el->name, top ? "here" : "at a field");
}

/* All operators of a document, at one path. */
static enum mrs_status
build_ops(struct builder *b, const struct mrsi_query_path *path, struct mrs_view ops, struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (b->depth >= QUERY_DEPTH_MAX) {
        return REFUSE(e, "the filter is nested too deeply");
    }
    MRSI_TRY(new_tree(b, Q_AND, count(ops), out, e));
    b->depth++;
    mrs_walk_init(&w, ops);
    while (mrs_walk_next(&w, &el) > 0) {
        const struct op_name *op = NULL;
        for (size_t i = 0; i < sizeof OPS / sizeof *OPS && !op; i++) {
            op = mrsi_text_is(el.name, el.name_len, OPS[i].name) ? &OPS[i] : NULL;
        }
        if (!op) {
            return unknown(&el, false, e);
        }
        struct mrsi_query_node *kid;
        MRSI_TRY(op->fn(b, op, path, ops, el.v, &kid, e));
        if (kid) {
            (*out)->kid[(*out)->n_kids++] = kid;
        }
    }
    b->depth--;
    return MRS_OK;
}

/* ---- the filter ---- */

static enum mrs_status
build_list(struct builder *b, enum mrsi_query_kind kind, const struct mrs_elem *el, struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem item;
    uint32_t n = el->v.type == MRS_ARRAY ? count(mrs_val_view(el->v)) : 0;
    if (!n) {
        return REFUSE(e, "%s needs an array of filters that is not empty", el->name);
    }
    MRSI_TRY(new_tree(b, kind, n, out, e));
    mrs_walk_init(&w, mrs_val_view(el->v));
    while (mrs_walk_next(&w, &item) > 0) {
        if (item.v.type != MRS_DOCUMENT) {
            return REFUSE(e, "%s holds something that is no filter", el->name);
        }
        MRSI_TRY(build_filter(b, mrs_val_view(item.v), &(*out)->kid[(*out)->n_kids], e));
        (*out)->n_kids++;
    }
    return MRS_OK;
}

static enum mrs_status
build_expr(struct builder *b, struct mrs_val v, struct mrsi_query_node **out, struct mrs_err *e)
{
    if (b->in_elem) {
        return REFUSE(e, "$expr cannot stand inside $elemMatch");
    }
    *out = new_node(b, Q_EXPR, NULL, e);
    if (!*out) {
        return MRS_DEAD;
    }
    MRSI_TRY(mrs_expr_compile(b->env, v, &(*out)->expr, e));
    own(b, *out);
    return MRS_OK;
}

static enum mrs_status
build_field(struct builder *b, const struct mrs_elem *el, struct mrsi_query_node **out, struct mrs_err *e)
{
    static const struct op_name eq = {"$eq", op_compare, Q_EQ}, regex = {"$regex", op_regex, 0};
    const struct mrsi_query_path *path = NULL;
    MRSI_TRY(new_path(b, el->name, el->name_len, &path, e));
    if (is_ops(el->v)) {
        return build_ops(b, path, mrs_val_view(el->v), out, e);
    }
    return el->v.type == MRS_REGEX ? op_regex(b, &regex, path, mrs_empty_doc(), el->v, out, e)
                                   : op_compare(b, &eq, path, mrs_empty_doc(), el->v, out, e);
}

/* One entry of a filter; *out NULL: it says nothing ($comment). */
static enum mrs_status
build_entry(struct builder *b, const struct mrs_elem *el, struct mrsi_query_node **out, struct mrs_err *e)
{
    *out = NULL;
    if (el->name[0] != '$') {
        return build_field(b, el, out, e);
    }
    if (mrs_name_is(el, "$and", 4)) {
        return build_list(b, Q_AND, el, out, e);
    }
    if (mrs_name_is(el, "$or", 3)) {
        return build_list(b, Q_OR, el, out, e);
    }
    if (mrs_name_is(el, "$nor", 4)) {
        return build_list(b, Q_NOR, el, out, e);
    }
    if (mrs_name_is(el, "$expr", 5)) {
        return build_expr(b, el->v, out, e);
    }
    if (mrs_name_is(el, "$comment", 8)) {
        return MRS_OK;
    }
    /* inside $elemMatch a DBRef's own fields may be asked for */
    bool dbref = b->in_elem && (mrs_name_is(el, "$ref", 4) || mrs_name_is(el, "$id", 3) || mrs_name_is(el, "$db", 3));
    return dbref ? build_field(b, el, out, e) : unknown(el, true, e);
}

static enum mrs_status
build_filter(struct builder *b, struct mrs_view filter, struct mrsi_query_node **out, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (b->depth >= QUERY_DEPTH_MAX) {
        return REFUSE(e, "the filter is nested too deeply");
    }
    MRSI_TRY(new_tree(b, Q_AND, count(filter), out, e));
    b->depth++;
    mrs_walk_init(&w, filter);
    while (mrs_walk_next(&w, &el) > 0) {
        struct mrsi_query_node *kid;
        enum mrs_status s = build_entry(b, &el, &kid, e);
        if (s != MRS_OK) {
            mrs_err_at(e, "%.60s", el.name);
            return s;
        }
        if (kid) {
            (*out)->kid[(*out)->n_kids++] = kid;
        }
    }
    b->depth--;
    return MRS_OK;
}

enum mrs_status
mrsi_query_build(const struct mrs_expr_env *env, struct mrs_query *q, struct mrs_view filter, struct mrs_err *e)
{
    struct builder b = {.env = env, .q = q, .prefix = ""};
    return build_filter(&b, filter, &q->root, e);
}
