/* pack.c - an output that is one file: what stands below the partial folder, and what was copied, put into it.
 *
 * Collections are written as plain files of their own first, for their order, and whether there is a result at all, is
 * known at the end only. Copies are read from the input when their turn comes, so they are written once. */
#include "archive_out.h"

/* Items for what the records say. */
static enum mrs_status
collect(struct mrs_output *o, struct mrsi_items *t, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < o->n_recs; i++) {
        const struct mrsi_out_rec *rec = &o->recs[i];
        struct mrsi_entry *item;
        s = mrsi_items_add(t, rec->name, rec->extra, &item, e);
        if (s == MRS_OK) {
            item->data.copied = item->meta.copied = rec->copied;
            item->data.there = rec->data;
            item->rec = rec->data && !rec->copied ? rec : NULL;
        }
    }
    return s;
}

enum mrs_status
mrsi_pack_archive(struct mrs_output *o, int fd, const char *name, struct mrs_err *e)
{
    struct mrsi_archive_head head;
    struct mrsi_archive_out out;
    struct mrsi_items items;
    mrsi_items_init(&items, o);
    enum mrs_status s = mrsi_archive_out_open(o, fd, name, &out, e);
    s = s == MRS_OK ? collect(o, &items, e) : s;
    s = s == MRS_OK ? mrsi_items_settle(&items, &head, e) : s;
    s = s == MRS_OK ? mrsi_items_prelude(&items, &head, &out, e) : s;
    for (uint32_t i = 0; s == MRS_OK && i < items.n; i++) {
        s = items.at[i].merged ? MRS_OK : mrsi_items_body(&items, &items.at[i], &out, e);
    }
    s = s == MRS_OK ? mrsi_archive_out_finish(&out, e) : s;
    mrsi_archive_out_clear(&out);
    mrsi_items_clear(&items);
    return s;
}
