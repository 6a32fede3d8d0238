/* SPDX-License-Identifier: Apache-2.0 */
/* pack_output.c - an output that is one file: packs the files of the partial folder, and the copied files, into it.
 *
 * Collections are first written as separate plain files, since their order, and whether the run succeeds, are known
 * only at the end. Copies are read from the input at their turn, so they are written once. */
#include "archive_out.h"

/* Makes items from the records. */
static enum mrs_status
collect(struct mrs_output *o, struct mrsi_archive_items *t, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < o->n_recs; i++) {
        const struct mrsi_out_rec *rec = &o->recs[i];
        struct mrsi_archive_entry_out *item;
        s = mrsi_items_add(t, rec->name, rec->extra, &item, e);
        if (s == MRS_OK) {
            item->data.copied = item->meta.copied = rec->copied;
            item->data.there = rec->data;
            item->rec = rec->data && !rec->copied ? rec : NULL;
        }
    }
    return s;
}

struct pack_output_packing {
    struct mrsi_archive_out *out;
    const struct mrsi_archive_entry_out *item; /* the item being written */
};

static void
add_fields(void *arg, struct mrs_build *b)
{
    const struct pack_output_packing *p = arg;
    mrs_build_text(b, "item", p->item->data.name, (uint32_t)strlen(p->item->data.name));
    mrs_build_i64(b, "docs", (int64_t)p->out->docs);
    mrs_build_i64(b, "crc", (int64_t)p->out->crc);
    mrs_build_i64(b, "off", (int64_t)p->out->at.off);
    mrs_build_i64(b, "doc", (int64_t)p->out->at.doc);
    mrs_build_i64(b, "block", (int64_t)p->out->at.seq);
}

/* The item at which the run stopped; out is at its position. */
static enum mrs_status
find_begun(const struct mrsi_resumable *h, const struct mrsi_archive_items *items, struct mrsi_archive_out *out,
           uint32_t *i, struct mrs_err *e)
{
    const char *name = mrsi_saved_text(h->from, "item");
    out->docs = mrsi_saved_number(h->from, "docs");
    out->crc = mrsi_saved_number(h->from, "crc");
    out->at = (struct mrs_reader_at){mrsi_saved_number(h->from, "off"), mrsi_saved_number(h->from, "doc"),
                                     mrsi_saved_number(h->from, "block")};
    for (*i = 0; name && *i < items->n; (*i)++) {
        if (!items->at[*i].merged && strcmp(items->at[*i].data.name, name) == 0) {
            return MRS_OK;
        }
    }
    return mrsi_resumable_damaged(h, e);
}

static enum mrs_status
put_bodies(struct mrsi_archive_items *items, struct mrsi_resumable *resumed, struct mrsi_archive_out *out,
           struct mrs_err *e)
{
    struct pack_output_packing p = {out, NULL};
    bool begun = mrsi_resumable_is_resumed(resumed);
    uint32_t i = 0;
    enum mrs_status s = begun ? find_begun(resumed, items, out, &i, e) : MRS_OK;
    mrsi_resumable_writer(resumed, add_fields, &p);
    for (; s == MRS_OK && i < items->n; i++) {
        p.item = &items->at[i];
        s = p.item->merged ? MRS_OK : mrsi_items_body(items, p.item, begun, out, e);
        begun = false;
    }
    s = s == MRS_OK ? mrsi_output_input_same(items->o, e) : s; /* before the end mark that completes the archive */
    MRS_THEN(s, mrsi_archive_out_finish(out, e));
    mrsi_resumable_writer(resumed, NULL, NULL);
    return s;
}

enum mrs_status
mrsi_pack_archive(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(name);
    struct mrsi_archive_head head;
    struct mrsi_archive_out out;
    struct mrsi_archive_items items;
    mrsi_items_init(&items, o);
    enum mrs_status s = mrsi_archive_out_open(o, resumed, name, &out, e);
    MRS_THEN(s, collect(o, &items, e));
    MRS_THEN(s, mrsi_items_settle(&items, &head, e));
    if (s == MRS_OK && !mrsi_resumable_is_resumed(resumed)) {
        s = mrsi_items_prelude(&items, &head, &out, e);
    }
    MRS_THEN(s, put_bodies(&items, resumed, &out, e));
    mrsi_archive_out_clear(&out);
    mrsi_items_clear(&items);
    return s;
}
