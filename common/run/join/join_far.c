/* SPDX-License-Identifier: Apache-2.0 */
/* join_far.c - payloads that stay in the files of `from` until they are spliced.
 *
 * Nearly every payload is its document without one field. If from is mapped, such a payload is stored as the position
 * of the document and of the omitted bytes: a fifth of the memory of a copy. Positions are offsets, not addresses, so
 * they stay valid in every run over the same input. */
#include "join.h"

_Static_assert(MRS_DOC_READ_MAX < 1u << 25, "a gap fits into struct mrsi_far");

static const struct mrsi_mapped *
maps_of(const struct mrsi_join_run *j, size_t *n)
{
    *n = j->maps.n / sizeof(struct mrsi_mapped);
    return (const struct mrsi_mapped *)(const void *)j->maps.p;
}

void
mrsi_far_clear(struct mrsi_join_run *j)
{
    size_t n;
    const struct mrsi_mapped *m = maps_of(j, &n);
    for (size_t i = 0; i < n; i++) {
        mrs_map_free(m[i].p, m[i].n);
    }
    mrs_buf_clear(&j->maps);
}

/* ---- mapping ---- */
/* Appends a mapping. */
static enum mrs_status
add_map(struct mrsi_join_run *j, const uint8_t *p, size_t bytes, uint64_t part, struct mrs_err *e)
{
    size_t n;
    const struct mrsi_mapped *m = maps_of(j, &n);
    uint64_t at = n ? m[n - 1].at + m[n - 1].n : 0;
    struct mrsi_mapped one = {(uint8_t *)(uintptr_t)p, bytes, part, at};
    mrs_buf_put(&j->maps, &one, sizeof one);
    if (j->maps.bad) {
        mrs_map_free(p, bytes);
    }
    return mrs_buf_status(&j->maps, e);
}

enum mrs_status
mrsi_far_block(struct mrsi_join_run *j, const struct mrs_block *b, const uint8_t **p, uint64_t *at, struct mrs_err *e)
{
    size_t n;
    enum mrs_status s = MRS_OK;
    *p = NULL;
    if (!j->far) {
        return MRS_OK;
    }
    if (j->mapped_part != j->scan.at_part + 1) {
        mrs_reader_map(j->scan.reader, p, &n);
        s = add_map(j, *p, n, j->scan.at_part, e);
        j->mapped_part = s == MRS_OK ? j->scan.at_part + 1 : j->mapped_part;
    }
    const struct mrsi_mapped *m = maps_of(j, &n);
    if (s == MRS_OK && m[n - 1].p && b->off <= m[n - 1].n && b->n <= m[n - 1].n - b->off) {
        *p = m[n - 1].p + b->off;
        *at = m[n - 1].at + b->off;
    } else {
        *p = NULL;
    }
    return s;
}

/* ---- payloads ---- */
/* Length of the common prefix; a is not longer than b. */
static uint32_t
common_prefix(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    uint32_t i = 0;
    while (i + 8 <= n && mrs_le64(a + i) == mrs_le64(b + i)) {
        i += 8;
    }
    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

bool
mrsi_far_note(struct mrs_view doc, uint64_t at, struct mrs_view payload, struct mrsi_rec *r, struct mrsi_far *far)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const uint32_t head = 4; /* the length, which is computed */
    if (payload.n < sizeof *far || payload.n > doc.n || at >> 39) {
        return false;
    }
    uint32_t gap = head + common_prefix(payload.p + head, doc.p + head, payload.n - head), gap_len = doc.n - payload.n;
    if (memcmp(payload.p + gap, doc.p + gap + gap_len, payload.n - gap) != 0) {
        return false;
    }
    r->is_far = 1;
    r->gap = gap & 0x1fffffffu;
    *far = (struct mrsi_far){at & 0x7fffffffffu, gap_len & 0x1ffffffu};
    return true;
}

const uint8_t *
mrsi_far_find(const struct mrsi_join_run *j, const struct mrsi_rec *r)
{
    struct mrsi_far far = mrsi_far_of(r);
    size_t n;
    const struct mrsi_mapped *m = maps_of(j, &n);
    while (n && far.at - m->at >= m->n) {
        m++;
        n--;
    }
    uint64_t left = n ? m->n - (far.at - m->at) : 0;
    bool there = r->gap >= 4 && r->gap <= r->payload_len && (uint64_t)r->payload_len + far.gap_len <= left;
    return there ? m->p + (far.at - m->at) : NULL;
}

/* ---- load ---- */
/* Maps the same parts again. */
static enum mrs_status
map_again(struct mrsi_join_run *j, const struct mrs_buf *was, struct mrs_err *e)
{
    struct mrsi_coll *c = &j->en->coll[j->en->side[j->step][0]];
    const struct mrsi_mapped *a = (const struct mrsi_mapped *)(const void *)was->p;
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && i < was->n / sizeof *a; i++) {
        const uint8_t *p = NULL;
        size_t n = 0;
        s = a[i].part < c->n_part ? MRS_OK : mrsi_state_damaged("what stays in the input", e);
        s = s == MRS_OK && a[i].p ? mrsi_scan_map(j->en, c, (uint32_t)a[i].part, &p, &n, e) : s;
        if (s == MRS_OK && a[i].p && (!p || n != a[i].n)) {
            mrs_map_free(p, n);
            s = mrs_err_memory(e, a[i].n);
        }
        MRS_THEN(s, add_map(j, p, n, a[i].part, e));
    }
    return s;
}

enum mrs_status
mrsi_far_load(struct mrsi_join_run *j, struct mrs_err *e)
{
    struct mrs_buf was; /* struct mrsi_mapped, at the time of the savepoint */
    mrs_buf_init(&was, j->en->mem, SIZE_MAX);
    enum mrs_status s = mrsi_load_bytes(j->en, j->pass.from, "maps", &was, e);
    if (s == MRS_OK && was.n % sizeof(struct mrsi_mapped)) {
        s = mrsi_state_damaged("what stays in the input", e);
    }
    MRS_THEN(s, map_again(j, &was, e));
    mrs_buf_clear(&was);
    return s;
}
