/* SPDX-License-Identifier: Apache-2.0 */
/* input.c - the kinds of input: a dump directory, a container of one, an archive, one .bson file, or a stream.
 *
 * dumpdir.c lists a directory, container.c a container, archive_in.c an archive. A single file gets its namespace from
 * its name and folder unless the caller passes one. A stream (`-`, a pipe) cannot be read twice, and many plans read
 * their input twice, so the needed bytes are first copied to an unlinked file. Everything that an input lists lives in
 * its arena. Input is never written to. */
#include "archive.h"
#include "container.h"
#include "io/codec/decoder.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct mrs_input_ns *
mrsi_input_add(struct mrs_input *in)
{
    MRS_ASSERT(in->n <= in->cap);
    struct mrs_input_ns *more = mrs_more(in->mem, in->list, in->n, &in->cap, sizeof *more);
    if (!more) {
        return NULL;
    }
    in->list = more;
    struct mrs_input_ns *ns = &in->list[in->n++];
    memset(ns, 0, sizeof *ns);
    ns->metadata = mrs_empty_doc();
    return ns;
}

enum mrs_status
mrsi_input_exclude(struct mrs_input *in, const char *ns, struct mrs_err *e)
{
    MRS_ASSERT(ns && in->n_excluded <= in->cap_excluded);
    const char **more = mrs_more(in->mem, in->excluded, in->n_excluded, &in->cap_excluded, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    in->excluded = more;
    in->excluded[in->n_excluded++] = ns;
    return MRS_OK;
}

bool
mrsi_input_takes(const struct mrs_input *in, const char *db, const char *coll, const char *ns)
{
    MRS_ASSERT(db && coll && ns);
    static const char buckets[] = MRSI_BUCKETS;
    size_t n = sizeof buckets - 1, db_n = strlen(db);
    char logical[1024];
    if (strncmp(coll, buckets, n) != 0 || db_n + strlen(coll) - n + 2 > sizeof logical) {
        return mrsi_filter_takes(&in->filter, ns);
    }
    memcpy(logical, db, db_n);
    logical[db_n] = '.';
    memcpy(logical + db_n + 1, coll + n, strlen(coll) - n + 1);
    return mrsi_filter_takes(&in->filter, logical);
}

enum mrs_status
mrsi_input_from(struct mrs_input *in, const struct mrs_input_ns *ns, struct mrsi_source_from *from,
                struct mrs_err *e)
{
    *from = (struct mrsi_source_from){in->fd, in->fd < 0, in->start, UINT64_MAX, ns->codec, ns->data_path,
                                      ns->data_place};
    if (ns->data_place) {
        from->fd = ns->data_place->fd;
        from->own = false;
        from->start = 0;
        from->bytes = ns->data_place->bytes;
        return MRS_OK;
    }
    if (in->fd >= 0) {
        from->bytes = ns->file_bytes;
        return MRS_OK;
    }
    return mrsi_open_regular(ns->data_path, &from->fd, NULL, e);
}

enum mrs_status
mrsi_input_probe(struct mrs_input *in, struct mrs_input_ns *ns, struct mrs_err *e)
{
    struct mrsi_source_from from;
    struct stat st;
    enum mrs_status s = mrsi_input_from(in, ns, &from, e);
    if (s != MRS_OK) {
        return s;
    }
    if (from.place) {
        ns->file_bytes = from.bytes;
    } else if (from.own) {
        s = fstat(from.fd, &st) < 0 ? mrs_err_sys(e, errno, "stat %s", from.name) : MRS_OK;
        ns->file_bytes = s == MRS_OK ? (uint64_t)st.st_size : 0;
    }
    MRS_THEN(s, mrsi_sniff(in->mem, &from, &ns->codec, e));
    if (from.own) {
        close(from.fd);
    }
    return s;
}

static enum mrs_status
name_it(struct mrs_input *in, struct mrs_input_ns *ns, const char *db, size_t db_n,
        const char *coll, struct mrs_err *e)
{
    const char *wrong = mrs_db_wrong(db, db_n);
    size_t coll_n = strlen(coll);
    if (wrong || !coll_n) {
        return MRSI_FAIL(e, MRS_E_USAGE, "'%.*s.%s' is no namespace: %s; give the namespace",
                         (int)db_n, db, coll, wrong ? wrong : "the collection has no name");
    }
    char *text = mrs_arena_alloc(&in->arena, 2 * db_n + coll_n + 3);
    MRS_TRY(mrs_allocated(text, db_n + coll_n, e));
    memcpy(text, db, db_n);
    text[db_n] = '.';
    memcpy(text + db_n + 1, coll, coll_n + 1);
    ns->ns = text;
    ns->coll = text + db_n + 1;
    ns->db = text + db_n + coll_n + 2;
    memcpy(text + db_n + coll_n + 2, db, db_n);
    text[2 * db_n + coll_n + 2] = 0;
    return MRS_OK;
}

static enum mrs_status
name_by_option(struct mrs_input *in, struct mrs_input_ns *ns, const char *ns_text, struct mrs_err *e)
{
    const char *dot = strchr(ns_text, '.');
    size_t n = dot ? (size_t)(dot - ns_text) : strlen(ns_text);
    return name_it(in, ns, ns_text, n, dot ? dot + 1 : "", e);
}

/* "folder/coll.bson": the folder's real name is the database, so that "./coll.bson" works. */
static enum mrs_status
name_by_path(struct mrs_input *in, struct mrs_input_ns *ns, const char *path, struct mrs_err *e)
{
    char real[PATH_MAX];
    const char *base = mrsi_base_name(path), *coll = NULL;
    char *dir =
        mrs_strndup(in->mem, base == path ? "." : path, base == path ? 1 : (size_t)(base - path));
    MRS_TRY(mrs_allocated(dir, strlen(path), e));
    char *ok = realpath(dir, real);
    int err = errno;
    mrs_free(in->mem, dir);
    if (!ok) {
        return mrs_err_sys(e, err, "resolve the folder of %s", path);
    }
    struct mrsi_file_name f = mrsi_file_name(base);
    enum mrs_status s;
    if (f.kind == MRSI_FILE_META) {
        return MRSI_FAIL(e, MRS_E_USAGE, "%s holds metadata; name the .bson file or the folder",
                         path);
    }
    if (mrsi_name_is_cut(base, f.stem_n)) {
        s = mrsi_metadata_coll(&in->arena, ns->metadata, path, &coll, e);
        if (s == MRS_OK && !coll) {
            s = MRSI_FAIL(e, MRS_E_FORMAT,
                          "%s: a shortened name, and no metadata file next to it has the full name",
                          path);
        }
    } else {
        struct mrs_err own;
        mrs_err_clear(&own);
        s = mrsi_name_unescape(&in->arena, base, f.stem_n, &coll, &own);
        if (s != MRS_OK) {
            s = mrs_err_set(e, s, own.code, "%s: %s", path, own.msg);
        }
    }
    const char *db = mrsi_base_name(real);
    return s == MRS_OK ? name_it(in, ns, db, strlen(db), coll, e) : s;
}

/* The metadata file of a single data file, if there is one. */
static enum mrs_status
metadata_beside(struct mrs_input *in, struct mrs_input_ns *ns, const char *path, struct mrs_err *e)
{
    /* first the one whose suffix matches the data's compression: there may be two outputs of this name */
    struct mrsi_file_name f = mrsi_file_name(mrsi_base_name(path));
    const char *base = mrsi_base_name(path), *own = base + f.plain_n;
    const char *const ends[] = {strcmp(own, ".gz") == 0 ? ".metadata.json.gz" : ".metadata.json", ".metadata.json",
                                ".metadata.json.gz", ".metadata.json.zst"};
    size_t n = (size_t)(base - path) + f.stem_n;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct stat st;
        size_t k = strlen(ends[i]) + 1;
        char *meta = mrs_arena_alloc(&in->arena, n + k);
        MRS_TRY(mrs_allocated(meta, n + k, e));
        memcpy(meta, path, n);
        memcpy(meta + n, ends[i], k);
        if (stat(meta, &st) == 0 && S_ISREG(st.st_mode)) {
            ns->meta_path = meta;
            enum mrs_status s = mrsi_watch_file(in, meta, -1, &st, e);
            return s != MRS_OK ? s : mrsi_metadata_load(in->mem, &in->arena, meta, NULL, &ns->metadata, e);
        }
    }
    return MRS_OK;
}

static enum mrs_status
name_single(struct mrs_input *in, struct mrs_input_ns *ns, const char *path, const struct mrs_input_opts *opts,
            bool stream, struct mrs_err *e)
{
    struct mrs_err own;
    mrs_err_clear(&own);
    if (opts->ns) {
        return name_by_option(in, ns, opts->ns, e);
    }
    enum mrs_status s = stream ? MRSI_FAIL(&own, MRS_E_USAGE,
                                           "%s is a stream and no archive: give its namespace", path)
                               : name_by_path(in, ns, path, &own);
    if (s == MRS_FAIL && opts->unnamed && own.code != MRS_E_IO) {
        return name_by_option(in, ns, opts->unnamed, e);
    }
    if (s != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = own;
    }
    return s;
}

/* One namespace: a .bson file by its path, or a stream copied to a file without a name. */
static enum mrs_status
open_single(struct mrs_input *in, const char *path, const struct mrs_input_opts *opts, struct mrsi_opened *o,
            bool stream, struct mrs_err *e)
{
    struct mrs_input_ns *ns = mrsi_input_add(in);
    MRS_TRY(mrs_allocated(ns, sizeof *ns, e));
    in->format = MRS_FORMAT_BSON;
    if (mrsi_opened_is_foreign(o)) {
        const char *what = mrsi_foreign(o->plain, o->plain_n);
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: no documents of a dump: from byte 0 on it is %s", o->name,
                         what ? what : "encrypted, or of a format that is not known here");
    }
    ns->kind = MRS_INPUT_DATA;
    ns->data_path = mrs_arena_copy(&in->arena, path, strlen(path) + 1);
    enum mrs_status s = mrs_allocated(ns->data_path, strlen(path), e);
    if (s == MRS_OK && !stream) {
        s = metadata_beside(in, ns, path, e);
    }
    MRS_THEN(s, name_single(in, ns, path, opts, stream, e));
    if (s == MRS_OK && !mrsi_input_takes(in, ns->db, ns->coll, ns->ns)) {
        in->n = 0;
        return mrsi_input_exclude(in, ns->ns, e);
    }
    if (s == MRS_OK && stream) {
        s = o->pipe ? mrsi_opened_spool(o, opts->tmp, e) : MRS_OK;
        ns->file_bytes = o->bytes;
        in->start = o->start;
        in->fd = s == MRS_OK ? o->fd : -1;
        o->own = o->own && s != MRS_OK;
    }
    return s == MRS_OK ? mrsi_input_probe(in, ns, e) : s;
}

static enum mrs_status
open_archive(struct mrs_input *in, const struct mrs_input_opts *opts, struct mrsi_opened *o, struct mrs_err *e)
{
    struct mrsi_source_from from = {o->fd, o->own, o->start, UINT64_MAX, o->codec, o->name, NULL};
    o->own = false;
    struct mrsi_archive_opts how = {o->pipe ? o->head : NULL, o->head_n, opts->tmp, opts->ns};
    return mrsi_archive_open(in, &from, &how, e);
}

static enum mrs_status
open_container(struct mrs_input *in, const struct mrs_input_opts *opts, struct mrsi_opened *o, struct mrs_err *e)
{
    if (opts->ns) {
        return MRSI_FAIL(e, MRS_E_USAGE,
                         "%s holds a whole dump: its namespaces have names (--nsInclude takes some of them)", o->name);
    }
    enum mrs_status s = o->pipe ? mrsi_opened_spool(o, opts->tmp, e) : MRS_OK;
    struct mrsi_source_from from = {o->fd, true, o->start, o->bytes, o->codec, o->name, NULL};
    if (s != MRS_OK) {
        return s;
    }
    o->own = false;
    return mrsi_container_open(in, &from, opts->tmp, e);
}

/* Containers inside xz and similar formats are unpacked before they are examined. */
static enum mrs_status
open_file(struct mrs_input *in, const char *path, const struct mrs_input_opts *opts, struct mrs_err *e)
{
    struct mrsi_opened o = {.mem = in->mem, .pause = &in->pause};
    bool stream = false;
    enum mrs_status s = mrsi_opened_file(path, &o, e);
    s = s == MRS_OK ? mrsi_watch_file(in, o.name, strcmp(path, "-") == 0 ? STDIN_FILENO : -1, &o.st, e) : s;
    if (s == MRS_OK && mrsi_container_packing(o.head, o.head_n) == MRSI_PACKING_STREAM) {
        s = mrsi_opened_decode(&o, opts->tmp, e);
        stream = true;
    }
    if (s == MRS_OK && mrsi_opened_is_archive(&o)) {
        s = open_archive(in, opts, &o, e);
    } else if (s == MRS_OK && mrsi_opened_is_container(&o)) {
        s = open_container(in, opts, &o, e);
    } else if (s == MRS_OK && stream) {
        s = open_single(in, path, opts, &o, true, e);
    } else if (s == MRS_OK) {
        s = open_single(in, path, opts, &o, o.pipe || strcmp(path, "-") == 0, e);
    }
    mrsi_opened_close(&o);
    return s;
}

static enum mrs_status
open_any(struct mrs_input *in, const char *path, const struct mrs_input_opts *opts,
         struct mrs_err *e)
{
    struct stat st;
    if (strcmp(path, "-") == 0) {
        return open_file(in, path, opts, e);
    }
    if (stat(path, &st) < 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? MRSI_FAIL(e, MRS_E_MISSING, "%s: there is no such file or folder", path)
                   : mrs_err_sys(e, errno, "open %s", path);
    }
    if (S_ISDIR(st.st_mode)) {
        in->dir = true;
        in->format = MRS_FORMAT_DIRECTORY;
        return opts->ns
                   ? MRSI_FAIL(e, MRS_E_USAGE, "%s is a folder: its namespaces have names", path)
                   : mrsi_dump_list(in, path, e);
    }
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: neither a file nor a folder", path);
    }
    return open_file(in, path, opts, e);
}

/* The origin of a directory, from its prelude.json; an invalid one is ignored. */
static enum mrs_status
find_origin(struct mrs_input *in, struct mrs_err *e)
{
    struct mrs_buf text, bson;
    struct mrs_view doc;
    struct mrs_err own;
    const struct mrs_input_ns *ns = NULL;
    for (uint32_t i = 0; in->format != MRS_FORMAT_ARCHIVE && i < in->n; i++) {
        bool is = in->list[i].kind == MRS_INPUT_EXTRA && mrsi_is_prelude(in->list[i].rel_path);
        ns = is && !ns ? &in->list[i] : ns;
    }
    if (!ns) {
        return MRS_OK;
    }
    mrs_err_clear(&own);
    mrs_buf_init(&text, in->mem, MRS_METADATA_MAX);
    mrs_buf_init(&bson, in->mem, MRS_METADATA_MAX);
    enum mrs_status s = mrsi_read_decoded(in->mem, ns->data_path, ns->data_place, &text, &own);
    MRS_THEN(s, mrsi_metadata_parse(&bson, (const char *)text.p, text.n, ns->data_path, &doc, &own));
    const char *const fields[] = {"ServerVersion", "ToolVersion"};
    const char **const to[] = {&in->origin.server_version, &in->origin.tool_version};
    for (size_t i = 0; s == MRS_OK && i < 2; i++) {
        struct mrs_val v = mrs_doc_get(doc, fields[i]);
        if (v.type == MRS_STRING && !memchr(v.p + 4, 0, v.n - 5)) {
            *to[i] = mrs_arena_copy(&in->arena, v.p + 4, v.n - 4);
            s = *to[i] ? MRS_OK : mrs_err_memory(&own, v.n);
        }
    }
    mrs_buf_clear(&text);
    mrs_buf_clear(&bson);
    if (s == MRS_DEAD || own.code == MRS_E_IO) {
        return mrs_err_set(e, s, own.code, "%s", own.msg);
    }
    return MRS_OK;
}

static void
find_only_db(struct mrs_input *in)
{
    static const char *const internal[] = {"admin", "config", "local"};
    for (uint32_t i = 0; i < in->n; i++) {
        const char *db = in->list[i].db;
        if (in->list[i].kind != MRS_INPUT_DATA || strcmp(db, internal[0]) == 0 ||
            strcmp(db, internal[1]) == 0 || strcmp(db, internal[2]) == 0) {
            continue;
        }
        if (in->only_db && strcmp(db, in->only_db) != 0) {
            in->only_db = NULL;
            return;
        }
        in->only_db = db;
    }
}

enum mrs_status
mrs_input_open(struct mrs_mem *mem, const char *path, const struct mrs_input_opts *opts,
               struct mrs_input **out, struct mrs_err *e)
{
    MRS_ASSERT(mem && path && out);
    static const struct mrs_input_opts none;
    struct mrs_input *in = mrs_zalloc(mem, sizeof *in);
    MRS_TRY(mrs_allocated(in, sizeof *in, e));
    opts = opts ? opts : &none;
    in->mem = mem;
    in->fd = -1;
    in->shared = 066;
    in->unfinished = opts->unfinished;
    in->pause = opts->pause;
    in->origin = (struct mrs_input_origin){"", "", 0};
    mrs_arena_init(&in->arena, mem);
    in->filter =
        (struct mrsi_filter){opts->include, opts->exclude, opts->n_include, opts->n_exclude};
    enum mrs_status s = mrsi_filter_check(&in->filter, e);
    if (s == MRS_OK) {
        s = open_any(in, path, opts, e);
        MRS_THEN(s, find_origin(in, e));
    }
    if (s != MRS_OK) {
        mrs_input_close(in);
        return s;
    }
    memset(&in->filter, 0, sizeof in->filter); /* the caller's memory */
    memset(&in->pause, 0, sizeof in->pause);
    find_only_db(in);
    *out = in;
    return MRS_OK;
}

void
mrs_input_close(struct mrs_input *in)
{
    if (!in) {
        return;
    }
    if (in->fd >= 0) {
        close(in->fd);
    }
    mrsi_codec_pool_free(in->pool);
    mrs_free(in->mem, in->list);
    mrs_free(in->mem, in->excluded);
    mrs_free(in->mem, in->passed);
    mrs_free(in->mem, in->watched);
    mrs_arena_clear(&in->arena);
    mrs_free(in->mem, in);
}

uint64_t
mrs_input_ahead(struct mrs_input *in, uint32_t threads, uint64_t memory)
{
    uint64_t bytes = mrsi_read_ahead_memory(threads);
    bool idle = threads > 2; /* else unpacking by the readers, and packing, keep them busy */
    bool packed = in->codec != MRS_CODEC_NONE;
    for (uint32_t i = 0; i < in->n; i++) {
        packed = packed || (in->list[i].kind == MRS_INPUT_DATA && in->list[i].codec != MRS_CODEC_NONE);
    }
    if (!idle || !packed || bytes > memory / 4) {
        return 0;
    }
    in->pool = in->pool ? in->pool : mrsi_codec_pool_new(in->mem, threads); /* without a pool the reader unpacks */
    return in->pool ? bytes : 0;
}

uint64_t
mrs_input_window(struct mrs_input *in)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        struct mrsi_source_from from;
        const struct mrs_input_ns *ns = &in->list[i];
        bool packed = ns->kind == MRS_INPUT_DATA && ns->codec == MRS_CODEC_ZSTD;
        if (packed && mrsi_input_from(in, ns, &from, NULL) == MRS_OK) {
            uint64_t window = mrsi_source_window(&from);
            most = window > most ? window : most;
            if (from.own) {
                close(from.fd);
            }
        }
    }
    return most;
}

static enum mrs_codec
once(enum mrs_codec codec)
{
    return codec == MRS_CODEC_TWICE ? MRS_CODEC_GZIP : codec;
}

enum mrs_codec
mrs_input_codec(const struct mrs_input *in)
{
    enum mrs_codec most = once(in->codec);
    uint64_t bytes[MRS_CODEC_AS_INPUT] = {0};
    for (uint32_t i = 0; i < in->n && in->codec == MRS_CODEC_NONE; i++) {
        const struct mrs_input_ns *ns = &in->list[i];
        bytes[once(ns->codec)] += ns->kind == MRS_INPUT_DATA ? ns->file_bytes : 0;
    }
    for (int k = 0; k < MRS_CODEC_AS_INPUT; k++) {
        most = bytes[k] > bytes[most] ? (enum mrs_codec)k : most;
    }
    return most;
}

enum mrs_format
mrs_input_format(const struct mrs_input *in)
{
    return in->format;
}

const struct mrs_input_origin *
mrs_input_origin(const struct mrs_input *in)
{
    return &in->origin;
}

uint32_t
mrs_input_count(const struct mrs_input *in)
{
    return in->n;
}

const struct mrs_input_ns *
mrs_input_at(const struct mrs_input *in, uint32_t i)
{
    MRS_ASSERT(i < in->n);
    return &in->list[i];
}

const char *
mrs_input_only_db(const struct mrs_input *in)
{
    return in->only_db;
}

uint32_t
mrs_input_passed(const struct mrs_input *in)
{
    return in->n_passed;
}

const char *
mrs_input_passed_at(const struct mrs_input *in, uint32_t i)
{
    MRS_ASSERT(i < in->n_passed);
    return in->passed[i];
}

uint32_t
mrs_input_excluded(const struct mrs_input *in)
{
    return in->n_excluded;
}

const char *
mrs_input_excluded_at(const struct mrs_input *in, uint32_t i)
{
    MRS_ASSERT(i < in->n_excluded);
    return in->excluded[i];
}
