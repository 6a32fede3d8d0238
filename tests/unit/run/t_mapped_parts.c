/* SPDX-License-Identifier: Apache-2.0 */
/* t_mapped_parts.c - shapes that stay in a file: what is made of a note is what was noted, whatever field is left out;
 * notes that speak of what is not there lead nowhere. */
#include "run_test.h"
#include "run/join/join.h"

enum { BEFORE = 100, FIELDS = 7 };

/* A join with two parts of from in memory, and one between them that could not be mapped; the second holds d. */
static void
begin(struct mrsi_join_run *j, struct bare *b, struct mrs_view d, uint8_t *first, uint8_t *second)
{
    const struct mrsi_mapped m[] = {{first, BEFORE, 0, 0}, {NULL, 0, 1, BEFORE}, {second, d.n, 2, BEFORE}};
    memset(j, 0, sizeof *j);
    mrs_buf_init(&j->maps, b->mem, SIZE_MAX);
    mrs_buf_put(&j->maps, m, sizeof m);
    memcpy(second, d.p, d.n);
}

/* A document with texts of some length, and which of its fields to leave out (FIELDS: none). */
static struct mrs_view
document(struct mrs_buf *buf, uint32_t len, uint32_t without)
{
    static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct mrs_build b;
    struct mrs_view d;
    mrs_buf_reset(buf);
    mrs_build_init(&b, buf);
    for (uint32_t i = 0; i < FIELDS; i++) {
        char name[4] = {'f', (char)('0' + i % 2), 0, 0};
        if (i != without) {
            mrs_build_text(&b, name, text, (len + i * i) % (sizeof text - 1));
        }
    }
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    return d;
}

/* A record as one that has been noted, in room. */
static struct mrsi_rec *
noted(struct mrs_view d, struct mrs_view payload, uint8_t *room)
{
    struct mrsi_rec *r = (struct mrsi_rec *)(void *)room;
    struct mrsi_far far;
    memset(r, 0, sizeof *r);
    r->payload_len = payload.n;
    if (!mrsi_far_note(d, BEFORE, payload, r, &far)) {
        return NULL;
    }
    memcpy(room + sizeof *r, &far, sizeof far);
    r->total = mrsi_rec_total(r);
    assert_int_equal(r->total, sizeof *r + sizeof far);
    return r;
}

static void
comes_back(struct mrsi_join_run *j, const struct mrsi_rec *r, struct mrs_view payload)
{
    const uint8_t *doc = mrsi_far_find(j, r);
    uint8_t *to = malloc(payload.n);
    assert_non_null(doc);
    mrsi_far_copy(r, doc, to);
    assert_memory_equal(to, payload.p, payload.n);
    free(to);
}

/* Notes that are damaged in one place: nothing outside the files is looked at. */
static void
leads_nowhere(struct mrsi_join_run *j, const struct mrsi_rec *good, uint32_t doc_len)
{
    _Alignas(8) uint8_t room[sizeof *good + sizeof(struct mrsi_far)];
    struct mrsi_rec *r = (struct mrsi_rec *)(void *)room;
    struct mrsi_far far = mrsi_far_of(good);
    for (int what = 0; what < 6; what++) {
        memcpy(room, good, sizeof room);
        struct mrsi_far now = far;
        r->gap = what == 0 ? 3 : what == 1 ? (r->payload_len + 1) & 0x1fffffffu : r->gap;
        r->payload_len += what == 2;
        now.gap_len += what == 3;
        now.at += what == 4;
        now.at = what == 5 ? BEFORE + doc_len : now.at;
        memcpy(room + sizeof *r, &now, sizeof now);
        assert_null(mrsi_far_find(j, r));
    }
}

static void
every_field(void **state)
{
    _Alignas(8) uint8_t room[sizeof(struct mrsi_rec) + sizeof(struct mrsi_far)];
    struct bare b;
    struct mrs_buf whole, rest;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    mrs_buf_init(&whole, b.mem, SIZE_MAX);
    mrs_buf_init(&rest, b.mem, SIZE_MAX);
    for (uint32_t len = 0; len < 70; len++) {
        for (uint32_t without = 0; without <= FIELDS; without++) {
            struct mrs_view d = document(&whole, len, FIELDS), payload = document(&rest, len, without);
            uint8_t *first = malloc(BEFORE), *second = malloc(d.n);
            struct mrsi_join_run j;
            begin(&j, &b, d, first, second);
            const struct mrsi_rec *r = noted(d, payload, room);
            assert_non_null(r);
            comes_back(&j, r, payload);
            leads_nowhere(&j, r, d.n);
            mrs_buf_clear(&j.maps);
            free(first);
            free(second);
        }
    }
    mrs_buf_clear(&whole);
    mrs_buf_clear(&rest);
    bare_end(&b);
}

/* What is no document less one run of bytes is not noted. */
static void
others(void **state)
{
    _Alignas(8) uint8_t room[sizeof(struct mrsi_rec) + sizeof(struct mrsi_far)];
    struct bare b;
    struct mrs_buf whole, rest;
    struct mrsi_far far;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    mrs_buf_init(&whole, b.mem, SIZE_MAX);
    mrs_buf_init(&rest, b.mem, SIZE_MAX);
    struct mrs_view d = document(&whole, 20, FIELDS), payload = document(&rest, 20, 3);
    struct mrsi_rec *r = noted(d, payload, room);
    assert_non_null(r);
    assert_false(mrsi_far_note(d, 1ull << 39, payload, r, &far));
    assert_null(noted(payload, d, room)); /* it is longer */
    assert_null(noted(d, mrs_empty_doc(), room));
    for (uint32_t i = 4; i < payload.n; i++) { /* the length says nothing that is not known */
        uint8_t *p = (uint8_t *)(uintptr_t)payload.p + i;
        *p ^= 0x80;
        assert_null(noted(d, payload, room));
        *p ^= 0x80;
    }
    mrs_buf_clear(&whole);
    mrs_buf_clear(&rest);
    bare_end(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
