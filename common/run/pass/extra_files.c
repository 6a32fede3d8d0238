/* SPDX-License-Identifier: Apache-2.0 */
/* extra_files.c - checks files of a dump that are not collections, before the first step.
 *
 * mongorestore --oplogReplay applies the entries of oplog.bson to the data just restored, so an entry for a collection
 * that a step names would change the new schema by the rules of the old one. Entries for others may stay. Extra files
 * are copied byte for byte; those with documents are validated like any other, because a damaged file must not pass for
 * a good one. This file must not know the meaning of an entry, only its namespace. */
#include "pass.h"
#include "mongoreshape/words.h"

#define NESTED 8 /* applyOps within applyOps; a server nests two */

/* A collection that a step names, by its name in the input or a later one; "" as coll: any of the database. Buckets
 * belong to their time series. */
static bool
is_named(const struct mrsi_engine *en, const char *db, size_t db_len, const char *coll)
{
    size_t buckets = sizeof MRS_BUCKETS - 1;
    coll += strncmp(coll, MRS_BUCKETS, buckets) == 0 ? buckets : 0;
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_desc *d = &en->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            const struct mrs_coll *c = &d->sides[k].coll;
            if (strlen(c->db) == db_len && memcmp(c->db, db, db_len) == 0 && (!*coll || strcmp(c->coll, coll) == 0)) {
                return true;
            }
        }
    }
    return false;
}

static const char *
text_of(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "";
}

static bool
names_ns(const struct mrsi_engine *en, const char *ns)
{
    size_t db = strcspn(ns, ".");
    return ns[db] && is_named(en, ns, db, ns + db + 1);
}

/* Does a command on the database of ns affect a collection that the plan names? A command without a collection affects
 * all. */
static bool
command_names(const struct mrsi_engine *en, const char *ns, struct mrs_view o)
{
    MRS_ASSERT(ns && mrs_view_is_framed(o));
    static const char *const about_none[] = {"commitTransaction", "abortTransaction"};
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, o);
    if (mrs_walk_next(&w, &e) != 1) {
        return false;
    }
    if (MRS_IS_ONE_OF(e.name, about_none)) {
        return false;
    }
    const char *coll = e.v.type == MRS_STRING ? (const char *)e.v.p + 4 : "";
    if (strcmp(e.name, "renameCollection") == 0) {
        return names_ns(en, coll) || names_ns(en, text_of(o, "to"));
    }
    return is_named(en, ns, strcspn(ns, "."), coll);
}

/* An insert into system.indexes, as old servers recorded the build of an index, is one for the collection it names. */
static bool
write_names(const struct mrsi_engine *en, const char *ns, struct mrs_val o)
{
    bool build = strcmp(ns + strcspn(ns, "."), ".system.indexes") == 0 && o.type == MRS_DOCUMENT;
    return names_ns(en, ns) || (build && names_ns(en, text_of(mrs_val_view(o), "ns")));
}

/* Does an entry, or one nested in it, affect a collection that the plan names? *ns: the entry's namespace. */
static bool
entry_names(const struct mrsi_engine *en, struct mrs_view entry, const char **ns)
{
    MRS_ASSERT(mrs_view_is_framed(entry));
    struct mrs_walk lists[NESTED];
    struct mrs_elem e;
    int depth = 0;
    for (;;) {
        struct mrs_val o = mrs_doc_get(entry, "o");
        struct mrs_val inner = o.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(o), "applyOps") : mrs_missing();
        *ns = text_of(entry, "ns");
        if (strcmp(text_of(entry, "op"), "c") != 0) {
            if (write_names(en, *ns, o)) {
                return true;
            }
        } else if (inner.type == MRS_ARRAY) {
            if (depth == NESTED) {
                return true;
            }
            mrs_walk_init(&lists[depth++], mrs_val_view(inner));
        } else if (o.type != MRS_DOCUMENT || command_names(en, *ns, mrs_val_view(o))) {
            return true;
        }
        do {
            while (depth && mrs_walk_next(&lists[depth - 1], &e) != 1) {
                depth--;
            }
        } while (depth && e.v.type != MRS_DOCUMENT);
        if (!depth) {
            return false;
        }
        entry = mrs_val_view(e.v);
    }
}

static enum mrs_status
check_entry(const struct mrsi_engine *en, const struct mrs_input_ns *in, struct mrs_view doc, uint64_t no, uint64_t off,
            struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const char *ns;
    enum mrs_status s = mrsi_check_input(in, doc, no - 1, off, e);
    if (s == MRS_OK && strcmp(in->rel_path, "oplog.bson") == 0 && entry_names(en, doc, &ns)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                           "entry %llu of oplog.bson (%s) concerns a collection that the plan names: its entries have "
                           "the old schema; give --oplog drop to leave the oplog out",
                           (unsigned long long)no, *ns ? ns : "a command");
    }
    return s;
}

static enum mrs_status
read_extra(struct mrsi_engine *en, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(en->in));
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    mrs_block_init(&b, en->mem);
    enum mrs_status s = mrs_reader_open(en->in, i, MRSI_BLOCK, &r, e);
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, e)) == MRS_OK) {
        uint64_t no = b.first_doc;
        for (size_t at = 0; at < b.n && s == MRS_OK;) {
            struct mrs_view doc = {b.p + at, mrs_le32(b.p + at)};
            s = check_entry(en, mrs_input_at(en->in, i), doc, ++no, b.off + at, e);
            at += doc.n;
        }
    }
    mrs_reader_close(r);
    mrs_block_clear(&b);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrsi_check_extras(struct mrsi_engine *en, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        if (in->kind != MRS_INPUT_EXTRA) {
            continue;
        }
        const char *slash = strrchr(in->rel_path, '/');
        if (strcmp(in->rel_path, "oplog.bson") == 0 && en->opts->oplog_drop) {
            en->drop_oplog = true;
        } else if (strcmp(in->rel_path, "oplog.bson") == 0 ||
                   strncmp(slash ? slash + 1 : "", "$admin.system.", 14) == 0) {
            s = read_extra(en, i, e);
        }
    }
    return s;
}

bool
mrsi_is_oplog(const struct mrsi_engine *en, uint32_t i)
{
    const struct mrs_input_ns *in = mrs_input_at(en->in, i);
    return in->kind == MRS_INPUT_EXTRA && strcmp(in->rel_path, "oplog.bson") == 0;
}

bool
mrsi_extra_is_copied(const struct mrsi_engine *en, uint32_t i)
{
    const struct mrs_input_ns *in = mrs_input_at(en->in, i);
    return in->kind == MRS_INPUT_EXTRA && !(en->drop_oplog && mrsi_is_oplog(en, i)) &&
           mrs_format_holds(en->shape.format, in->rel_path);
}
