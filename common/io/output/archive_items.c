/* SPDX-License-Identifier: Apache-2.0 */
/* archive_items.c - the namespaces of a new archive: their order, their names in it, the location of their bytes.
 *
 * Copied data is read from the input, the rest from the files below the partial folder. Users, roles and their version
 * come first and the oplog last, because mongorestore requires that; between them namespaces are sorted by name, so
 * that a run repeats. A time series is two collections in a directory and one entry here. */
#include "archive_out.h"
#include "mongoreshape/version.h"
#include <stdlib.h>
#include <unistd.h>

#define OLDEST "0.0.0"       /* of an unknown server */
#define PLAIN_SERIES "8.3.0" /* the first version whose time series have one name */
#define CONCURRENT 4         /* the default of mongodump; we have one open at a time */
#define MOST_CONCURRENT 64

enum { RANK_USERS, RANK_ROLES, RANK_VERSION, RANK_PLAIN, RANK_OPLOG };

void
mrsi_items_init(struct mrsi_archive_items *t, struct mrs_output *o)
{
    memset(t, 0, sizeof *t);
    t->o = o;
    mrs_buf_init(&t->text, o->mem, MRS_METADATA_MAX + (64u << 10));
    mrs_buf_init(&t->bson, o->mem, MRS_METADATA_MAX);
}

void
mrsi_items_clear(struct mrsi_archive_items *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        mrs_free(t->o->mem, t->at[i].db);
        mrs_free(t->o->mem, t->at[i].coll);
        mrs_free(t->o->mem, t->at[i].body_own);
    }
    mrs_free(t->o->mem, t->at);
    mrs_buf_clear(&t->text);
    mrs_buf_clear(&t->bson);
    t->at = NULL;
    t->n = t->cap = 0;
}

static int
rank_of(const char *db, const char *coll)
{
    if (!*db) {
        return RANK_OPLOG;
    }
    if (!mrs_archive_special(db, coll)) {
        return RANK_PLAIN;
    }
    const char *last = strrchr(coll, '.') + 1;
    return strcmp(last, "users") == 0 ? RANK_USERS : strcmp(last, "roles") == 0 ? RANK_ROLES : RANK_VERSION;
}

enum mrs_status
mrsi_items_add(struct mrsi_archive_items *t, const char *name, bool extra, struct mrsi_archive_entry_out **out,
               struct mrs_err *e)
{
    MRS_ASSERT(t->n <= t->cap && name);
    struct mrs_mem *mem = t->o->mem;
    struct mrsi_archive_entry_out *more = mrs_more(mem, t->at, t->n, &t->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    t->at = more;
    struct mrsi_archive_entry_out *item = &t->at[t->n++];
    size_t db = strcspn(name, extra ? "/" : "."), coll = db + (name[db] != 0), end = strlen(name);
    if (extra) { /* oplog.bson, db/$admin.system.users.bson.gz */
        coll = name[db] ? coll : 0;
        db = name[db] ? db : 0;
        end = coll + mrsi_file_name(name + coll).stem_n;
    }
    memset(item, 0, sizeof *item);
    item->db = mrs_strndup(mem, name, db);
    item->coll = mrs_strndup(mem, name + coll, end - coll);
    if (!item->db || !item->coll) {
        return mrs_err_memory(e, end);
    }
    item->body = item->coll;
    item->type = "";
    item->data.name = item->meta.name = name;
    item->extra = extra;
    item->rank = rank_of(item->db, item->coll);
    *out = item;
    return MRS_OK;
}

/* ---- location of bytes ---- */
static int
find_order(const struct mrs_input_ns *ns, bool extra, const char *name)
{
    bool other = ns->kind == MRS_INPUT_EXTRA;
    return other != extra ? other - extra : strcmp(extra ? ns->rel_path : ns->ns, name);
}

/* The entry of the input that was copied. */
static enum mrs_status
find_copied(const struct mrsi_archive_items *t, const char *name, bool extra, uint32_t *index, struct mrs_err *e)
{
    const struct mrs_input *in = t->o->in;
    uint32_t low = 0, high = in ? in->n : 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = find_order(&in->list[mid], extra, name);
        if (order == 0) {
            *index = mid;
            return MRS_OK;
        }
        low = order < 0 ? mid + 1 : low;
        high = order < 0 ? high : mid;
    }
    return MRSI_FAIL(e, MRS_E_ACCOUNT, "%s was copied, and the input does not have it", name);
}

/* A file below the partial folder; the caller owns *path. */
static enum mrs_status
path_of(struct mrs_output *o, const struct mrsi_entry_part *part, bool data, char **path, struct mrs_err *e)
{
    size_t n = strcspn(part->name, ".");
    char *db = mrs_strndup(o->mem, part->name, n), *rel = NULL;
    if (db) {
        rel = data ? mrsi_output_data_rel(o, db, part->name + n + 1) : mrsi_output_meta_rel(o, db, part->name + n + 1);
    }
    *path = rel ? mrsi_format(o->mem, "%s/%s", o->partial, rel) : NULL;
    mrs_free(o->mem, rel);
    mrs_free(o->mem, db);
    return *path ? MRS_OK : mrs_err_memory(e, n);
}

/* Reads metadata into t->text; nothing if there are none. */
static enum mrs_status
load_metadata(struct mrsi_archive_items *t, const struct mrsi_archive_entry_out *item, struct mrs_err *e)
{
    MRS_ASSERT(item->db && item->coll);
    struct mrs_output *o = t->o;
    struct stat st;
    uint32_t index;
    char *path = NULL;
    enum mrs_status s;
    mrs_buf_reset(&t->text);
    if (item->extra) {
        return MRS_OK;
    }
    if (item->metadata) {
        mrs_buf_put(&t->text, item->metadata, item->metadata_n);
        return mrs_buf_status(&t->text, e);
    }
    if (item->meta.copied) {
        s = find_copied(t, item->meta.name, false, &index, e);
        return s == MRS_OK ? mrs_input_metadata_text(o->in, index, &t->text, e) : s;
    }
    s = path_of(o, &item->meta, false, &path, e);
    if (s == MRS_OK && lstat(path, &st) == 0) {
        s = mrsi_read_decoded(o->mem, path, NULL, &t->text, e);
    }
    mrs_free(o->mem, path);
    return s;
}

/* The type by its metadata. */
static enum mrs_status
find_type(struct mrsi_archive_items *t, struct mrsi_archive_entry_out *item, struct mrs_err *e)
{
    static const char *const words[] = {"view", "timeseries", "collection"};
    struct mrs_view doc, options;
    uint32_t n;
    if (item->extra) {
        return MRS_OK;
    }
    enum mrs_status s = load_metadata(t, item, e);
    s = s == MRS_OK
            ? mrsi_metadata_parse(&t->bson, (const char *)t->text.p, t->text.n, item->meta.name, &doc, e)
            : s;
    if (s != MRS_OK) {
        return s;
    }
    struct mrs_val type_val = mrs_doc_get(doc, "type"), o = mrs_doc_get(doc, "options");
    const char *word = type_val.type == MRS_STRING ? mrs_val_text(type_val, &n) : "";
    options = o.type == MRS_DOCUMENT ? mrs_val_view(o) : mrs_empty_doc();
    item->type = mrs_doc_get(options, "viewOn").type != MRS_MISSING       ? "view"
                 : mrs_doc_get(options, "timeseries").type != MRS_MISSING ? "timeseries"
                                                                          : "collection";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        item->type = strcmp(word, words[i]) == 0 ? words[i] : item->type;
    }
    return MRS_OK;
}

/* ---- order and names ---- */
static int
by_order(const void *a, const void *b)
{
    const struct mrsi_archive_entry_out *x = a, *y = b;
    int order = x->rank - y->rank;
    order = order ? order : strcmp(x->db, y->db);
    return order ? order : strcmp(x->coll, y->coll);
}

static bool
is_series(const struct mrsi_archive_entry_out *item)
{
    return strcmp(item->type, "timeseries") == 0;
}

/* Merges buckets into their time series. */
static void
join_buckets(struct mrsi_archive_items *t, struct mrsi_archive_entry_out *buckets)
{
    MRS_ASSERT(t->n <= t->cap);
    size_t n = sizeof MRSI_BUCKETS - 1;
    struct mrsi_archive_entry_out key = *buckets;
    if (buckets->extra || strncmp(buckets->coll, MRSI_BUCKETS, n) != 0) {
        return;
    }
    key.coll = buckets->coll + n;
    struct mrsi_archive_entry_out *series = bsearch(&key, t->at, t->n, sizeof key, by_order);
    if (series && is_series(series) && !series->data.there) {
        series->body = buckets->coll;
        series->data = buckets->data;
        series->rec = buckets->rec;
        buckets->merged = true;
    }
}

/* The version of the server determines the name in the blocks of a time series, so it must fit the data. */
static enum mrs_status
settle_series(struct mrsi_archive_items *t, struct mrsi_archive_head *head, struct mrs_err *e)
{
    const struct mrsi_archive_entry_out *plain = NULL, *buckets = NULL;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct mrsi_archive_entry_out *item = &t->at[i];
        plain = is_series(item) && item->data.there && item->body == item->coll ? item : plain;
        buckets = is_series(item) && item->body != item->coll ? item : buckets;
    }
    if (mrsi_version_wrong(head->server_version)) {
        head->server_version = plain ? PLAIN_SERIES : OLDEST;
    }
    bool has_buckets = mrsi_version_has_buckets(head->server_version);
    const struct mrsi_archive_entry_out *odd = has_buckets ? plain : buckets;
    if (odd) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s.%s: the data of this time series are in %s, where those of a server %s are not: no "
                         "archive can say so, write a directory",
                         odd->db, odd->coll, odd->body, head->server_version);
    }
    for (uint32_t i = 0; has_buckets && i < t->n; i++) {
        struct mrsi_archive_entry_out *item = &t->at[i];
        if (is_series(item) && item->body == item->coll) {
            item->body_own = mrsi_format(t->o->mem, MRSI_BUCKETS "%s", item->coll);
            item->body = item->body_own;
            MRS_TRY(mrs_allocated(item->body, strlen(item->coll), e));
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_items_settle(struct mrsi_archive_items *t, struct mrsi_archive_head *head, struct mrs_err *e)
{
    const struct mrs_output *o = t->o;
    uint32_t many = o->origin.concurrent;
    enum mrs_status s = MRS_OK;
    head->concurrent = many && many <= MOST_CONCURRENT ? many : CONCURRENT;
    head->server_version = o->origin.server_version ? o->origin.server_version : "";
    head->tool_version = many || (o->origin.tool_version && *o->origin.tool_version) ? o->origin.tool_version
                                                                                    : "mongoreshape " MRS_VERSION;
    if (t->n) {
        qsort(t->at, t->n, sizeof *t->at, by_order);
    }
    for (uint32_t i = 0; s == MRS_OK && i < t->n; i++) {
        s = find_type(t, &t->at[i], e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < t->n; i++) {
        join_buckets(t, &t->at[i]);
    }
    return s == MRS_OK ? settle_series(t, head, e) : s;
}

enum mrs_status
mrsi_items_prelude(struct mrsi_archive_items *t, const struct mrsi_archive_head *head, struct mrsi_archive_out *out,
                   struct mrs_err *e)
{
    enum mrs_status s = mrsi_archive_put_head(out, head, e);
    for (uint32_t i = 0; s == MRS_OK && i < t->n; i++) {
        const struct mrsi_archive_entry_out *item = &t->at[i];
        if (item->merged) {
            continue;
        }
        s = load_metadata(t, item, e);
        struct mrsi_archive_entry entry = {item->db, item->coll, item->type, (const char *)t->text.p,
                                           (uint32_t)t->text.n};
        entry.metadata = entry.metadata_n ? entry.metadata : "";
        MRS_THEN(s, mrsi_archive_put_entry(out, &entry, e));
    }
    return s == MRS_OK ? mrsi_archive_put_end(out, e) : s;
}

/* The reader of an item's documents; path and fd: of a file below the partial folder, else NULL and -1. */
struct body {
    struct mrs_reader *r;
    char *path;
    int fd;
};

static enum mrs_status
open_body(struct mrsi_archive_items *t, const struct mrsi_archive_entry_out *item, struct body *b, struct mrs_err *e)
{
    MRS_ASSERT(item->body || item->body_own);
    struct mrs_output *o = t->o;
    struct stat st;
    uint32_t index;
    if (item->data.copied) {
        enum mrs_status s = find_copied(t, item->data.name, item->extra, &index, e);
        return s == MRS_OK ? mrs_reader_open(o->in, index, 0, &b->r, e) : s;
    }
    enum mrs_status s = path_of(o, &item->data, true, &b->path, e);
    MRS_THEN(s, mrsi_open_read(b->path, &b->fd, &st, e));
    return s == MRS_OK ? mrs_reader_fd(o->mem, b->fd, UINT64_MAX, b->path, 0, &b->r, e) : s;
}

enum mrs_status
mrsi_items_body(struct mrsi_archive_items *t, const struct mrsi_archive_entry_out *item, bool begun,
                struct mrsi_archive_out *out, struct mrs_err *e)
{
    MRS_ASSERT(item->db && item->coll && !item->done);
    struct mrs_output *o = t->o;
    struct body b = {NULL, NULL, -1};
    enum mrs_status s = item->data.there ? open_body(t, item, &b, e) : MRS_OK;
    if (s == MRS_OK && begun) {
        s = b.r ? mrs_reader_go_on(b.r, &out->at, e) : mrsi_resumable_damaged(out->resumed, e);
    }
    MRS_THEN(s, mrsi_archive_put_ns(out, item->db, item->body, b.r, begun, e));
    if (s == MRS_OK && item->rec && out->docs != item->rec->docs) {
        s = MRSI_FAIL(e, MRS_E_ACCOUNT, "%s: %llu documents were written, %llu are there", item->data.name,
                      (unsigned long long)item->rec->docs, (unsigned long long)out->docs);
    }
    mrs_reader_close(b.r);
    if (b.fd >= 0) {
        close(b.fd);
    }
    if (s == MRS_OK && b.path && o->stream) {
        (void)unlink(b.path); /* it has been written: frees its disk space */
    }
    mrs_free(o->mem, b.path);
    return s;
}
