/* SPDX-License-Identifier: Apache-2.0 */
/* dumpdir.c - the contents of a dump directory: namespaces with their two files, and other files.
 *
 * The directory may be one of the file system or in a container: a lister lists its folders. It may be the root of a
 * dump or the folder of one database, which is guessed from the files directly in it. Names of files determine
 * namespaces, except for over-long ones, for which the metadata file must state them. Every other file is an "extra",
 * to be copied unchanged: no unknown file of a dump is lost. Listing is sorted, so that a run repeats. Must not open
 * files, except to recognize those that belong to no dump. */
#include "dumpdir.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define DEEPEST 8 /* nested folders below a database's folder */
#define BELOW_MOST 64 /* folders of a folder that are searched for a dump, for a message */

struct rec {
    enum { REC_DATA, REC_META, REC_EXTRA } kind;
    const char *key; /* sort key: the namespace; of extras the path below the root */
    const char *db, *coll;
    const struct mrsi_item *item;
    struct mrs_view doc; /* metadata, if they were read for the name */
};

struct dumpdir_scan {
    struct mrs_input *in;
    const struct mrsi_folder_lister *offsets;
    struct rec *recs;
    uint32_t n, cap;
    bool dump; /* something was found that only dumps have */
    bool probe; /* only tests whether it is a root: records nothing */
};

/* Folders inside a database's folder, still to be listed. */
struct folder {
    struct folder *next;
    const struct mrsi_item *item;
    const char *rel;
    int depth;
};

/* Detects files that the macOS desktop puts next to every file, by their first bytes: a file of any name may begin with
 * ._ */
static enum mrs_status
is_apple_note(const struct mrsi_item *item, bool *yes, struct mrs_err *e)
{
    static const uint8_t magic[4] = {0x00, 0x05, 0x16, 0x07};
    uint8_t head[4];
    size_t got = 0;
    int fd;
    *yes = false;
    if (item->place || item->folder || strncmp(item->name, "._", 2) != 0) {
        return MRS_OK; /* a container has excluded them */
    }
    enum mrs_status s = mrsi_open_regular(item->path, &fd, NULL, e);
    if (s == MRS_OK) {
        s = mrsi_pread_full(fd, head, sizeof head, 0, item->path, &got, e);
        close(fd);
    }
    *yes = s == MRS_OK && got == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    return s;
}

bool
mrsi_is_foreign_folder(const char *name, size_t n)
{
    static const char *const names[] = {"__MACOSX", "$RECYCLE.BIN", "System Volume Information", "lost+found",
                                        "@eaDir"};
    bool found = n > 0 && *name == '.';
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) {
        found = strlen(names[i]) == n && memcmp(name, names[i], n) == 0;
    }
    return found;
}

/* The data folder of a mongod is no dump, although it has a file storage.bson. */
static enum mrs_status
refuse_data_folder(const struct mrsi_items *items, struct mrs_err *e)
{
    MRS_ASSERT(items->at || items->n == 0);
    for (uint32_t i = 0; i < items->n; i++) {
        const struct mrsi_item *item = &items->at[i];
        if (!item->folder && (strcmp(item->name, "WiredTiger.wt") == 0 || strcmp(item->name, "mongod.lock") == 0)) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "%s: a mongod keeps its data in this folder: it is no dump; let mongod "
                             "run on it and give what mongodump writes", item->path);
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_note_passed(struct mrs_input *in, const char *path, struct mrs_err *e)
{
    const char **more = mrs_more(in->mem, in->passed, in->n_passed, &in->cap_passed, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    in->passed = more;
    in->passed[in->n_passed++] = path;
    return MRS_OK;
}

static enum mrs_status
pass_over(struct dumpdir_scan *c, struct mrsi_items *items, struct mrs_err *e)
{
    MRS_ASSERT(items->at || items->n == 0);
    struct mrsi_items kept = {mrs_arena_alloc(&c->in->arena, (items->n + 1) * sizeof *kept.at), 0};
    enum mrs_status s = mrs_allocated(kept.at, items->n * sizeof *kept.at, e);
    for (uint32_t i = 0; s == MRS_OK && i < items->n; i++) {
        const struct mrsi_item *item = &items->at[i];
        bool foreign;
        s = is_apple_note(item, &foreign, e);
        foreign = foreign || (item->folder && mrsi_is_foreign_folder(item->name, strlen(item->name)));
        if (s == MRS_OK && foreign && !c->probe) {
            s = mrsi_note_passed(c->in, item->path, e);
        } else if (s == MRS_OK && !foreign) {
            kept.at[kept.n++] = *item;
        }
    }
    *items = kept;
    return s;
}

static enum mrs_status
list(struct dumpdir_scan *c, const struct mrsi_item *folder, struct mrsi_items *out, struct mrs_err *e)
{
    *out = (struct mrsi_items){NULL, 0};
    enum mrs_status s = c->offsets->list(c->offsets, &c->in->arena, folder, out, e);
    if (s == MRS_OK && c->offsets == &mrsi_doc_offsets_files && !c->probe) {
        s = mrsi_watch_folder(c->in, folder, out, e);
    }
    MRS_THEN(s, refuse_data_folder(out, e));
    return s == MRS_OK ? pass_over(c, out, e) : s;
}

static enum mrs_status
join(struct dumpdir_scan *c, const char *a, const char *b, const char **out, struct mrs_err *e)
{
    *out = mrsi_arena_join(&c->in->arena, a, b);
    return *out ? MRS_OK : mrs_err_memory(e, strlen(a) + strlen(b));
}

static enum mrs_status
add(struct dumpdir_scan *c, const struct rec *rec, struct mrs_err *e)
{
    MRS_ASSERT(c->n <= c->cap);
    struct rec *more = mrs_more(c->in->mem, c->recs, c->n, &c->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    c->recs = more;
    c->recs[c->n++] = *rec;
    return MRS_OK;
}

static enum mrs_status
add_extra(struct dumpdir_scan *c, const struct mrsi_item *item, const char *rel, struct mrs_err *e)
{
    struct rec rec = {REC_EXTRA, rel, NULL, NULL, item, mrs_empty_doc()};
    return add(c, &rec, e);
}

/* An extra in the root or a database; a file of mongodump has the same name with any compression. */
static enum mrs_status
add_file(struct dumpdir_scan *c, const struct mrsi_item *item, const char *rel, struct mrs_err *e)
{
    MRS_ASSERT(item->name && !item->folder);
    size_t n = strlen(rel) - strlen(item->name) + mrsi_file_name(item->name).plain_n;
    char *plain = mrs_arena_alloc(&c->in->arena, n + 1);
    MRS_TRY(mrs_allocated(plain, n + 1, e));
    memcpy(plain, rel, n);
    plain[n] = 0;
    return add_extra(c, item, mrsi_is_of_tools(plain) ? plain : rel, e);
}

/* All files below a folder that belongs to no database, each an extra. */
static enum mrs_status
add_below(struct dumpdir_scan *c, const struct mrsi_item *item, const char *rel, struct mrs_err *e)
{
    MRS_ASSERT(item->folder);
    struct folder first = {NULL, item, rel, 1}, *todo = &first;
    enum mrs_status s = MRS_OK;
    while (todo && s == MRS_OK) {
        struct folder at = *todo;
        struct mrsi_items has = {NULL, 0};
        todo = at.next;
        s = at.depth > DEEPEST ? MRSI_FAIL(e, MRS_E_LIMIT,
                                           "%s: more than %d folders inside each other",
                                           at.item->path, DEEPEST)
                               : list(c, at.item, &has, e);
        for (uint32_t i = 0; s == MRS_OK && i < has.n; i++) {
            const char *below;
            s = join(c, at.rel, has.at[i].name, &below, e);
            if (s == MRS_OK && !has.at[i].folder) {
                s = add_extra(c, &has.at[i], below, e);
            } else if (s == MRS_OK) {
                struct folder *more = mrs_arena_alloc(&c->in->arena, sizeof *more);
                MRS_TRY(mrs_allocated(more, sizeof *more, e));
                *more = (struct folder){todo, &has.at[i], below, at.depth + 1};
                todo = more;
            }
        }
    }
    return s;
}

static enum mrs_status
set_names(struct dumpdir_scan *c, struct rec *rec, const char *db, const char *coll, struct mrs_err *e)
{
    size_t db_n = strlen(db), coll_n = strlen(coll);
    char *ns = mrs_arena_alloc(&c->in->arena, db_n + coll_n + 2);
    MRS_TRY(mrs_allocated(ns, db_n + coll_n + 2, e));
    memcpy(ns, db, db_n);
    ns[db_n] = '.';
    memcpy(ns + db_n + 1, coll, coll_n + 1);
    rec->key = ns;
    rec->db = db;
    rec->coll = ns + db_n + 1;
    return MRS_OK;
}

static const struct mrsi_item *
find(const struct mrsi_items *in, const char *name)
{
    for (uint32_t i = 0; i < in->n; i++) {
        if (!in->at[i].folder && strcmp(in->at[i].name, name) == 0) {
            return &in->at[i];
        }
    }
    return NULL;
}

/* The full name of a shortened one; the metadata file is next to it, with one of its suffixes. */
static enum mrs_status
long_name(struct dumpdir_scan *c, struct rec *rec, size_t stem_n, const struct mrsi_items *beside, const char **coll,
          struct mrs_err *e)
{
    static const char *const ends[] = {".metadata.json", ".metadata.json.gz", ".metadata.json.zst"};
    *coll = NULL;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !*coll; i++) {
        struct mrs_view doc;
        char *name = mrsi_format(c->in->mem, "%.*s%s", (int)stem_n, rec->item->name, ends[i]);
        MRS_TRY(mrs_allocated(name, stem_n, e));
        const struct mrsi_item *meta = find(beside, name);
        mrs_free(c->in->mem, name);
        if (!meta) {
            continue;
        }
        MRS_TRY(mrsi_metadata_load(c->in->mem, &c->in->arena, meta->path, meta->place, &doc, e));
        MRS_TRY(mrsi_metadata_coll(&c->in->arena, doc, meta->path, coll, e));
        if (rec->kind == REC_META) {
            rec->doc = doc;
        }
    }
    return *coll ? MRS_OK
                 : MRSI_FAIL(e, MRS_E_FORMAT,
                             "%s: a shortened name, and no metadata file next to it has the full name as "
                             "\"collectionName\"",
                             rec->item->path);
}

static enum mrs_status
add_namespace(struct dumpdir_scan *c, const char *db, const struct mrsi_item *item, const struct mrsi_items *beside,
              struct mrs_err *e)
{
    struct mrsi_file_name f = mrsi_file_name(item->name);
    struct rec rec = {f.kind == MRSI_FILE_DATA ? REC_DATA : REC_META, NULL, NULL, NULL, item, mrs_empty_doc()};
    const char *coll = NULL;
    enum mrs_status s;
    if (mrsi_name_is_cut(item->name, f.stem_n)) {
        s = long_name(c, &rec, f.stem_n, beside, &coll, e);
    } else {
        struct mrs_err own;
        mrs_err_clear(&own);
        s = mrsi_name_unescape(&c->in->arena, item->name, f.stem_n, &coll, &own);
        if (s != MRS_OK) {
            s = mrs_err_set(e, s, own.code, "%s: %s", item->path, own.msg);
        }
    }
    MRS_THEN(s, set_names(c, &rec, db, coll, e));
    c->dump = true;
    return s == MRS_OK ? add(c, &rec, e) : s;
}

static enum mrs_status
list_db(struct dumpdir_scan *c, const struct mrsi_item *folder, const char *db, struct mrs_err *e)
{
    MRS_ASSERT(folder->folder);
    struct mrsi_items has;
    enum mrs_status s = list(c, folder, &has, e);
    for (uint32_t i = 0; s == MRS_OK && i < has.n; i++) {
        const struct mrsi_item *item = &has.at[i];
        bool users = strncmp(item->name, "$admin.", 7) == 0;
        const char *rel;
        s = join(c, db, item->name, &rel, e);
        if (s != MRS_OK) {
            break;
        }
        if (item->folder) {
            s = add_below(c, item, rel, e);
        } else if (mrsi_file_name(item->name).kind == MRSI_FILE_OTHER || users) {
            c->dump = c->dump || users;
            s = add_file(c, item, rel, e);
        } else {
            s = add_namespace(c, db, item, &has, e);
        }
    }
    return s;
}

/* ---- root, or one database? ---- */
struct content {
    bool metadata, data, folders;
};

static void
inspect(const struct mrsi_items *in, struct content *has)
{
    memset(has, 0, sizeof *has);
    for (uint32_t i = 0; i < in->n; i++) {
        const struct mrsi_item *item = &in->at[i];
        struct mrsi_file_name f = mrsi_file_name(item->name);
        bool oplog = f.stem_n == 5 && strncmp(item->name, "oplog", 5) == 0;
        has->folders = has->folders || item->folder;
        has->metadata = has->metadata || (!item->folder && f.kind == MRSI_FILE_META);
        has->data = has->data || (!item->folder && f.kind == MRSI_FILE_DATA && !oplog);
    }
}

/* mongorestore ignores stray data files in a root; a folder is a root if a sub-folder has collections. */
static enum mrs_status
is_root(struct dumpdir_scan *c, const struct mrsi_item *folder, bool *root, struct mrs_err *e)
{
    struct mrsi_items top, sub;
    struct content has, inner;
    enum mrs_status s = list(c, folder, &top, e);
    inspect(&top, &has);
    *root = !has.metadata && !has.data;
    if (has.metadata || !has.data) {
        return s;
    }
    for (uint32_t i = 0; s == MRS_OK && i < top.n && !*root; i++) {
        if (top.at[i].folder) {
            s = list(c, &top.at[i], &sub, e);
            inspect(&sub, &inner);
            *root = inner.metadata || inner.data;
        }
    }
    return s;
}

enum mrs_status
mrsi_dump_is_root(struct mrs_input *in, const struct mrsi_folder_lister *offsets, const struct mrsi_item *folder,
                  bool *root, struct mrs_err *e)
{
    MRS_ASSERT(folder->folder && root);
    struct dumpdir_scan c = {.in = in, .offsets = offsets, .probe = true};
    return is_root(&c, folder, root, e);
}

static enum mrs_status
root_file(struct dumpdir_scan *c, const struct mrsi_item *item, struct mrs_err *e)
{
    const char *name = item->name;
    if (strcmp(name, MRSI_MARKER) == 0 && c->in->unfinished) {
        c->dump = true; /* its manifest comes last */
        return MRS_OK;
    }
    if (strcmp(name, MRSI_MARKER) == 0) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: this folder is the unfinished output of a run that was stopped",
                         item->path);
    }
    if (strcmp(name, MRSI_MANIFEST) == 0) {
        c->dump = true; /* perhaps without collections */
        return MRS_OK; /* describes the run that wrote this dump; not valid for a copy */
    }
    c->dump =
        c->dump || strncmp(name, "oplog.bson", 10) == 0 || strncmp(name, "prelude.json", 12) == 0;
    return add_file(c, item, name, e);
}

static enum mrs_status
list_root(struct dumpdir_scan *c, const struct mrsi_item *folder, struct mrs_err *e)
{
    MRS_ASSERT(folder->folder);
    struct mrsi_items has;
    enum mrs_status s = list(c, folder, &has, e);
    for (uint32_t i = 0; s == MRS_OK && i < has.n;
         i++) { /* all names first: a wrong folder is reported before it is traversed */
        const struct mrsi_item *item = &has.at[i];
        const char *wrong = item->folder ? mrs_db_wrong(item->name, strlen(item->name)) : NULL;
        if (wrong) {
            s = MRSI_FAIL(e, MRS_E_FORMAT, "%s is no database of a dump: %s", item->path, wrong);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < has.n; i++) {
        const struct mrsi_item *item = &has.at[i];
        s = item->folder ? list_db(c, item, item->name, e) : root_file(c, item, e);
    }
    return s;
}

/* The folder's own name; "." and soft links to it must be resolved first. */
static enum mrs_status
folder_db(struct mrs_input *in, const char *path, const char **db, struct mrs_err *e)
{
    char real[PATH_MAX];
    const char *base = mrsi_base_name(path);
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        if (!realpath(path, real)) {
            return mrs_err_sys(e, errno, "resolve %s", path);
        }
        base = mrsi_base_name(real);
    }
    const char *wrong = mrs_db_wrong(base, strlen(base));
    if (wrong) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: the folder is taken for a database of a dump, but %s", path, wrong);
    }
    *db = mrs_arena_copy(&in->arena, base, strlen(base) + 1);
    return *db ? MRS_OK : mrs_err_memory(e, strlen(base));
}

static int
by_key(const void *a, const void *b)
{
    const struct rec *x = a, *y = b;
    bool xe = x->kind == REC_EXTRA, ye = y->kind == REC_EXTRA;
    int order = xe != ye ? xe - ye : strcmp(x->key, y->key);
    order = order ? order : (int)x->kind - (int)y->kind;
    return order ? order : strcmp(x->item->path, y->item->path);
}

/* ---- records to entries ---- */
static enum mrs_status
two_files(const struct rec *a, const struct rec *b, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT, "two files for one %s%s: %s and %s (take one of them away)",
                     a->kind == REC_EXTRA ? "" : "namespace ", a->key, a->item->path, b->item->path);
}

static enum mrs_status
merge_group(struct dumpdir_scan *c, const struct rec *first, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    const struct rec *of[2] = {NULL, NULL}; /* data, metadata */
    for (uint32_t i = 0; i < n; i++) {
        const struct rec *rec = first + i;
        if (of[rec->kind]) {
            return two_files(of[rec->kind], rec, e);
        }
        of[rec->kind] = rec;
    }
    bool indexes = strcmp(first->coll, MRSI_OLD_INDEXES) == 0; /* decided when they have been read */
    if (!indexes && !mrsi_input_takes(c->in, first->db, first->coll, first->key)) {
        return mrsi_input_exclude(c->in, first->key, e);
    }
    struct mrs_input_ns *ns = mrsi_input_add(c->in);
    MRS_TRY(mrs_allocated(ns, sizeof *ns, e));
    ns->kind = MRS_INPUT_DATA;
    ns->db = first->db;
    ns->coll = first->coll;
    ns->ns = first->key;
    if (of[REC_DATA]) {
        ns->data_path = of[REC_DATA]->item->path;
        ns->data_place = of[REC_DATA]->item->place;
    }
    enum mrs_status s = MRS_OK;
    if (of[REC_META]) {
        ns->meta_path = of[REC_META]->item->path;
        ns->meta_place = of[REC_META]->item->place;
        ns->metadata = of[REC_META]->doc;
        s = ns->metadata.n > 5 ? MRS_OK
                               : mrsi_metadata_load(c->in->mem, &c->in->arena, ns->meta_path, ns->meta_place,
                                                    &ns->metadata, e);
    }
    return s == MRS_OK && ns->data_path ? mrsi_input_probe(c->in, ns, e) : s;
}

/* An oplog without entries is ignored. */
static enum mrs_status
probe_oplog(struct mrs_input *in, struct mrs_input_ns *ns, struct mrs_err *e)
{
    struct mrsi_source_from from;
    struct mrsi_source *src = NULL;
    uint8_t byte;
    size_t got;
    enum mrs_status s = mrsi_input_from(in, ns, &from, e);
    MRS_THEN(s, mrsi_source_open(in->mem, &from, &src, e));
    MRS_THEN(s, mrsi_source_read(src, &byte, 1, &got, e));
    ns->empty_oplog = s == MRS_END;
    mrsi_source_close(src);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
extra_entry(struct dumpdir_scan *c, const struct rec *rec, struct mrs_err *e)
{
    const char *base = rec->item->name;
    struct mrs_input_ns *ns = mrsi_input_add(c->in);
    MRS_TRY(mrs_allocated(ns, sizeof *ns, e));
    ns->kind = MRS_INPUT_EXTRA;
    ns->data_path = rec->item->path;
    ns->data_place = rec->item->place;
    ns->rel_path = rec->key;
    ns->file_bytes = rec->item->bytes;
    if (mrsi_file_name(base).kind == MRSI_FILE_OTHER && !mrsi_is_prelude(rec->key)) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_input_probe(c->in, ns, e);
    return s == MRS_OK && strcmp(rec->key, "oplog.bson") == 0 ? probe_oplog(c->in, ns, e) : s;
}

static enum mrs_status
merge(struct dumpdir_scan *c, struct mrs_err *e)
{
    MRS_ASSERT(c->n <= c->cap);
    enum mrs_status s = MRS_OK;
    if (c->n) {
        qsort(c->recs, c->n, sizeof *c->recs, by_key);
    }
    for (uint32_t i = 0, n; s == MRS_OK && i < c->n; i += n) {
        const struct rec *first = c->recs + i;
        n = 1;
        if (first->kind == REC_EXTRA) {
            bool twice = i + 1 < c->n && strcmp(first[1].key, first->key) == 0;
            s = twice ? two_files(&first[0], &first[1], e) : extra_entry(c, first, e);
            continue;
        }
        while (i + n < c->n && first[n].kind != REC_EXTRA &&
               strcmp(first[n].key, first->key) == 0) {
            n++;
        }
        s = merge_group(c, first, n, e);
    }
    return s;
}

/* Is it a dump, by the files in one of its folders? Those that cannot be read count as none. */
static bool
is_dump(struct dumpdir_scan *c, const struct mrsi_items *folders)
{
    struct mrsi_items in;
    struct content has = {.data = false};
    struct mrs_err e;
    mrs_err_clear(&e);
    for (uint32_t i = 0; i < folders->n && i < BELOW_MOST && !has.data && !has.metadata; i++) {
        if (folders->at[i].folder && list(c, &folders->at[i], &in, &e) == MRS_OK) {
            inspect(&in, &has);
        }
    }
    return has.data || has.metadata;
}

/* For the message: a dump in the folder, or in a folder of it; NULL: none. */
static const char *
dump_below(struct dumpdir_scan *c, const struct mrsi_item *top, uint32_t levels)
{
    struct mrsi_items has, inner;
    struct mrs_err e;
    const char *found = NULL;
    mrs_err_clear(&e);
    MRS_ASSERT(levels > 0 && levels <= 2);
    if (list(c, top, &has, &e) != MRS_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < has.n && i < BELOW_MOST && !found; i++) {
        const struct mrsi_item *item = &has.at[i];
        if (item->folder && list(c, item, &inner, &e) == MRS_OK) {
            found = is_dump(c, &inner) ? item->path : levels > 1 ? dump_below(c, item, levels - 1) : NULL;
        }
    }
    return found;
}

enum mrs_status
mrsi_dump_take(struct mrs_input *in, const struct mrsi_folder_lister *offsets, const struct mrsi_item *top,
               const char *db, struct mrs_err *e)
{
    MRS_ASSERT(top->folder);
    struct dumpdir_scan c = {.in = in, .offsets = offsets};
    enum mrs_status s = db ? list_db(&c, top, db, e) : list_root(&c, top, e);
    if (s == MRS_OK && !c.dump) {
        struct dumpdir_scan probe = {.in = in, .offsets = offsets, .probe = true};
        const char *below = dump_below(&probe, top, 2);
        s = MRSI_FAIL(e, MRS_E_MISSING, "%s: no dump here: no .bson and no .metadata.json file%s%s%s", top->path,
                      below ? "; " : "", below ? below : "", below ? " is one" : "");
    }
    MRS_THEN(s, merge(&c, e));
    MRS_THEN(s, mrsi_old_indexes(in, e));
    mrs_free(in->mem, c.recs);
    return s;
}

enum mrs_status
mrsi_dump_list(struct mrs_input *in, const char *path, struct mrs_err *e)
{
    size_t n = strlen(path);
    const char *db = NULL;
    bool root = false;
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    char *top = mrs_arena_alloc(&in->arena, n + 1);
    MRS_TRY(mrs_allocated(top, n + 1, e));
    memcpy(top, path, n);
    top[n] = 0;
    struct mrsi_item folder = {.name = top, .path = top, .folder = true};
    enum mrs_status s = mrsi_dump_is_root(in, &mrsi_doc_offsets_files, &folder, &root, e);
    if (s == MRS_OK && !root) {
        s = folder_db(in, top, &db, e);
    }
    return s == MRS_OK ? mrsi_dump_take(in, &mrsi_doc_offsets_files, &folder, db, e) : s;
}
