/* SPDX-License-Identifier: Apache-2.0 */
/* t_bson.c - views, the check and the builder.
 *
 * Damaged documents of every kind must be refused with the place, no damaged byte may lead outside (the bytes lie in
 * blocks of their exact size, for the sanitizer to watch), and what the builder makes must be what libbson makes. */
#include "json.h"

static struct mrs_mem *mem;

/* "05 00 00 00 00" to bytes. */
static uint32_t
bytes_of(const char *hex, uint8_t *out)
{
    uint32_t n = 0;
    for (const char *p = hex; *p;) {
        out[n++] = (uint8_t)strtoul(p, (char **)&p, 16);
        while (*p == ' ') {
            p++;
        }
    }
    return n;
}

/* The check that finds fields: what it finds is what a walk meets. */
static enum mrs_status
check_fields_of(struct mrs_layout *layout, const uint8_t *p, uint32_t n)
{
    static struct mrs_eval_fields f;
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t i = 0;
    enum mrs_status s = mrs_doc_check_fields(p, n, MRS_DEPTH_READ, &f, layout, NULL);
    if (s != MRS_OK) {
        return s;
    }
    if (f.tpl) {
        mrs_template_fields(f.tpl, p, &f);
    }
    mrs_walk_init(&w, (struct mrs_view){p, mrs_le32(p)});
    for (; mrs_walk_next(&w, &e) > 0; i++) {
        if (i < f.n) {
            assert_ptr_equal(f.e[i].p, e.p);
            assert_ptr_equal(f.e[i].name, e.name);
            assert_int_equal(f.e[i].name_len, e.name_len);
            assert_ptr_equal(f.e[i].v.p, e.v.p);
            assert_int_equal(f.e[i].v.n, e.v.n);
            assert_int_equal(f.e[i].v.type, e.v.type);
        }
    }
    assert_int_equal(f.n, i < MRS_EVAL_FIELDS_MAX ? i : MRS_EVAL_FIELDS_MAX);
    assert_int_equal(f.all, i <= MRS_EVAL_FIELDS_MAX);
    return s;
}

static enum mrs_status
check_with_fields(const uint8_t *p, uint32_t n)
{
    static struct mrs_layout layout; /* of the documents before */
    return check_fields_of(&layout, p, n);
}

static void
damaged(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        int64_t off; /* -1: fine */
    } row[] = {
        {"05 00 00 00 00", -1},
        {"", 0},
        {"05 00 00 00", 0},
        {"04 00 00 00 00", 0},
        {"06 00 00 00 00", 0},
        {"05 00 00 00 01", 0},
        {"ff ff ff ff 00", 0},
        {"05 00 00 00 00 77 77", -1},
        {"08 00 00 00 0a 61 00 00", -1},
        {"08 00 00 00 00 61 00 00", 4},                            /* type 0 */
        {"08 00 00 00 14 61 00 00", 4},                            /* unknown type */
        {"07 00 00 00 0a 61 00", 4},                               /* the name takes the last NUL */
        {"06 00 00 00 0a 00", 4},
        {"09 00 00 00 08 61 00 01 00", -1},
        {"09 00 00 00 08 61 00 02 00", 4},                         /* boolean 2 */
        {"0b 00 00 00 10 61 00 01 00 00 00", 4},                   /* three bytes of int32 and the end */
        {"0e 00 00 00 02 61 00 02 00 00 00 78 00 00", -1},
        {"0e 00 00 00 02 61 00 03 00 00 00 78 00 00", 4},          /* string takes the end */
        {"0e 00 00 00 02 61 00 02 00 00 00 78 79 00", 4},          /* no NUL */
        {"0c 00 00 00 02 61 00 00 00 00 00 00", 4},                /* length 0 */
        {"0c 00 00 00 02 61 00 ff ff ff ff 00", 4},
        {"0d 00 00 00 03 61 00 05 00 00 00 00 00", -1},
        {"0d 00 00 00 03 61 00 06 00 00 00 00 00", 4},
        {"0d 00 00 00 04 61 00 04 00 00 00 00 00", 4},
        {"0d 00 00 00 03 61 00 05 00 00 00 01 00", 4},
        {"10 00 00 00 03 61 00 08 00 00 00 0a 62 01 00 00", 11},   /* inside: the name takes the end */
        {"0e 00 00 00 05 61 00 01 00 00 00 00 ff 00", -1},
        {"0e 00 00 00 05 61 00 02 00 00 00 00 ff 00", 4},
        {"0e 00 00 00 05 61 00 ff ff ff ff 00 ff 00", 4},
        {"0d 00 00 00 0b 61 00 78 00 69 00 0a 00", 11},
        {"0c 00 00 00 0b 61 00 78 00 69 00 00", -1},
        {"0b 00 00 00 0b 61 00 78 00 69 00", 4},
        {"1a 00 00 00 0c 61 00 02 00 00 00 78 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 00", -1},
        {"19 00 00 00 0c 61 00 02 00 00 00 78 00 01 02 03 04 05 06 07 08 09 0a 0b 00", 4},
        {"17 00 00 00 0f 61 00 0f 00 00 00 02 00 00 00 78 00 05 00 00 00 00 00", -1},
        {"17 00 00 00 0f 61 00 0e 00 00 00 02 00 00 00 78 00 05 00 00 00 00 00", 4},
        {"17 00 00 00 0f 61 00 0f 00 00 00 03 00 00 00 78 00 05 00 00 00 00 00", 4},
        {"17 00 00 00 0f 61 00 0f 00 00 00 02 00 00 00 78 00 06 00 00 00 00 00", 4},
        {"17 00 00 00 0f 61 00 0f 00 00 00 02 00 00 00 78 00 05 00 00 00 01 00", 4},
        {"08 00 00 00 ff 61 00 00", -1},
        {"08 00 00 00 7f 61 00 00", -1},
    };
    uint8_t p[64];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t n = bytes_of(row[i].hex, p);
        uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees a step outside */
        struct mrs_err e;
        memcpy(exact, p, n);
        mrs_err_clear(&e);
        enum mrs_status s = mrs_doc_check(exact, n, MRS_DEPTH_READ, &e);
        assert_int_equal(check_with_fields(exact, n), s);
        if ((s == MRS_OK) != (row[i].off < 0) || (s != MRS_OK && (e.code != MRS_E_BSON ||
                                                                  e.byte_off != (uint64_t)row[i].off))) {
            fail_msg("%s: status %d, code %d at %d", row[i].hex, (int)s, (int)e.code, (int)e.byte_off);
        }
        free(exact);
    }
    uint8_t large[] = {0x01, 0x40, 0x00, 0x01};
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_put32(large, MRS_DOC_READ_MAX + 1);
    uint8_t head[8] = {0};
    memcpy(head, large, 4);
    assert_int_equal(mrs_doc_check(head, MRS_DOC_READ_MAX + 1, MRS_DEPTH_READ, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_LIMIT);
}

static uint64_t
walk_all(struct mrs_view d)
{
    struct mrs_walk w;
    struct mrs_elem e;
    uint64_t n = 0;
    int more;
    mrs_walk_init(&w, d);
    while ((more = mrs_walk_next(&w, &e)) > 0) {
        n += e.name_len + e.v.n;
        if (e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY) {
            n += walk_all(mrs_val_view(e.v));
        }
    }
    return n;
}

/* More fields than there is room for. */
static void
many_fields(void **state)
{
    (void)state;
    for (uint32_t n = MRS_EVAL_FIELDS_MAX - 2; n < MRS_EVAL_FIELDS_MAX + 3; n++) {
        struct mrs_buf buf;
        struct mrs_build b;
        struct mrs_view d;
        mrs_buf_init(&buf, mem, 1 << 20);
        mrs_build_init(&b, &buf);
        for (uint32_t i = 0; i < n; i++) {
            char name[12];
            mrs_index_name(name, i);
            mrs_build_i32(&b, name, (int32_t)i);
        }
        assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
        assert_int_equal(check_with_fields(d.p, d.n), MRS_OK);
        mrs_buf_clear(&buf);
    }
}

/* What the fields of {_id, a name of some length, others} tell of their names; odd: with one more in between. */
static uint64_t
names_of(struct mrs_layout *layout, uint32_t len, uint32_t value, bool odd)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyz";
    struct mrs_eval_fields f;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d;
    mrs_buf_init(&buf, mem, 1 << 20);
    mrs_build_init(&b, &buf);
    mrs_build_i64(&b, "_id", value);
    mrs_build_text(&b, name + sizeof name - 1 - len, "0123456789", value % 10);
    if (odd) {
        mrs_build_i32(&b, "odd", 1);
    }
    mrs_build_double(&b, "last", value);
    mrs_build_open(&b, "in", 2, value % 7 ? MRS_DOCUMENT : MRS_ARRAY);
    mrs_build_text(&b, "0", "0123456789", value % 3);
    mrs_build_close(&b);
    mrs_build_bool(&b, "b", value % 2);
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    uint8_t *exact = malloc(d.n);
    memcpy(exact, d.p, d.n);
    assert_int_equal(mrs_doc_check_fields(exact, d.n, MRS_DEPTH_READ, &f, layout, NULL), MRS_OK);
    if (f.tpl) {
        mrs_template_fields(f.tpl, exact, &f);
    }
    assert_int_equal(f.n, 5 + odd);
    assert_true(f.all);
    assert_int_equal(f.e[1].name_len, len);
    assert_int_equal(f.e[1].v.n, 5 + value % 10);
    assert_true(mrs_name_is(&f.e[2 + odd], "last", 4));
    free(exact);
    mrs_buf_clear(&buf);
    return f.names;
}

/* Documents with equal numbers have equal names, and those that are like the one before do have a number. */
static void
layouts(void **state)
{
    (void)state;
    for (uint32_t len = 0; len < 20; len++) {
        struct mrs_layout layout;
        memset(&layout, 0, sizeof layout);
        assert_int_equal(names_of(&layout, len, 1, false), 0);
        uint64_t names = names_of(&layout, len, 2, false);
        assert_int_equal(names != 0, len < 16);
        for (uint32_t i = 3; i < 40; i++) {
            uint64_t now = names_of(&layout, len, i, i % 5 == 0), other = names_of(&layout, len ^ 1, i, i % 3 == 0);
            assert_true(!now || !other || now != other);
            assert_true(!now || now != names || i % 5);
        }
    }
}

/* Whether a document, at the end of its memory, has a template that the layout knows. */
static bool
has_look(struct mrs_layout *layout, struct mrs_view d)
{
    struct mrs_eval_fields f;
    uint8_t *exact = malloc(d.n);
    memcpy(exact, d.p, d.n);
    assert_int_equal(mrs_doc_check_fields(exact, d.n, MRS_DEPTH_READ, &f, layout, NULL), MRS_OK);
    assert_true(!f.tpl || f.tpl->size == d.n);
    free(exact);
    return f.tpl != NULL;
}

/* A document whose look is known is taken for good exactly where a walk takes it for good, and has the fields that a
 * walk finds: every bit of it flipped, every cut. */
static void
looks(void **state)
{
    (void)state;
    uint32_t known = 0, flips = 0;
    for (int round = 0; round < 300; round++) {
        static struct mrs_layout layout;
        struct mrs_buf buf;
        mrs_buf_init(&buf, mem, 1 << 20);
        struct mrs_view d = nasty_document(&buf, round % 4, 1 + round % 5);
        bool fits = d.n >= 16 && d.n <= MRS_TEMPLATE_MAX && mrs_doc_count(d) <= MRS_EVAL_FIELDS_MAX;
        memset(&layout, 0, sizeof layout);
        assert_false(has_look(&layout, d) || has_look(&layout, d));
        assert_int_equal(has_look(&layout, d), fits);
        known += fits;
        for (uint32_t bit = 0; fits && bit < 8 * d.n; bit++) {
            struct mrs_layout now = layout; /* what is flipped is not learned from */
            struct mrs_view other = {malloc(d.n), d.n};
            uint8_t *copy = (uint8_t *)(uintptr_t)other.p;
            memcpy(copy, d.p, d.n);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            enum mrs_status s = mrs_doc_check(copy, d.n, MRS_DEPTH_READ, NULL);
            assert_int_equal(check_fields_of(&now, copy, d.n), s);
            flips += s == MRS_OK && has_look(&layout, other);
            free(copy);
        }
        for (uint32_t n = 0; n < d.n; n++) {
            uint8_t *copy = malloc(n ? n : 1);
            memcpy(copy, d.p, n);
            assert_int_equal(check_fields_of(&layout, copy, n), MRS_FAIL);
            free(copy);
        }
        mrs_buf_clear(&buf);
    }
    assert_true(known > 100 && flips > 1000);
}

/* {_id, yes, in: {list: [{a: text}], b}, text, n} */
static struct mrs_view
nested_document(struct mrs_buf *buf, uint32_t len)
{
    struct mrs_build b;
    struct mrs_view d;
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    mrs_build_i64(&b, "_id", len);
    mrs_build_bool(&b, "yes", len % 2);
    mrs_build_open(&b, "in", 2, MRS_DOCUMENT);
    mrs_build_open(&b, "list", 4, MRS_ARRAY);
    mrs_build_item_open(&b, MRS_DOCUMENT);
    mrs_build_text(&b, "a", "0123456789", len);
    mrs_build_close(&b);
    mrs_build_close(&b);
    mrs_build_double(&b, "b", len);
    mrs_build_close(&b);
    mrs_build_text(&b, "text", "abcdefghij", len);
    mrs_build_i32(&b, "n", (int32_t)len);
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    return d;
}

/* Documents inside a document that begins as others did are taken for good exactly where a walk takes them for good;
 * so is their depth. */
static void
nested_layouts(void **state)
{
    struct mrs_layout layout;
    struct mrs_eval_fields f;
    struct mrs_buf buf;
    (void)state;
    memset(&layout, 0, sizeof layout);
    mrs_buf_init(&buf, mem, 1 << 20);
    for (uint32_t len = 0; len < 10; len++) {
        struct mrs_view d = nested_document(&buf, len);
        assert_int_equal(mrs_doc_check_fields(d.p, d.n, MRS_DEPTH_READ, &f, &layout, NULL), MRS_OK);
        assert_int_equal(f.names != 0, len > 0);
        assert_int_equal(f.n, 5);
        for (int depth = 1; depth < 6; depth++) {
            struct mrs_layout now = layout;
            enum mrs_status s = mrs_doc_check(d.p, d.n, depth, NULL);
            assert_int_equal(mrs_doc_check_fields(d.p, d.n, depth, &f, &now, NULL), s);
            assert_int_equal(s, depth < 4 ? MRS_FAIL : MRS_OK);
        }
        for (uint32_t bit = 0; bit < 8 * d.n; bit++) {
            struct mrs_layout now = layout; /* what is flipped is not learned from */
            uint8_t *copy = malloc(d.n);
            memcpy(copy, d.p, d.n);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            enum mrs_status s = mrs_doc_check(copy, d.n, MRS_DEPTH_READ, NULL);
            assert_int_equal(check_fields_of(&now, copy, d.n), s);
            free(copy);
        }
    }
    mrs_buf_clear(&buf);
}

/* An array of items, of which most look as the one before: {a: [...], b: [[[item]]]}. */
static struct mrs_view
array_of_items(struct mrs_buf *buf)
{
    struct mrs_build b;
    struct mrs_view d;
    mrs_build_init(&b, buf);
    mrs_build_open(&b, "a", 1, MRS_ARRAY);
    for (int i = 0; i < 9; i++) {
        bool last = i == 8;
        if (last) {
            mrs_build_close(&b);
            mrs_build_open(&b, "b", 1, MRS_ARRAY);
            mrs_build_item_open(&b, MRS_ARRAY);
            mrs_build_item_open(&b, MRS_ARRAY);
        }
        mrs_build_item_open(&b, MRS_DOCUMENT);
        mrs_build_text(&b, i == 5 ? "other" : "texts", "abcdefgh", 8);
        mrs_build_bool(&b, "yes", i % 2);
        mrs_build_open(&b, "in", 2, MRS_ARRAY);
        mrs_build_item(&b, mrs_null());
        mrs_build_close(&b);
        mrs_build_i64(&b, "n", rand());
        mrs_build_close(&b);
    }
    for (int i = 0; i < 3; i++) {
        mrs_build_close(&b);
    }
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    return d;
}

/* Items that look as the one before are taken for good exactly where they are good alone. */
static void
items(void **state)
{
    struct mrs_buf buf;
    struct mrs_elem a, e;
    struct mrs_walk w;
    struct mrs_err err;
    uint32_t good = 0, bad = 0;
    (void)state;
    mrs_buf_init(&buf, mem, 1 << 20);
    struct mrs_view d = array_of_items(&buf);
    assert_true(mrs_doc_find(d, "a", 1, &a));
    mrs_walk_init(&w, mrs_val_view(a.v));
    while (mrs_walk_next(&w, &e) > 0) {
        for (uint32_t bit = 32; bit < 8 * (e.v.n - 1); bit++) { /* but its length and end */
            uint8_t *p = (uint8_t *)(uintptr_t)e.v.p + bit / 8;
            *p ^= (uint8_t)(1 << bit % 8);
            enum mrs_status alone = mrs_doc_check(e.v.p, e.v.n, MRS_DEPTH_READ, NULL);
            assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), alone);
            *p ^= (uint8_t)(1 << bit % 8);
            good += alone == MRS_OK;
            bad += alone != MRS_OK;
        }
    }
    assert_true(good > 500 && bad > 500);
    for (int depth = 2; depth < 8; depth++) { /* the last of them lies two levels further inside than the others */
        mrs_err_clear(&err);
        assert_int_equal(mrs_doc_check(d.p, d.n, depth, &err), depth < 6 ? MRS_FAIL : MRS_OK);
        assert_int_equal(err.code, depth < 6 ? MRS_E_LIMIT : MRS_E_NONE);
    }
    mrs_buf_clear(&buf);
}

/* Every single bit flipped, every cut: refused, or a document that can be walked. libbson must not refuse what we
 * take for its structure alone. */
static void
flipped(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct mrs_buf buf;
        mrs_buf_init(&buf, mem, 1 << 20);
        struct mrs_view d = nasty_document(&buf, 3, 4);
        assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), MRS_OK);
        for (uint32_t bit = 0; bit < 8 * d.n; bit++) {
            uint8_t *copy = malloc(d.n);
            memcpy(copy, d.p, d.n);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            enum mrs_status s = mrs_doc_check(copy, d.n, MRS_DEPTH_READ, NULL);
            assert_int_equal(check_with_fields(copy, d.n), s);
            if (s == MRS_OK) {
                struct mrs_view v = {copy, mrs_le32(copy)};
                walk_all(v);
            }
            struct mrs_view raw = {copy, d.n}; /* unchecked: the walk itself must stay inside */
            struct mrs_walk w;
            struct mrs_elem e;
            mrs_walk_init(&w, raw);
            while (mrs_walk_next(&w, &e) > 0) {
                assert_true(e.v.p + e.v.n <= copy + d.n);
            }
            free(copy);
        }
        for (uint32_t n = 0; n < d.n; n++) {
            uint8_t *copy = malloc(n ? n : 1);
            memcpy(copy, d.p, n);
            assert_int_equal(mrs_doc_check(copy, n, MRS_DEPTH_READ, NULL), MRS_FAIL);
            free(copy);
        }
        mrs_buf_clear(&buf);
    }
}

static void
lookup(void **state)
{
    (void)state;
    bson_t *d = json_read("{'a':1,'ab':2,'':3,'a':4,'abcdefgh':5,'abcdefghi':6,'abcdefg':7}");
    struct mrs_elem e;
    assert_int_equal(mrs_val_i32(mrs_doc_get(json_view(d), "a")), 1);
    assert_int_equal(mrs_val_i32(mrs_doc_get(json_view(d), "ab")), 2);
    assert_int_equal(mrs_val_i32(mrs_doc_get(json_view(d), "")), 3);
    assert_int_equal(mrs_val_i32(mrs_doc_get(json_view(d), "abcdefgh")), 5);
    assert_int_equal(mrs_val_i32(mrs_doc_get(json_view(d), "abcdefghi")), 6);
    assert_int_equal(mrs_val_i32(mrs_doc_get(json_view(d), "abcdefg")), 7);
    assert_int_equal(mrs_doc_get(json_view(d), "abc").type, MRS_MISSING);
    assert_true(mrs_doc_find(json_view(d), "abX", 2, &e));
    assert_string_equal(e.name, "ab");
    assert_int_equal(e.name_len, 2);
    assert_int_equal(mrs_doc_depth(json_view(d)), 1);
    bson_destroy(d);
    d = json_read("{'a':{'b':[{'c':1}]},'d':{}}");
    assert_int_equal(mrs_doc_depth(json_view(d)), 4);
    bson_destroy(d);
}

static void
built(void **state)
{
    (void)state;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d;
    uint8_t room[16];
    mrs_buf_init(&buf, mem, 1 << 20);
    mrs_buf_put(&buf, "xyz", 3);
    mrs_build_init(&b, &buf);
    mrs_build_i32(&b, "i", -5);
    mrs_build_i64(&b, "l", 5);
    mrs_build_count(&b, "c", 1, 7);
    mrs_build_count(&b, "cc", 2, 3000000000u);
    mrs_build_bool(&b, "t", true);
    mrs_build_double(&b, "d", 0.5);
    mrs_build_null(&b, "n", 1);
    mrs_build_text(&b, "s", "te\0xt", 5);
    mrs_build_val(&b, "m", 1, mrs_missing());
    mrs_build_open(&b, "a", 1, MRS_ARRAY);
    mrs_build_item(&b, mrs_make_i32(room, 1));
    mrs_build_item(&b, mrs_missing());
    mrs_build_item_open(&b, MRS_DOCUMENT);
    mrs_build_open(&b, "x", 1, MRS_DOCUMENT);
    mrs_build_close(&b);
    mrs_build_close(&b);
    mrs_build_item(&b, mrs_null());
    mrs_build_close(&b);
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    assert_true(d.p == buf.p + 3);
    json_check(d,
               "{'i':-5,'l':{'$numberLong':'5'},'c':7,'cc':3000000000,'t':true,'d':0.5,'n':null,'s':'te\\u0000xt','"
               "a':[1,{'x':{}},null]}");
    mrs_buf_clear(&buf);
}

static void
copied(void **state)
{
    (void)state;
    struct mrs_buf one, two;
    struct mrs_build b;
    struct mrs_view d, c;
    struct mrs_arena a;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_arena_init(&a, mem);
    mrs_buf_init(&one, mem, 1 << 20);
    mrs_buf_init(&two, mem, 1 << 20);
    d = nasty_document(&one, 2, 9);
    mrs_build_init(&b, &two);
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        struct mrs_val v;
        assert_true(mrs_val_copy(&a, e.v, &v) && mrs_identical(v, e.v));
        mrs_build_elem(&b, &e);
    }
    assert_int_equal(mrs_build_finish(&b, &c, NULL), MRS_OK);
    assert_true(mrs_identical(mrs_view_val(c), mrs_view_val(d)));
    mrs_buf_reset(&two);
    mrs_build_init(&b, &two);
    mrs_build_raw(&b, d.p + 4, d.n - 5);
    assert_int_equal(mrs_build_finish(&b, &c, NULL), MRS_OK);
    assert_true(mrs_identical(mrs_view_val(c), mrs_view_val(d)));
    struct mrs_val v = mrs_make_text(&a, "abc", 3);
    uint32_t n;
    assert_memory_equal(mrs_val_text(v, &n), "abc", 4);
    assert_int_equal(n, 3);
    mrs_buf_clear(&one);
    mrs_buf_clear(&two);
    mrs_arena_clear(&a);
}

static void
limits(void **state)
{
    (void)state;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d;
    struct mrs_err e;
    for (int n = MRS_DEPTH_MAX; n <= MRS_DEPTH_MAX + 200; n += 100) {
        mrs_buf_init(&buf, mem, 1 << 20);
        mrs_build_init(&b, &buf);
        for (int i = 1; i < n; i++) {
            mrs_build_open(&b, "a", 1, MRS_DOCUMENT);
            mrs_build_i32(&b, "x", 1);
        }
        for (int i = 1; i < n; i++) {
            mrs_build_close(&b);
        }
        mrs_err_clear(&e);
        enum mrs_status s = mrs_build_finish(&b, &d, &e);
        assert_int_equal(s, n == MRS_DEPTH_MAX ? MRS_OK : MRS_FAIL);
        if (s == MRS_OK) {
            assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_MAX, NULL), MRS_OK);
            assert_int_equal(mrs_doc_depth(d), MRS_DEPTH_MAX);
        } else {
            assert_int_equal(e.code, MRS_E_LIMIT);
        }
        mrs_buf_clear(&buf);
    }
    for (size_t ceiling = 1; ceiling < 40; ceiling++) {
        mrs_buf_init(&buf, mem, ceiling);
        mrs_build_init(&b, &buf);
        mrs_build_text(&b, "a", "text", 4);
        mrs_build_open(&b, "b", 1, MRS_ARRAY);
        mrs_build_item_open(&b, MRS_ARRAY);
        mrs_build_close(&b);
        mrs_build_close(&b);
        assert_int_equal(mrs_build_finish(&b, &d, NULL), ceiling < 33 ? MRS_FAIL : MRS_OK);
        mrs_buf_clear(&buf);
    }
}

static void
without_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct mrs_mem *m = mrs_mem_new(n);
        struct mrs_buf buf;
        struct mrs_build b;
        struct mrs_view d;
        mrs_buf_init(&buf, m, 1 << 24);
        mrs_build_init(&b, &buf);
        for (int i = 0; i < 500; i++) {
            mrs_build_open(&b, "a", 1, MRS_DOCUMENT);
            mrs_build_text(&b, "a", "text", 4);
            mrs_build_close(&b);
        }
        enum mrs_status s = mrs_build_finish(&b, &d, NULL);
        if (s == MRS_OK) {
            assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_MAX, NULL), MRS_OK);
        } else {
            assert_int_equal(s, MRS_DEAD);
        }
        mrs_buf_clear(&buf);
        assert_int_equal(mrs_mem_close(m), 0);
        if (s == MRS_OK) {
            assert_true(n > 3);
            break;
        }
    }
}

static void
index_names(void **state)
{
    (void)state;
    static const uint32_t n[] = {0, 1, 9, 10, 99, 100, 12345, UINT32_MAX};
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        char got[12], want[12];
        snprintf(want, sizeof want, "%u", n[i]);
        assert_int_equal(mrs_index_name(got, n[i]), strlen(want));
        assert_string_equal(got, want);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged), cmocka_unit_test(many_fields), cmocka_unit_test(flipped), cmocka_unit_test(lookup),
        cmocka_unit_test(built),   cmocka_unit_test(copied),      cmocka_unit_test(limits),
        cmocka_unit_test(without_memory), cmocka_unit_test(index_names), cmocka_unit_test(layouts),
        cmocka_unit_test(nested_layouts),
        cmocka_unit_test(looks),   cmocka_unit_test(items),
    };
    mem = mrs_mem_new(0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (mrs_mem_close(mem) != 0);
}
