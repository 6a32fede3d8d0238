/* SPDX-License-Identifier: Apache-2.0 */
/* residue_pack.c - encodes the documents of one collection as operations on the inverse's documents, block by block;
 * and decodes them. */
#include "residue.h"

#define BLOCK_OPS (64u << 10)
#define BLOCK_DOCS (1u << 20)
#define LENGTHS 16

void
mrsi_pack_begin(struct mrsi_residue_pack *p, struct mrs_mem *mem, struct mrsi_residue_out *out)
{
    MRS_ASSERT(mem);
    memset(p, 0, sizeof *p);
    p->mem = mem;
    p->out = out;
    mrs_buf_init(&p->ops, mem, MRSI_RESIDUE_MAX / 4);
    mrs_buf_init(&p->docs, mem, MRSI_RESIDUE_MAX / 4);
    mrs_buf_init(&p->base, mem, MRSI_RESIDUE_MAX / 4);
    mrs_buf_init(&p->frame, mem, MRSI_RESIDUE_MAX);
}

void
mrsi_pack_clear(struct mrsi_residue_pack *p)
{
    mrs_buf_clear(&p->ops);
    mrs_buf_clear(&p->docs);
    mrs_buf_clear(&p->base);
    mrs_buf_clear(&p->frame);
}

static void
end_run(struct mrsi_residue_pack *p)
{
    if (p->n == 0) {
        return;
    }
    mrsi_put_varint(&p->ops, p->n << 2 | p->op);
    if (p->op != MRSI_NEW) {
        int64_t far = (int64_t)(p->first - p->next);
        mrsi_put_varint(&p->ops, (uint64_t)far << 1 ^ (uint64_t)(far >> 63));
        p->next = p->first + p->n;
    }
    p->n = 0;
}

static enum mrs_status
flush(struct mrsi_residue_pack *p, struct mrs_err *e)
{
    end_run(p);
    enum mrs_status s = mrs_buf_status(&p->ops, e);
    if (s != MRS_OK || p->ops.n == 0) {
        return s;
    }
    mrs_buf_reset(&p->frame);
    mrs_buf_take(&p->frame, LENGTHS);
    struct mrs_delta ops = {NULL, 0, p->ops.p, p->ops.n}, docs = {p->base.p, p->base.n, p->docs.p, p->docs.n};
    s = mrs_delta_pack(p->mem, &ops, &p->frame, e);
    size_t ops_n = p->frame.n - LENGTHS;
    if (s == MRS_OK && p->docs.n) {
        s = mrs_delta_pack(p->mem, &docs, &p->frame, e);
    }
    if (s == MRS_OK) {
        mrs_put32(p->frame.p, (uint32_t)p->ops.n);
        mrs_put32(p->frame.p + 4, (uint32_t)ops_n);
        mrs_put32(p->frame.p + 8, (uint32_t)p->docs.n);
        mrs_put32(p->frame.p + 12, (uint32_t)(p->frame.n - LENGTHS - ops_n));
        s = mrsi_residue_put(p->out, MRSI_DOCS, p->frame.p, p->frame.n, e);
    }
    mrs_buf_reset(&p->ops);
    mrs_buf_reset(&p->docs);
    mrs_buf_reset(&p->base);
    return s;
}

enum mrs_status
mrsi_pack_add(struct mrsi_residue_pack *p, enum mrsi_op op, uint64_t no, struct mrs_view base, struct mrs_view doc,
              struct mrs_err *e)
{
    MRS_ASSERT(op == MRSI_NEW || base.n > 0);
    bool same = p->n && p->op == op && (op == MRSI_NEW || no == p->first + p->n);
    if (!same) {
        end_run(p);
        p->op = op;
        p->first = no;
    }
    p->n++;
    if (op == MRSI_MEND) {
        mrs_buf_put(&p->base, base.p, base.n);
    }
    if (op != MRSI_TAKE) {
        mrs_buf_put(&p->docs, doc.p, doc.n);
    }
    enum mrs_status s = mrs_buf_status(&p->ops, e); /* checked now, because a savepoint may come before the flush */
    MRS_THEN(s, mrs_buf_status(&p->base, e));
    MRS_THEN(s, mrs_buf_status(&p->docs, e));
    bool full = p->ops.n > BLOCK_OPS || p->docs.n + p->base.n > BLOCK_DOCS;
    return s == MRS_OK && full ? flush(p, e) : s;
}

enum mrs_status
mrsi_pack_end(struct mrsi_residue_pack *p, struct mrs_err *e)
{
    return flush(p, e);
}

/* ---- savepoints ---- */
enum mrs_status
mrsi_pack_save(const struct mrsi_residue_pack *p, struct mrsi_engine *en, struct mrs_build *b,
               struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_i64(b, "op", p->op);
    mrs_build_i64(b, "opFirst", (int64_t)p->first);
    mrs_build_i64(b, "opDocs", (int64_t)p->n);
    mrs_build_i64(b, "opNext", (int64_t)p->next);
    enum mrs_status s = mrsi_save_bytes(en, "packOps", p->ops.p, p->ops.n, b, files, e);
    MRS_THEN(s, mrsi_save_bytes(en, "packDocs", p->docs.p, p->docs.n, b, files, e));
    return s == MRS_OK ? mrsi_save_bytes(en, "packBase", p->base.p, p->base.n, b, files, e) : s;
}

enum mrs_status
mrsi_pack_load(struct mrsi_residue_pack *p, struct mrsi_engine *en, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    p->op = (enum mrsi_op)mrsi_state_number(saved, "op", MRSI_NEW, &bad);
    p->first = mrsi_state_number(saved, "opFirst", INT64_MAX, &bad);
    p->n = mrsi_state_number(saved, "opDocs", INT64_MAX, &bad);
    p->next = mrsi_state_number(saved, "opNext", INT64_MAX, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("packed documents", e) : MRS_OK;
    MRS_THEN(s, mrsi_load_bytes(en, saved, "packOps", &p->ops, e));
    MRS_THEN(s, mrsi_load_bytes(en, saved, "packDocs", &p->docs, e));
    return s == MRS_OK ? mrsi_load_bytes(en, saved, "packBase", &p->base, e) : s;
}

/* ---- decode ---- */
struct residue_pack_ops {
    const uint8_t *at, *end;
    uint64_t next;
};
struct one {
    enum mrsi_op op;
    uint64_t n, first;
};

/* The next operation: 1; none: 0; invalid: -1. */
static int
next_op(const struct mrsi_unpack *u, struct residue_pack_ops *o, struct one *x)
{
    MRS_ASSERT(o->at <= o->end);
    uint64_t v, far = 0;
    if (o->at == o->end) {
        return 0;
    }
    if (!mrsi_get_varint(&o->at, o->end, &v) || (v & 3) > MRSI_NEW || v >> 2 == 0) {
        return -1;
    }
    *x = (struct one){(enum mrsi_op)(v & 3), v >> 2, 0};
    if (x->op == MRSI_NEW) {
        return 1;
    }
    if (!mrsi_get_varint(&o->at, o->end, &far)) {
        return -1;
    }
    x->first = o->next + ((far >> 1) ^ (0 - (far & 1)));
    if (x->first > u->offsets->n || x->n > u->offsets->n - x->first) {
        return -1;
    }
    o->next = x->first + x->n;
    return 1;
}

static enum mrs_status
wrong(const struct mrsi_unpack *u, struct mrs_err *e)
{
    return mrsi_residue_damaged(u->r, "its documents are not those of this output", e);
}

/* The prefix of the frame. A document of the inverse is used at most twice: once for its bytes and once for its `_id`.
 * *taken: includes those of this record. */
static enum mrs_status
gather(struct mrsi_unpack *u, struct residue_pack_ops o, uint64_t *taken, struct mrs_err *e)
{
    MRS_ASSERT(o.at <= o.end);
    struct one x;
    struct mrs_view doc;
    int more;
    *taken = u->taken;
    mrs_buf_reset(&u->base);
    while ((more = next_op(u, &o, &x)) == 1) {
        *taken += x.op == MRSI_NEW ? 0 : x.n;
        if (*taken > 2 * u->offsets->n) {
            return wrong(u, e);
        }
        for (uint64_t i = 0; x.op == MRSI_MEND && i < x.n; i++) {
            MRS_TRY(mrsi_doc_offsets_get(u->offsets, x.first + i, &doc, e));
            mrs_buf_put(&u->base, doc.p, doc.n);
            if (u->base.bad) {
                return u->base.bad == 1 ? mrs_err_memory(e, doc.n) : wrong(u, e);
            }
        }
    }
    return more < 0 ? wrong(u, e) : MRS_OK;
}

/* The document of the frame at *at. */
static enum mrs_status
next_packed(const struct mrsi_unpack *u, size_t *at, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(*at <= u->docs.n);
    uint32_t n = u->docs.n - *at >= MRS_DOC_MIN ? mrs_le32(u->docs.p + *at) : 0;
    if (n < MRS_DOC_MIN || n > u->docs.n - *at || u->docs.p[*at + n - 1] != 0) {
        return wrong(u, e);
    }
    *doc = (struct mrs_view){u->docs.p + *at, n};
    *at += n;
    return MRS_OK;
}

/* The documents of one operation, without the first *skip, which is reduced by their number. */
static enum mrs_status
put_documents_of(struct mrsi_unpack *u, const struct one *x, uint64_t *skip, size_t *at, struct mrs_err *e)
{
    MRS_ASSERT(*at <= u->docs.n);
    struct mrs_view doc;
    uint64_t i = 0, past = *skip < x->n ? *skip : x->n;
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && i < past && x->op != MRSI_TAKE; i++) {
        s = next_packed(u, at, &doc, e);
    }
    *skip -= past;
    for (i = past; s == MRS_OK && i < x->n; i++) {
        s = x->op == MRSI_TAKE ? mrsi_doc_offsets_get(u->offsets, x->first + i, &doc, e) : next_packed(u, at, &doc, e);
        u->n_put++;
        MRS_THEN(s, u->put(u->arg, doc, e));
    }
    return s;
}

static enum mrs_status
put_documents(struct mrsi_unpack *u, struct residue_pack_ops *o, struct mrs_err *e)
{
    MRS_ASSERT(o->at <= o->end);
    struct one x;
    size_t at = 0;
    uint64_t skip = u->n_put;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && next_op(u, o, &x) == 1) {
        s = put_documents_of(u, &x, &skip, &at, e);
    }
    if (s == MRS_OK && skip) {
        return mrsi_state_damaged("documents of a residue", e);
    }
    return s == MRS_OK && at != u->docs.n ? wrong(u, e) : s;
}

void
mrsi_unpack_begin(struct mrsi_unpack *u, struct mrs_mem *mem, const struct mrs_residue *r,
                  struct mrsi_doc_offsets *offsets)
{
    memset(u, 0, sizeof *u);
    u->mem = mem;
    u->r = r;
    u->offsets = offsets;
    mrs_buf_init(&u->ops, mem, MRSI_RESIDUE_MAX / 4 + 1);
    mrs_buf_init(&u->docs, mem, MRSI_RESIDUE_MAX / 4 + 1);
    mrs_buf_init(&u->base, mem, MRSI_RESIDUE_MAX / 4 + 1);
}

void
mrsi_unpack_clear(struct mrsi_unpack *u)
{
    mrs_buf_clear(&u->ops);
    mrs_buf_clear(&u->docs);
    mrs_buf_clear(&u->base);
}

void
mrsi_unpack_save(const struct mrsi_unpack *u, struct mrs_build *b)
{
    mrs_build_i64(b, "next", (int64_t)u->next);
    mrs_build_i64(b, "taken", (int64_t)u->taken);
    mrs_build_i64(b, "given", (int64_t)u->n_put);
}

enum mrs_status
mrsi_unpack_load(struct mrsi_unpack *u, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    u->next = mrsi_state_number(saved, "next", INT64_MAX, &bad);
    u->taken = mrsi_state_number(saved, "taken", INT64_MAX, &bad);
    u->n_put = mrsi_state_number(saved, "given", INT64_MAX, &bad);
    return bad ? mrsi_state_damaged("documents of a residue", e) : MRS_OK;
}

enum mrs_status
mrsi_unpack(struct mrsi_unpack *u, struct mrs_err *e)
{
    MRS_ASSERT(u->put);
    uint64_t taken;
    const uint8_t *p = u->r->record.p;
    uint64_t n = u->r->record.n;
    if (n < LENGTHS || (uint64_t)mrs_le32(p + 4) + mrs_le32(p + 12) != n - LENGTHS ||
        mrs_le32(p) > MRSI_RESIDUE_MAX / 4 || mrs_le32(p + 8) > MRSI_RESIDUE_MAX / 4) {
        return mrsi_residue_damaged(u->r, "lengths do not fit", e);
    }
    mrs_buf_reset(&u->ops);
    mrs_buf_reset(&u->docs);
    struct mrs_delta ops = {NULL, 0, p + LENGTHS, mrs_le32(p + 4)};
    MRS_TRY(mrs_delta_unpack(u->mem, &ops, mrs_le32(p), &u->ops, e));
    struct residue_pack_ops o = {u->ops.p, u->ops.p + u->ops.n, u->next};
    enum mrs_status s = gather(u, o, &taken, e);
    if (s == MRS_OK && mrs_le32(p + 8)) {
        struct mrs_delta docs = {u->base.p, u->base.n, p + LENGTHS + ops.n, mrs_le32(p + 12)};
        s = mrs_delta_unpack(u->mem, &docs, mrs_le32(p + 8), &u->docs, e);
    }
    MRS_THEN(s, put_documents(u, &o, e));
    u->next = o.next;
    u->taken = taken;
    u->n_put = 0;
    return s;
}
