/* dumpdir.c - what lies in a dump directory: namespaces with their two files, and everything else.
 *
 * The folder may be the root of a dump or the folder of one database; which of them is guessed from
 * the files directly in it. Names of files decide namespaces, but for the over-long ones, whose
 * metadata file must say them. Every other file is an "extra", to be copied as it is: nothing of a
 * dump gets lost because we do not know it. Soft links are followed, as mongorestore does. Listing
 * is sorted, so that a run repeats. */
#include "internal.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define DEEPEST 8 /* folders in folders below a database's: a loop of soft links must end */

struct rec {
    enum { REC_DATA, REC_META, REC_EXTRA } kind;
    const char *key; /* sorted by it: the namespace; of extras the path below the root */
    const char *db, *coll;
    const char *path;
    struct mrs_view doc; /* metadata, where they had to be read for the name */
};

struct scan {
    struct mrs_input *in;
    struct rec *recs;
    uint32_t n, cap;
    bool dump; /* something that only dumps have was seen */
};

/* Folders inside a database's folder, yet to be listed. */
struct folder {
    struct folder *next;
    const char *path, *rel;
    int depth;
};

static enum mrs_status
join(struct scan *c, const char *a, const char *b, const char **out, struct mrs_err *e)
{
    size_t n = strlen(a), k = strlen(b);
    char *text = mrs_arena_alloc(&c->in->arena, n + k + 2);
    if (!text) {
        return mrs_err_memory(e, n + k + 2);
    }
    memcpy(text, a, n);
    text[n] = '/';
    memcpy(text + n + 1, b, k + 1);
    *out = text;
    return MRS_OK;
}

static enum mrs_status
add(struct scan *c, const struct rec *rec, struct mrs_err *e)
{
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? 2 * c->cap : 64;
        struct rec *more = mrs_realloc(c->in->mem, c->recs, cap * sizeof *more);
        if (!more) {
            return mrs_err_memory(e, cap * sizeof *more);
        }
        c->recs = more;
        c->cap = cap;
    }
    c->recs[c->n++] = *rec;
    return MRS_OK;
}

static enum mrs_status
is_folder(const char *path, bool *folder, struct mrs_err *e)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        return mrs_err_sys(e, errno, "open %s", path);
    }
    *folder = S_ISDIR(st.st_mode);
    return *folder || S_ISREG(st.st_mode)
               ? MRS_OK
               : MRSI_FAIL(e, MRS_E_FORMAT, "%s: neither a file nor a folder", path);
}

static enum mrs_status
add_extra(struct scan *c, const char *path, const char *rel, struct mrs_err *e)
{
    struct rec rec = {REC_EXTRA, rel, NULL, NULL, path, mrs_empty_doc()};
    return add(c, &rec, e);
}

/* All files below a folder that no database knows, each an extra. */
static enum mrs_status
add_below(struct scan *c, const char *path, const char *rel, struct mrs_err *e)
{
    struct folder first = {NULL, path, rel, 1}, *todo = &first;
    enum mrs_status s = MRS_OK;
    while (todo && s == MRS_OK) {
        struct folder at = *todo;
        const char **names;
        uint32_t n;
        todo = at.next;
        s = at.depth > DEEPEST ? MRSI_FAIL(e, MRS_E_LIMIT,
                                           "%s: more than %d folders inside each other "
                                           "(a loop of soft links?)",
                                           at.path, DEEPEST)
                               : mrsi_list_dir(&c->in->arena, at.path, &names, &n, e);
        for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
            struct folder *more = mrs_arena_alloc(&c->in->arena, sizeof *more);
            bool folder = false;
            if (!more) {
                return mrs_err_memory(e, sizeof *more);
            }
            *more = (struct folder){todo, NULL, NULL, at.depth + 1};
            s = join(c, at.path, names[i], &more->path, e);
            s = s == MRS_OK ? join(c, at.rel, names[i], &more->rel, e) : s;
            s = s == MRS_OK ? is_folder(more->path, &folder, e) : s;
            if (s == MRS_OK && folder) {
                todo = more;
            } else if (s == MRS_OK) {
                s = add_extra(c, more->path, more->rel, e);
            }
        }
    }
    return s;
}

static enum mrs_status
set_names(struct scan *c, struct rec *rec, const char *db, const char *coll, struct mrs_err *e)
{
    size_t db_n = strlen(db), coll_n = strlen(coll);
    char *ns = mrs_arena_alloc(&c->in->arena, db_n + coll_n + 2);
    if (!ns) {
        return mrs_err_memory(e, db_n + coll_n + 2);
    }
    memcpy(ns, db, db_n);
    ns[db_n] = '.';
    memcpy(ns + db_n + 1, coll, coll_n + 1);
    rec->key = ns;
    rec->db = db;
    rec->coll = ns + db_n + 1;
    return MRS_OK;
}

/* The whole name of a shortened one; the metadata file is beside, in one of its spellings. */
static enum mrs_status
long_name(struct scan *c, struct rec *rec, size_t stem_n, const char **coll, struct mrs_err *e)
{
    static const char *const ends[] = {".metadata.json", ".metadata.json.gz", ".metadata.json.zst"};
    const char *base = mrsi_base_name(rec->path);
    size_t n = (size_t)(base - rec->path) + stem_n;
    *coll = NULL;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !*coll; i++) {
        struct stat st;
        struct mrs_view doc;
        char *meta = mrsi_format(c->in->mem, "%.*s%s", (int)n, rec->path, ends[i]);
        if (!meta) {
            return mrs_err_memory(e, n);
        }
        enum mrs_status s = MRS_OK;
        if (stat(meta, &st) == 0) {
            s = mrsi_metadata_load(c->in->mem, &c->in->arena, meta, NULL, &doc, e);
            s = s == MRS_OK ? mrsi_metadata_coll(&c->in->arena, doc, meta, coll, e) : s;
            if (s == MRS_OK && rec->kind == REC_META) {
                rec->doc = doc;
            }
        }
        mrs_free(c->in->mem, meta);
        if (s != MRS_OK) {
            return s;
        }
    }
    return *coll ? MRS_OK
                 : MRSI_FAIL(e, MRS_E_FORMAT,
                             "%s: a shortened name, and no metadata file beside it has the "
                             "whole one as \"collectionName\"",
                             rec->path);
}

static enum mrs_status
add_namespace(struct scan *c, const char *db, const char *path, const struct mrsi_file_name *f,
              struct mrs_err *e)
{
    struct rec rec = {
        f->kind == MRSI_FILE_DATA ? REC_DATA : REC_META, NULL, NULL, NULL, path, mrs_empty_doc()};
    const char *base = mrsi_base_name(path), *coll = NULL;
    enum mrs_status s;
    if (mrsi_name_is_cut(base, f->stem_n)) {
        s = long_name(c, &rec, f->stem_n, &coll, e);
    } else {
        struct mrs_err own;
        mrs_err_clear(&own);
        s = mrsi_name_unescape(&c->in->arena, base, f->stem_n, &coll, &own);
        if (s != MRS_OK) {
            s = mrs_err_set(e, s, own.code, "%s: %s", path, own.msg);
        }
    }
    s = s == MRS_OK ? set_names(c, &rec, db, coll, e) : s;
    c->dump = true;
    return s == MRS_OK ? add(c, &rec, e) : s;
}

static enum mrs_status
list_db(struct scan *c, const char *path, const char *db, struct mrs_err *e)
{
    const char **names;
    uint32_t n;
    enum mrs_status s = mrsi_list_dir(&c->in->arena, path, &names, &n, e);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        struct mrsi_file_name f = mrsi_file_name(names[i]);
        bool users = strncmp(names[i], "$admin.", 7) == 0;
        const char *file, *rel;
        bool folder = false;
        s = join(c, path, names[i], &file, e);
        s = s == MRS_OK ? join(c, db, names[i], &rel, e) : s;
        s = s == MRS_OK ? is_folder(file, &folder, e) : s;
        if (s != MRS_OK) {
            break;
        }
        if (folder) {
            s = add_below(c, file, rel, e);
        } else if (f.kind == MRSI_FILE_OTHER || users) {
            c->dump = c->dump || users;
            s = add_extra(c, file, rel, e);
        } else {
            s = add_namespace(c, db, file, &f, e);
        }
    }
    return s;
}

/* ---- root, or one database? ---- */
struct content {
    bool metadata, data, folders;
};

static enum mrs_status
look(struct scan *c, const char *path, struct content *has, struct mrs_err *e)
{
    const char **names;
    uint32_t n;
    memset(has, 0, sizeof *has);
    enum mrs_status s = mrsi_list_dir(&c->in->arena, path, &names, &n, e);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        struct mrsi_file_name f = mrsi_file_name(names[i]);
        bool oplog = f.stem_n == 5 && strncmp(names[i], "oplog", 5) == 0;
        const char *file;
        bool folder = false;
        s = join(c, path, names[i], &file, e);
        s = s == MRS_OK ? is_folder(file, &folder, e) : s;
        has->folders = has->folders || folder;
        has->metadata = has->metadata || (!folder && f.kind == MRSI_FILE_META);
        has->data = has->data || (!folder && f.kind == MRSI_FILE_DATA && !oplog);
    }
    return s;
}

/* Stray data files in a root are ignored by mongorestore; a folder is a root where a sub-folder
 * holds collections. */
static enum mrs_status
is_root(struct scan *c, const char *path, bool *root, struct mrs_err *e)
{
    struct content has, inner;
    enum mrs_status s = look(c, path, &has, e);
    *root = !has.metadata && !has.data;
    if (s != MRS_OK || has.metadata || !has.data || !has.folders) {
        return s;
    }
    const char **names;
    uint32_t n;
    s = mrsi_list_dir(&c->in->arena, path, &names, &n, e);
    for (uint32_t i = 0; s == MRS_OK && i < n && !*root; i++) {
        const char *sub;
        bool folder = false;
        s = join(c, path, names[i], &sub, e);
        s = s == MRS_OK ? is_folder(sub, &folder, e) : s;
        if (s == MRS_OK && folder) {
            s = look(c, sub, &inner, e);
            *root = inner.metadata || inner.data;
        }
    }
    return s;
}

static enum mrs_status
root_file(struct scan *c, const char *path, const char *name, struct mrs_err *e)
{
    if (strcmp(name, MRSI_MARKER) == 0 && c->in->unfinished) {
        return MRS_OK;
    }
    if (strcmp(name, MRSI_MARKER) == 0) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: this folder is the unfinished output of a run that was stopped",
                         path);
    }
    if (strcmp(name, MRSI_MANIFEST) == 0) {
        c->dump = true; /* perhaps of no collections */
        return MRS_OK; /* tells of the run that wrote this dump, which is not true of a copy */
    }
    c->dump =
        c->dump || strncmp(name, "oplog.bson", 10) == 0 || strncmp(name, "prelude.json", 12) == 0;
    return add_extra(c, path, name, e);
}

static enum mrs_status
list_root(struct scan *c, const char *path, struct mrs_err *e)
{
    const char **names;
    uint32_t n;
    enum mrs_status s = mrsi_list_dir(&c->in->arena, path, &names, &n, e);
    bool *folder = NULL;
    if (s == MRS_OK && n) {
        folder = mrs_arena_alloc(&c->in->arena, n * sizeof *folder);
        s = folder ? MRS_OK : mrs_err_memory(e, n);
    }
    for (uint32_t i = 0; s == MRS_OK && i < n;
         i++) { /* all names first: a wrong folder is told before it is walked */
        const char *file;
        s = join(c, path, names[i], &file, e);
        s = s == MRS_OK ? is_folder(file, &folder[i], e) : s;
        const char *wrong =
            s == MRS_OK && folder[i] ? mrsi_db_wrong(names[i], strlen(names[i])) : NULL;
        if (wrong) {
            s = MRSI_FAIL(e, MRS_E_FORMAT, "%s is no database of a dump: %s", file, wrong);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        const char *file;
        s = join(c, path, names[i], &file, e);
        if (s == MRS_OK) {
            s = folder[i] ? list_db(c, file, names[i], e) : root_file(c, file, names[i], e);
        }
    }
    return s;
}

/* The folder's own name; "." and soft links to it have one only after resolving. */
static enum mrs_status
folder_db(struct scan *c, const char *path, const char **db, struct mrs_err *e)
{
    char real[PATH_MAX];
    const char *base = mrsi_base_name(path);
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        if (!realpath(path, real)) {
            return mrs_err_sys(e, errno, "resolve %s", path);
        }
        base = mrsi_base_name(real);
    }
    const char *wrong = mrsi_db_wrong(base, strlen(base));
    if (wrong) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: the folder is taken for a database of a dump, but %s", path, wrong);
    }
    *db = mrs_arena_copy(&c->in->arena, base, strlen(base) + 1);
    return *db ? MRS_OK : mrs_err_memory(e, strlen(base));
}

static int
by_key(const void *a, const void *b)
{
    const struct rec *x = a, *y = b;
    bool xe = x->kind == REC_EXTRA, ye = y->kind == REC_EXTRA;
    int order = xe != ye ? xe - ye : strcmp(x->key, y->key);
    order = order ? order : (int)x->kind - (int)y->kind;
    return order ? order : strcmp(x->path, y->path);
}

/* ---- records to entries ---- */
static enum mrs_status
merge_group(struct scan *c, const struct rec *first, uint32_t n, struct mrs_err *e)
{
    const struct rec *of[2] = {NULL, NULL}; /* data, metadata */
    for (uint32_t i = 0; i < n; i++) {
        const struct rec *rec = first + i;
        if (of[rec->kind]) {
            return MRSI_FAIL(e, MRS_E_FORMAT,
                             "two files for one namespace %s: %s and %s (take one of them away)", rec->key,
                             of[rec->kind]->path, rec->path);
        }
        of[rec->kind] = rec;
    }
    if (!mrsi_input_takes(c->in, first->db, first->coll, first->key)) {
        return mrsi_input_exclude(c->in, first->key, e);
    }
    struct mrs_input_ns *ns = mrsi_input_add(c->in);
    if (!ns) {
        return mrs_err_memory(e, sizeof *ns);
    }
    ns->kind = MRS_INPUT_DATA;
    ns->db = first->db;
    ns->coll = first->coll;
    ns->ns = first->key;
    ns->data_path = of[REC_DATA] ? of[REC_DATA]->path : NULL;
    ns->meta_path = of[REC_META] ? of[REC_META]->path : NULL;
    enum mrs_status s = MRS_OK;
    if (of[REC_META] && of[REC_META]->doc.n > 5) {
        ns->metadata = of[REC_META]->doc;
    } else if (of[REC_META]) {
        s = mrsi_metadata_load(c->in->mem, &c->in->arena, ns->meta_path, ns->meta_place, &ns->metadata, e);
    }
    return s == MRS_OK && ns->data_path ? mrsi_input_probe(c->in, ns, e) : s;
}

static enum mrs_status
extra_entry(struct scan *c, const struct rec *rec, struct mrs_err *e)
{
    const char *base = mrsi_base_name(rec->key);
    struct mrs_input_ns *ns = mrsi_input_add(c->in);
    struct stat st;
    if (!ns) {
        return mrs_err_memory(e, sizeof *ns);
    }
    ns->kind = MRS_INPUT_EXTRA;
    ns->data_path = rec->path;
    ns->rel_path = rec->key;
    if (mrsi_file_name(base).kind == MRSI_FILE_OTHER && strncmp(base, "prelude.json", 12) != 0) {
        if (stat(rec->path, &st) < 0) {
            return mrs_err_sys(e, errno, "open %s", rec->path);
        }
        ns->file_bytes = (uint64_t)st.st_size;
        return MRS_OK;
    }
    enum mrs_status s = mrsi_input_probe(c->in, ns, e);
    if (s == MRS_OK && strcmp(rec->key, "oplog.bson") == 0) {
        struct mrsi_source_from from;
        struct mrsi_source *src = NULL;
        uint8_t byte;
        size_t got;
        s = mrsi_input_from(c->in, ns, &from, e);
        s = s == MRS_OK ? mrsi_source_open(c->in->mem, &from, &src, e) : s;
        s = s == MRS_OK ? mrsi_source_read(src, &byte, 1, &got, e) : s;
        ns->empty_oplog = s == MRS_END;
        s = s == MRS_END ? MRS_OK : s;
        mrsi_source_close(src);
    }
    return s;
}

static enum mrs_status
merge(struct scan *c, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (c->n) {
        qsort(c->recs, c->n, sizeof *c->recs, by_key);
    }
    for (uint32_t i = 0, n; s == MRS_OK && i < c->n; i += n) {
        const struct rec *first = c->recs + i;
        n = 1;
        if (first->kind == REC_EXTRA) {
            s = extra_entry(c, first, e);
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

enum mrs_status
mrsi_dump_list(struct mrs_input *in, const char *path, struct mrs_err *e)
{
    struct scan c = {in, NULL, 0, 0, false};
    size_t n = strlen(path);
    const char *db = NULL;
    bool root = false;
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    char *top = mrs_arena_alloc(&in->arena, n + 1);
    if (!top) {
        return mrs_err_memory(e, n + 1);
    }
    memcpy(top, path, n);
    top[n] = 0;
    enum mrs_status s = is_root(&c, top, &root, e);
    if (s == MRS_OK && root) {
        s = list_root(&c, top, e);
    } else if (s == MRS_OK) {
        s = folder_db(&c, top, &db, e);
        s = s == MRS_OK ? list_db(&c, top, db, e) : s;
    }
    if (s == MRS_OK && !c.dump) {
        s = MRSI_FAIL(e, MRS_E_MISSING, "%s: no dump here: no .bson and no .metadata.json file",
                      top);
    }
    s = s == MRS_OK ? merge(&c, e) : s;
    mrs_free(in->mem, c.recs);
    return s;
}
