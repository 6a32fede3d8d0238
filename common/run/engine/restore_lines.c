/* SPDX-License-Identifier: Apache-2.0 */
/* restore_lines.c - builds the shell line that restores the output, and lists what it cannot restore.
 *
 * People copy this line into a shell, in the folder of the only copy of their data. So
 * - names are quoted, and a name that a program would take for an option or a host gets ./ in front;
 * - files that must be unpacked go into a new folder: mkdir fails if it exists, and then nothing else runs;
 * - mongorestore chooses files by name: with --gzip only *.gz, without it only plain ones, zstd never, a single file
 *   only as X.bson or X.bson.gz, users of one database ($admin.*) only with --db. What it would skip gets a call of its
 *   own, or a note. */
#include "run_engine.h"
#include <sys/stat.h>

#define UNPACKED "documents" /* name of a single file if its own does not work */

struct line {
    const struct mrsi_engine *en;
    struct mrs_buf *out;
    const char *to;    /* OUT without trailing slashes; "-" */
    const char *fresh; /* a folder that does not exist */
    bool piped, zstd, whole; /* whole: folder, tar, zip or archive */
};

/* ---- words ---- */
/* A path, and what is below it. */
static void
put_path(struct line *l, const char *path, const char *below)
{
    struct mrs_buf text;
    /* - begins an option, ( and ! are special for find, and a text before a colon is a host for tar */
    bool odd = *path != '/' && (strchr("-(!", *path) || strchr(path, ':'));
    mrs_buf_init(&text, l->en->mem, MRS_DOC_MAX);
    mrs_buf_printf(&text, "%s%s%s", odd ? "./" : "", path, below);
    mrs_buf_byte(&text, 0);
    if (text.bad) {
        l->out->bad = text.bad;
    } else {
        mrs_buf_quoted(l->out, (const char *)text.p);
    }
    mrs_buf_clear(&text);
}

/* The input of a program: OUT, or a stream. */
static void
put_source(struct line *l)
{
    if (l->piped) {
        mrs_buf_byte(l->out, '-');
    } else {
        put_path(l, l->to, "");
    }
}

/* A name in patterns of --nsExclude. */
static void
put_all_of(struct line *l, const char *db)
{
    char pattern[2 * MRS_DB_MAX + 8];
    size_t n = 0;
    for (; *db && n < 2 * MRS_DB_MAX; db++) {
        if (*db == '*' || *db == '\\') {
            pattern[n++] = '\\';
        }
        pattern[n++] = *db;
    }
    memcpy(pattern + n, ".*", 3);
    mrs_buf_printf(l->out, " --nsExclude=");
    mrs_buf_quoted(l->out, pattern);
}

/* ---- contents of the output ---- */
static const struct mrs_input_ns *
extra_at(const struct mrsi_engine *en, uint32_t i)
{
    return mrsi_extra_is_copied(en, i) ? mrs_input_at(en->in, i) : NULL;
}

static bool
has_oplog(const struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *x = extra_at(en, i);
        if (x && strcmp(x->rel_path, "oplog.bson") == 0 && !x->empty_oplog) {
            return true;
        }
    }
    return false;
}

/* The database whose users or roles an extra file contains; false: another file. */
static bool
users_of(const struct mrs_input_ns *x, char db[MRS_DB_MAX + 1])
{
    const char *slash = x ? strchr(x->rel_path, '/') : NULL;
    size_t n = slash ? (size_t)(slash - x->rel_path) : 0;
    if (!slash || n > MRS_DB_MAX ||
        (strcmp(slash, "/$admin.system.users.bson") != 0 && strcmp(slash, "/$admin.system.roles.bson") != 0)) {
        return false;
    }
    memcpy(db, x->rel_path, n);
    db[n] = 0;
    return true;
}

static bool
has_users(const struct mrsi_engine *en, const char *db, uint32_t before)
{
    char other[MRS_DB_MAX + 1];
    for (uint32_t i = 0; i < before; i++) {
        if (users_of(extra_at(en, i), other) && strcmp(db, other) == 0) {
            return true;
        }
    }
    return false;
}

/* The next database with users of its own, from extra *i on. */
static bool
next_users(const struct mrsi_engine *en, uint32_t *i, char db[MRS_DB_MAX + 1])
{
    for (; *i < mrs_input_count(en->in); ++*i) {
        if (users_of(extra_at(en, *i), db) && !has_users(en, db, *i)) {
            ++*i;
            return true;
        }
    }
    return false;
}

/* mongorestore accepts neither --db nor patterns with an oplog, a stream can be read once, and admin has users that are
 * not from the dump: then a note is given. */
static bool
can_restore_users(const struct line *l, const char *db)
{
    return l->whole && strcmp(db, "admin") != 0 && !has_oplog(l->en) &&
           !(l->piped && l->en->shape.format == MRS_FORMAT_ARCHIVE);
}

static bool
splits(const struct line *l)
{
    char db[MRS_DB_MAX + 1];
    for (uint32_t i = 0; next_users(l->en, &i, db);) {
        if (can_restore_users(l, db)) {
            return true;
        }
    }
    return false;
}

/* Are there namespaces outside the databases with calls of their own? */
static bool
has_others(const struct line *l)
{
    const struct mrsi_engine *en = l->en;
    for (uint32_t i = 0; i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        if (c->written && !(can_restore_users(l, c->last.db) && has_users(en, c->last.db, mrs_input_count(en->in)))) {
            return true;
        }
    }
    return false;
}

/* ---- the line ---- */
/* One call; db: for that database with its users; NULL: for all others. */
static void
put_call(struct line *l, const char *db)
{
    const struct mrsi_engine *en = l->en;
    enum mrs_format format = en->shape.format;
    bool archive = format == MRS_FORMAT_ARCHIVE, folder = format == MRS_FORMAT_DIRECTORY;
    char other[MRS_DB_MAX + 1], below[MRS_DB_MAX + 8];
    if (archive && l->zstd) {
        mrs_buf_printf(l->out, "zstd -dc ");
        put_source(l);
        mrs_buf_printf(l->out, " | ");
    }
    mrs_buf_printf(l->out, "mongorestore%s", (archive || folder) && en->shape.codec == MRS_CODEC_GZIP ? " --gzip" : "");
    if (db) {
        mrs_buf_printf(l->out, " --restoreDbUsersAndRoles --db=");
        mrs_buf_quoted(l->out, db);
    } else {
        mrs_buf_printf(l->out, has_oplog(en) ? " --oplogReplay" : "");
        for (uint32_t i = 0; next_users(en, &i, other);) {
            if (can_restore_users(l, other)) {
                put_all_of(l, other);
            }
        }
    }
    mrs_buf_printf(l->out, archive ? " --archive" : " --dir=");
    if (archive && !l->piped && !l->zstd) {
        mrs_buf_byte(l->out, '=');
        put_path(l, l->to, "");
    } else if (!archive) {
        snprintf(below, sizeof below, "%s%s%s", folder ? "" : "/dump", db ? "/" : "", db ? db : "");
        put_path(l, folder && !l->zstd ? l->to : l->fresh, below);
    }
}

/* Unpacks a zip into the new folder; unzip treats names as patterns, and reads no stream. */
static void
put_unzip(struct line *l)
{
    bool copy = l->piped || strpbrk(l->to, "*?[");
    if (copy) {
        mrs_buf_printf(l->out, l->piped ? "cat > " : "cp ");
        if (!l->piped) {
            put_path(l, l->to, "");
            mrs_buf_byte(l->out, ' ');
        }
        put_path(l, l->fresh, "/dump.zip");
        mrs_buf_printf(l->out, " && ");
    }
    mrs_buf_printf(l->out, "unzip -q ");
    put_path(l, copy ? l->fresh : l->to, copy ? "/dump.zip" : "");
    mrs_buf_printf(l->out, " -d ");
    put_path(l, l->fresh, "");
}

/* Unpacks formats that mongorestore cannot read into the new folder. */
static void
put_unpacking(struct line *l)
{
    enum mrs_format format = l->en->shape.format;
    mrs_buf_printf(l->out, "mkdir ");
    put_path(l, l->fresh, "");
    mrs_buf_printf(l->out, " && ");
    if (format == MRS_FORMAT_ZIP) {
        put_unzip(l);
    } else if (format == MRS_FORMAT_TAR) {
        /* tar detects the compression of a file, but not of a pipe */
        bool gzip = l->en->shape.codec == MRS_CODEC_GZIP;
        mrs_buf_printf(l->out, "tar %s-xf ", !l->piped ? "" : gzip ? "-z " : l->zstd ? "--zstd " : "");
        put_source(l);
        mrs_buf_printf(l->out, " -C ");
        put_path(l, l->fresh, "");
    } else {
        mrs_buf_printf(l->out, "cp -R ");
        put_path(l, l->to, "/.");
        mrs_buf_byte(l->out, ' ');
        put_path(l, l->fresh, "");
        mrs_buf_printf(l->out, " && find ");
        put_path(l, l->fresh, "");
        mrs_buf_printf(l->out, " -name '*.bson.zst' -exec zstd -dqf --rm {} +");
    }
    mrs_buf_printf(l->out, " && ");
}

static void
put_whole(struct line *l)
{
    enum mrs_format format = l->en->shape.format;
    char db[MRS_DB_MAX + 1];
    bool first = !splits(l) || has_others(l);
    if (format == MRS_FORMAT_TAR || format == MRS_FORMAT_ZIP || (format == MRS_FORMAT_DIRECTORY && l->zstd)) {
        put_unpacking(l);
    }
    if (first) {
        put_call(l, NULL);
    }
    for (uint32_t i = 0; next_users(l->en, &i, db);) {
        if (can_restore_users(l, db)) {
            mrs_buf_printf(l->out, first ? " && " : "");
            put_call(l, db);
            first = true;
        }
    }
}

/* ---- a single file ---- */
static const struct mrsi_coll *
single_coll(const struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->n_coll; i++) {
        if (en->coll[i].written && strcmp(en->coll[i].last.ns, en->opts->single_ns) == 0) {
            return &en->coll[i];
        }
    }
    return NULL;
}

static bool
has_metadata(const struct mrsi_engine *en, const struct mrsi_coll *c)
{
    return c && (!c->copied || mrs_input_at(en->in, c->in_index)->meta_path);
}

static bool
has_documents(const struct mrsi_engine *en, const struct mrsi_coll *c)
{
    return c && (!c->copied || mrs_input_at(en->in, c->in_index)->data_path);
}

static bool
ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

/* One file, unpacked into the new folder. */
static void
put_copy(struct line *l, const char *from, enum mrs_codec codec, const char *name)
{
    const char *unpack = codec == MRS_CODEC_GZIP ? "gzip -dc" : codec == MRS_CODEC_ZSTD ? "zstd -dc" : "cat";
    mrs_buf_printf(l->out, "%s < ", unpack);
    put_path(l, from, "");
    mrs_buf_printf(l->out, " > ");
    put_path(l, l->fresh, name);
    mrs_buf_printf(l->out, " && ");
}

static void
put_single(struct line *l)
{
    const struct mrsi_engine *en = l->en;
    enum mrs_codec codec = en->shape.codec;
    const char *ns = en->opts->single_ns;
    char db[MRS_DB_MAX + 1];
    size_t n = strcspn(ns, ".");
    bool gzip = codec == MRS_CODEC_GZIP, fits = !l->zstd && ends_in(l->to, gzip ? ".bson.gz" : ".bson");
    if (l->piped) {
        mrs_buf_printf(l->out, gzip ? "gzip -dc | " : l->zstd ? "zstd -dc | " : "");
    } else if (!fits) {
        char *meta = mrs_output_metadata_path(en->mem, l->to, codec);
        mrs_buf_printf(l->out, "mkdir ");
        put_path(l, l->fresh, "");
        mrs_buf_printf(l->out, " && ");
        put_copy(l, l->to, codec, "/" UNPACKED ".bson");
        if (meta && has_metadata(en, single_coll(en))) {
            put_copy(l, meta, gzip ? codec : MRS_CODEC_NONE, "/" UNPACKED ".metadata.json");
        }
        l->out->bad = meta ? l->out->bad : 1;
        mrs_free(en->mem, meta);
    }
    snprintf(db, sizeof db, "%.*s", (int)n, ns);
    mrs_buf_printf(l->out, "mongorestore%s --db=", gzip && fits ? " --gzip" : "");
    mrs_buf_quoted(l->out, db);
    mrs_buf_printf(l->out, " --collection=");
    mrs_buf_quoted(l->out, ns + n + (ns[n] != 0));
    mrs_buf_byte(l->out, ' ');
    if (l->piped || fits) {
        put_source(l);
    } else {
        put_path(l, l->fresh, "/" UNPACKED ".bson");
    }
}

/* ---- the beginning ---- */
/* OUT.d, or the first such name that does not exist. */
static const char *
fresh_name(struct mrsi_engine *en, const char *to)
{
    enum { MORE = 16, TRIES = 1000 };
    struct stat st;
    size_t n = strlen(to) + MORE;
    char *name = mrs_arena_alloc(&en->arena, n);
    for (int i = 1; name && i < TRIES; i++) {
        snprintf(name, n, i == 1 ? "%s.d" : "%s.%d.d", to, i);
        if (lstat(name, &st) < 0) {
            break;
        }
    }
    return name;
}

static enum mrs_status
begin_line(struct mrsi_engine *en, struct line *l, struct mrs_buf *out, struct mrs_err *e)
{
    const char *to = en->opts->output;
    size_t n = strlen(to);
    while (n > 1 && to[n - 1] == '/') {
        n--;
    }
    char *cut = mrs_arena_copy(&en->arena, to, n + 1);
    MRS_TRY(mrs_allocated(cut, n, e));
    cut[n] = 0;
    *l = (struct line){en, out, cut, NULL, strcmp(cut, "-") == 0, en->shape.codec == MRS_CODEC_ZSTD,
                       en->shape.format != MRS_FORMAT_BSON};
    l->fresh = fresh_name(en, l->piped ? "mongoreshape" : cut);
    mrs_buf_init(out, en->mem, MRS_DOC_MAX);
    return mrs_allocated(l->fresh, n, e);
}

/* ---- what it cannot restore ---- */
/* The note if mongorestore treats a collection specially because of its name; NULL: none. */
static const char *
odd_collection(const struct mrsi_engine *en, const struct mrsi_coll *c)
{
    enum mrs_format format = en->shape.format;
    bool single = format == MRS_FORMAT_BSON, piped = strcmp(en->opts->output, "-") == 0;
    if (strcmp(c->last.coll, "system.profile") == 0 && !single) {
        return "it is in the output, but mongorestore passes over every system.profile";
    }
    if (single && strncmp(c->last.coll, MRS_BUCKETS, sizeof MRS_BUCKETS - 1) == 0) {
        return "a single file of a time series lacks the definition: mongorestore makes a time series of a folder or "
               "archive";
    }
    if (single && !has_documents(en, c)) {
        return "a view has no documents: mongorestore makes it of a folder or archive";
    }
    if (single && piped && c->cat && (c->cat->n_index > 1 || c->cat->options.n > 5)) {
        return "its indexes and options are not in the output, for a stream of documents has no place for them: a file "
               "(-o FILE), folder or archive has";
    }
    if (!single && format != MRS_FORMAT_ARCHIVE && strpbrk(c->last.coll, "+%") && mrs_name_is_long(c->last.coll)) {
        return "mongorestore takes + and %XX in a name of this length for other characters: write an archive "
               "(-o OUT.archive)";
    }
    return NULL;
}

void
mrsi_note_unrestored(struct mrsi_engine *en)
{
    struct line l = {.en = en, .piped = en->opts->output && strcmp(en->opts->output, "-") == 0,
                     .whole = en->shape.format != MRS_FORMAT_BSON};
    char text[700], db[MRS_DB_MAX + 1];
    for (uint32_t i = 0; en->opts->output && i < en->n_coll; i++) {
        const char *why = en->coll[i].written ? odd_collection(en, &en->coll[i]) : NULL;
        if (why) {
            snprintf(text, sizeof text, "%.300s: %s", en->coll[i].last.ns, why);
            mrsi_report_note(en, text);
        }
    }
    for (uint32_t i = 0; en->opts->output && next_users(en, &i, db);) {
        if (!can_restore_users(&l, db)) {
            snprintf(text, sizeof text,
                     "users and roles of %s are in the output, but the command below does not restore them: "
                     "mongorestore takes them with --db and --restoreDbUsersAndRoles only, without an oplog, not for "
                     "admin, and not from the stream that all else is in", db);
            mrsi_report_note(en, text);
        }
    }
}

enum mrs_status
mrsi_put_restore(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_buf text;
    struct line l;
    if (!en->opts->output) {
        return MRS_OK;
    }
    MRS_TRY(begin_line(en, &l, &text, e));
    if (l.whole) {
        put_whole(&l);
    } else if (has_documents(en, single_coll(en))) {
        put_single(&l);
    }
    mrs_buf_byte(&text, 0);
    enum mrs_status s = mrs_buf_status(&text, e);
    if (s == MRS_OK) {
        en->report->restore = mrs_arena_copy(&en->report->arena, text.p, text.n);
        s = mrs_allocated(en->report->restore, text.n, e);
    }
    mrs_buf_clear(&text);
    return s;
}
