/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - sums up the operations recorded by a server's profiler (system.profile) as a workload.
 *
 * The result has the form of --workload, so the rules treat both alike, except for the source in their text. Operations
 * of dump tools and of our own say nothing about applications and are ignored, and so are failed ones. Memory is
 * bounded: only a limited number of different paths is counted, and the report gives the number of operations on
 * others. */
#include "advise.h"
#include "mongoreshape/build.h"
#include "mongoreshape/value.h"
#include "mongoreshape/words.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8192, SLOTS = 4 * ROWS, NAME_MOST = 256, FEW = 100, QUICK_MS = 10, NESTED_MOST = 8 };
/* A counter of a collection: by path or collection, or (insert, writes, delete) one for all; as in --workload. */
enum profile_kind { FIND, INSERT, UPDATE, WRITES, DELETE, TOGETHER, SUM, KINDS, COLLECTION = KINDS };
static const struct {
    const char *key;
    bool by_name;
} kinds[KINDS] = {{"find", true},    {"insert", false},  {"update", true}, {"writes", false},
                  {"delete", false}, {"together", true}, {"sum", true}};

struct profile_row {
    uint32_t coll;
    enum profile_kind kind;
    const char *name;
    uint64_t n; /* of COLLECTION: its number */
};
struct profile {
    struct mrsi_inspection *x;
    struct mrs_arena arena;
    struct profile_row *row;
    uint32_t rows;
    uint32_t *slot; /* row + 1; 0: free */
    uint64_t operations, left; /* left: of paths that did not fit */
    int64_t from, to, least_ms;
};

/* ---- counting ---- */
/* The row of that name, added if missing; NULL: no room. A separate kind of table: it compares names, and their number
 * is bounded. */
static struct profile_row *
row_of(struct profile *p, uint32_t coll, enum profile_kind kind, const char *name, bool make)
{
    size_t n = strlen(name);
    uint64_t at = mrs_hash64(name, n, (uint64_t)coll << 8 | kind) % SLOTS;
    for (; p->slot[at]; at = (at + 1) % SLOTS) {
        struct profile_row *r = &p->row[p->slot[at] - 1];
        if (r->coll == coll && r->kind == kind && strcmp(r->name, name) == 0) {
            return r;
        }
    }
    const char *kept = make && p->rows < ROWS ? mrs_arena_copy(&p->arena, name, n + 1) : NULL;
    if (!kept) {
        return NULL;
    }
    p->slot[at] = p->rows + 1;
    p->row[p->rows] = (struct profile_row){.coll = coll, .kind = kind, .name = kept};
    return &p->row[p->rows++];
}

static void
credit(struct profile *p, uint32_t coll, enum profile_kind kind, const char *name, uint64_t n)
{
    struct profile_row *r = n ? row_of(p, coll, kind, name, true) : NULL;
    if (r) { /* numbers in a foreign dump may have any value */
        r->n = n < INT64_MAX - r->n ? r->n + n : INT64_MAX;
    }
    p->left += n && !r;
}

/* A path in the notation of inspect: without positions (`lines.$[].qty`, `lines.0.qty`). */
static void
plain_path(const char *path, char out[NAME_MOST])
{
    size_t n = 0;
    while (*path) {
        size_t part = strcspn(path, ".");
        bool position = *path == '$' || strspn(path, "0123456789") == part;
        if (!(position && n) && n + part + 2 < NAME_MOST) {
            n += (size_t)snprintf(out + n, NAME_MOST - n, "%s%.*s", n ? "." : "", (int)part, path);
        }
        path += part + (path[part] == '.');
    }
    out[n] = 0;
}

static struct mrs_view
sub(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_DOCUMENT || v.type == MRS_ARRAY ? mrs_val_view(v) : mrs_empty_doc();
}

static bool
first_of(struct mrs_view d, struct mrs_elem *x)
{
    struct mrs_walk w;
    mrs_walk_init(&w, d);
    return mrs_walk_next(&w, x) > 0;
}

/* ---- reads ---- */
/* The only top-level field in a projection, besides `_id`; false: it has others, or all. */
static bool
is_only_field(struct mrs_view projection, char out[NAME_MOST])
{
    struct mrs_walk w;
    struct mrs_elem x;
    size_t n = 0;
    mrs_walk_init(&w, projection);
    while (mrs_walk_next(&w, &x) > 0) {
        int64_t number;
        bool no = mrs_is_number(x.v) && mrs_val_integral(x.v, &number) && number == 0;
        bool made = x.v.type == MRS_STRING || /* or {$slice: 3}, which includes all other fields as well */
                    (x.v.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(x.v), "$elemMatch").type == MRS_MISSING);
        size_t root = strcspn(x.name, ".");
        if (strcmp(x.name, "_id") == 0) {
            continue;
        }
        no |= x.v.type == MRS_BOOL && !*x.v.p;
        if (no || made || root >= NAME_MOST || (n && (n != root || memcmp(out, x.name, n) != 0))) {
            return false;
        }
        memcpy(out, x.name, root);
        out[n = root] = 0;
    }
    return n > 0;
}

/* One read counts once: for the only path it reads, else for the path of its filter; `*`: it reads all. */
static void
count_read(struct profile *p, uint32_t coll, struct mrs_view filter, struct mrs_view projection)
{
    char name[NAME_MOST] = "*";
    struct mrs_elem x = {.name = "*"};
    if (!is_only_field(projection, name)) {
        bool more = first_of(filter, &x);
        for (int depth = 0; more && *x.name == '$' && depth < NESTED_MOST; depth++) { /* $and: [{a: 1}, ...] */
            more = (x.v.type == MRS_ARRAY || x.v.type == MRS_DOCUMENT) && first_of(mrs_val_view(x.v), &x);
            more = more && x.v.type == MRS_DOCUMENT && first_of(mrs_val_view(x.v), &x);
        }
        plain_path(more && *x.name != '$' ? x.name : "*", name);
    }
    credit(p, coll, FIND, name, 1);
}

/* Counts the fields that a $group sums, if they are stored fields. */
static void
count_sums(struct profile *p, uint32_t coll, struct mrs_view group)
{
    struct mrs_walk w;
    struct mrs_elem x, how;
    char name[NAME_MOST];
    uint32_t n;
    mrs_walk_init(&w, group);
    while (mrs_walk_next(&w, &x) > 0) {
        bool sums = x.v.type == MRS_DOCUMENT && first_of(mrs_val_view(x.v), &how) &&
                    (strcmp(how.name, "$sum") == 0 || strcmp(how.name, "$avg") == 0) && how.v.type == MRS_STRING;
        const char *path = sums ? mrs_val_text(how.v, &n) : "";
        if (path[0] == '$' && path[1] && path[1] != '$') {
            plain_path(path + 1, name);
            credit(p, coll, SUM, name, 1);
        }
    }
}

/* Whether fields after this stage are those of the stored documents. */
static bool
keeps_fields(const char *stage)
{
    static const char *const keep[] = {"$match", "$sort", "$limit", "$skip", "$unwind", "$lookup", "$graphLookup"};
    return MRS_IS_ONE_OF(stage, keep);
}

/* {from: "other"}: a read of documents of both. */
static bool
count_lookup(struct profile *p, uint32_t coll, struct mrs_val stage)
{
    struct mrs_val from = stage.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(stage), "from") : mrs_missing();
    const struct mrsi_collection *c = &p->x->coll[coll];
    char ns[NAME_MOST];
    uint32_t n;
    if (from.type != MRS_STRING ||
        snprintf(ns, sizeof ns, "%.*s.%s", (int)c->db_n, c->ns, mrs_val_text(from, &n)) >= (int)sizeof ns) {
        return false;
    }
    credit(p, coll, TOGETHER, ns, 1);
    return true;
}

static void
count_pipeline(struct profile *p, uint32_t coll, struct mrs_view pipeline)
{
    struct mrs_walk w;
    struct mrs_elem at, stage;
    struct mrs_view filter = mrs_empty_doc(), projection = mrs_empty_doc();
    bool stored = true, joins = false;
    mrs_walk_init(&w, pipeline);
    for (uint32_t i = 0; mrs_walk_next(&w, &at) > 0; i++) {
        if (at.v.type != MRS_DOCUMENT || !first_of(mrs_val_view(at.v), &stage)) {
            continue;
        }
        struct mrs_view body = stage.v.type == MRS_DOCUMENT ? mrs_val_view(stage.v) : mrs_empty_doc();
        filter = i == 0 && strcmp(stage.name, "$match") == 0 ? body : filter;
        if (strcmp(stage.name, "$lookup") == 0 || strcmp(stage.name, "$graphLookup") == 0) {
            joins |= count_lookup(p, coll, stage.v);
        } else if (stored && strcmp(stage.name, "$project") == 0) {
            projection = body;
        } else if (stored && strcmp(stage.name, "$group") == 0) {
            count_sums(p, coll, body);
        }
        stored = stored && keeps_fields(stage.name);
    }
    if (!joins) {
        count_read(p, coll, filter, projection);
    }
}

/* ---- writes ---- */
static void
count_paths(struct profile *p, uint32_t coll, struct mrs_view fields, uint64_t n)
{
    struct mrs_walk w;
    struct mrs_elem x;
    char name[NAME_MOST];
    mrs_walk_init(&w, fields);
    while (mrs_walk_next(&w, &x) > 0) {
        plain_path(x.name, name);
        credit(p, coll, UPDATE, name, n);
    }
}

/* u: operators, a pipeline of stages in the form of operators, or a whole document. */
static void
count_update(struct profile *p, uint32_t coll, struct mrs_val u, uint64_t n)
{
    struct mrs_walk w;
    struct mrs_elem x, op;
    bool known = u.type == MRS_DOCUMENT || u.type == MRS_ARRAY;
    credit(p, coll, WRITES, "", n);
    mrs_walk_init(&w, known ? mrs_val_view(u) : mrs_empty_doc());
    while (mrs_walk_next(&w, &x) > 0) {
        op = x;
        bool there = u.type == MRS_DOCUMENT ||
                     (x.v.type == MRS_DOCUMENT && first_of(mrs_val_view(x.v), &op) && strcmp(op.name, "$match") != 0);
        if (there && *op.name == '$' && op.v.type == MRS_DOCUMENT) {
            count_paths(p, coll, mrs_val_view(op.v), n);
        }
    }
}

/* The number of documents written, if the server recorded it. */
static uint64_t
written(struct mrs_view doc, const char *name)
{
    int64_t n;
    return !mrs_val_integral(mrs_doc_get(doc, name), &n) ? 1 : n > 0 ? (uint64_t)n : 0;
}

static void
count_updates(struct profile *p, uint32_t coll, struct mrs_view doc, struct mrs_view command)
{
    struct mrs_view list = sub(command, "updates");
    struct mrs_val u = mrs_doc_get(command, "u");
    struct mrs_walk w;
    struct mrs_elem x;
    if (list.n <= MRS_DOC_MIN) {
        u = u.type == MRS_MISSING ? mrs_doc_get(doc, "updateobj") : u; /* 3.4 and before */
        count_update(p, coll, u, written(doc, "nModified"));
        return;
    }
    mrs_walk_init(&w, list);
    while (mrs_walk_next(&w, &x) > 0) {
        if (x.v.type == MRS_DOCUMENT) {
            count_update(p, coll, mrs_doc_get(mrs_val_view(x.v), "u"), 1);
        }
    }
}

/* ---- one operation ---- */
static bool
count_command(struct profile *p, uint32_t coll, struct mrs_view command)
{
    struct mrs_elem verb;
    const char *name = first_of(command, &verb) ? verb.name : "";
    if (strcmp(name, "aggregate") == 0) {
        count_pipeline(p, coll, sub(command, "pipeline"));
    } else if (strcmp(name, "count") == 0 || strcmp(name, "distinct") == 0) {
        count_read(p, coll, sub(command, "query"), mrs_empty_doc());
    } else if (strcmp(name, "findAndModify") == 0 || strcmp(name, "findandmodify") == 0) {
        struct mrs_val u = mrs_doc_get(command, "update");
        if (u.type == MRS_MISSING) {
            credit(p, coll, DELETE, "", 1);
        } else {
            count_update(p, coll, u, 1);
        }
    } else {
        return false;
    }
    return true;
}

static bool
count_kind(struct profile *p, uint32_t coll, struct mrs_view doc)
{
    struct mrs_val op = mrs_doc_get(doc, "op");
    struct mrs_view command = sub(doc, "command");
    command = command.n > MRS_DOC_MIN ? command : sub(doc, "query"); /* 3.4 and before */
    if (mrs_val_is_text(op, "query")) {
        count_read(p, coll, sub(command, "filter"), sub(command, "projection"));
    } else if (mrs_val_is_text(op, "insert")) {
        credit(p, coll, INSERT, "", written(doc, "ninserted"));
    } else if (mrs_val_is_text(op, "update")) {
        count_updates(p, coll, doc, command);
    } else if (mrs_val_is_text(op, "remove")) {
        credit(p, coll, DELETE, "", written(doc, "ndeleted"));
    } else {
        return mrs_val_is_text(op, "command") && count_command(p, coll, command);
    }
    return true;
}

/* Tools read whole collections, and no user waits for them. */
static bool
by_a_tool(struct mrs_view doc)
{
    static const char *const tools[] = {"mongodump", "mongorestore", "mongoexport", "mongoimport", "mongoreshape"};
    struct mrs_val app = mrs_doc_get(doc, "appName"), mark = mrs_doc_get(sub(doc, "command"), "comment");
    uint32_t n;
    const char *name = app.type == MRS_STRING ? mrs_val_text(app, &n) : "";
    const char *value = mark.type == MRS_STRING ? mrs_val_text(mark, &n) : "";
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (strncmp(name, tools[i], strlen(tools[i])) == 0) {
            return true;
        }
    }
    return strncmp(value, "mongoreshape ", 13) == 0;
}

static enum mrs_status
count_operation(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    struct profile *p = arg;
    struct mrs_val ns = mrs_doc_get(doc, "ns"), ts = mrs_doc_get(doc, "ts");
    int64_t ms;
    uint32_t n;
    (void)worker;
    (void)ordinal;
    (void)e;
    const struct profile_row *c = ns.type == MRS_STRING ? row_of(p, 0, COLLECTION, mrs_val_text(ns, &n), false) : NULL;
    if (!c || by_a_tool(doc) || mrs_doc_get(doc, "errMsg").type != MRS_MISSING || !count_kind(p, (uint32_t)c->n, doc)) {
        return MRS_OK;
    }
    p->operations++;
    if (ts.type == MRS_DATE) {
        p->from = mrs_val_i64(ts) < p->from ? mrs_val_i64(ts) : p->from;
        p->to = mrs_val_i64(ts) > p->to ? mrs_val_i64(ts) : p->to;
    }
    ms = mrs_val_integral(mrs_doc_get(doc, "millis"), &ms) ? ms : 0;
    p->least_ms = ms < p->least_ms ? ms : p->least_ms;
    return MRS_OK;
}

/* ---- the workload ---- */
static int
in_order(const void *a, const void *b)
{
    const struct profile_row *x = a, *y = b;
    int d = (x->coll > y->coll) - (x->coll < y->coll);
    d = d ? d : (int)x->kind - (int)y->kind;
    return d ? d : strcmp(x->name, y->name);
}

static void
put_collection(struct mrs_build *b, const struct profile_row *row, uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        enum profile_kind kind = row[i].kind;
        if (!kinds[kind].by_name) {
            mrs_build_i64(b, kinds[kind].key, (int64_t)row[i++].n);
            continue;
        }
        mrs_build_open(b, kinds[kind].key, (uint32_t)strlen(kinds[kind].key), MRS_DOCUMENT);
        for (; i < n && row[i].kind == kind; i++) {
            mrs_build_count(b, row[i].name, (uint32_t)strlen(row[i].name), row[i].n);
        }
        mrs_build_close(b);
    }
}

static enum mrs_status
put_workload(struct profile *p, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    uint8_t room[16];
    mrs_buf_init(&buf, p->x->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_i32(&b, "workload", 1);
    mrs_build_text(&b, "source", "system.profile", 14);
    mrs_build_i64(&b, "operations", (int64_t)p->operations);
    if (p->to >= p->from) {
        mrs_build_val(&b, "from", 4, mrs_make_i64(room, p->from, MRS_DATE));
        mrs_build_val(&b, "to", 2, mrs_make_i64(room, p->to, MRS_DATE));
    }
    mrs_build_i64(&b, "leastMillis", p->least_ms);
    mrs_build_open(&b, "collections", 11, MRS_DOCUMENT);
    qsort(p->row, p->rows, sizeof *p->row, in_order);
    for (uint32_t i = 0, n; i < p->rows; i += n) {
        for (n = 0; i + n < p->rows && p->row[i + n].coll == p->row[i].coll; n++) {
        }
        const char *ns = p->x->coll[p->row[i].coll].ns;
        mrs_build_open(&b, ns, (uint32_t)strlen(ns), MRS_DOCUMENT);
        put_collection(&b, &p->row[i], n);
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    const uint8_t *kept = s == MRS_OK ? mrs_arena_copy(&p->x->arena, doc.p, doc.n) : NULL;
    p->x->workload = kept ? (struct mrs_view){kept, doc.n} : mrs_empty_doc();
    mrs_buf_clear(&buf);
    return s == MRS_OK && !kept ? mrs_err_memory(e, doc.n) : s;
}

/* The source of figures: for the whole report, and for each rule. */
static enum mrs_status
put_source(struct profile *p, struct mrs_err *e)
{
    char text[256], from[40], to[40], quick[80] = "", when[100] = "";
    if (p->to >= p->from) {
        snprintf(when, sizeof when, ", %s to %s", mrsi_iso_time(p->from, from), mrsi_iso_time(p->to, to));
    }
    if (p->least_ms >= QUICK_MS) {
        snprintf(quick, sizeof quick, ", none quicker than %lld ms: it does not note those", (long long)p->least_ms);
    }
    snprintf(text, sizeof text, "%llu operations in system.profile%s%s", (unsigned long long)p->operations, when,
             quick);
    p->x->workload_source = "system.profile";
    p->x->measured = mrs_arena_copy(&p->x->arena, text, strlen(text) + 1);
    return mrs_allocated(p->x->measured, sizeof text, e);
}

static enum mrs_status
conclude(struct profile *p, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    uint32_t kept = 0;
    if (p->operations == 0) {
        return s;
    }
    if (p->operations < FEW) {
        return mrsi_model_leave(p->x, e, "system.profile has %llu operations on these collections: too few to tell "
                                "how often they are read and written", (unsigned long long)p->operations);
    }
    if (p->left) {
        s = mrsi_model_leave(p->x, e, "of the operations in system.profile %llu were not counted: they name more "
                             "than %d paths", (unsigned long long)p->left, ROWS);
    }
    for (uint32_t i = 0; i < p->rows; i++) { /* without the names of collections */
        if (p->row[i].kind != COLLECTION) {
            p->row[kept++] = p->row[i];
        }
    }
    p->rows = kept;
    MRS_THEN(s, put_workload(p, e));
    MRS_THEN(s, put_source(p, e));
    return s;
}

enum mrs_status
mrsi_workload_measure(struct mrsi_inspection *x, const struct mrs_inspect_source *source, struct mrs_err *e)
{
    MRS_ASSERT(x->coll || x->colls == 0);
    struct profile p = {.x = x, .from = INT64_MAX, .to = INT64_MIN, .least_ms = INT64_MAX};
    struct mrs_inspect_sink to = {.doc = count_operation, .arg = &p, .in_order = true};
    if (!source->profile || x->workload.n > MRS_DOC_MIN) { /* a given workload has priority */
        return MRS_OK;
    }
    mrs_arena_init(&p.arena, x->mem);
    p.row = mrs_arena_alloc(&p.arena, (size_t)ROWS * sizeof *p.row);
    p.slot = mrs_zalloc(x->mem, SLOTS * sizeof *p.slot);
    enum mrs_status s = p.row && p.slot ? MRS_OK : mrs_err_memory(e, ROWS * sizeof *p.row);
    for (uint32_t i = 0; s == MRS_OK && i < x->colls; i++) {
        struct profile_row *r = row_of(&p, 0, COLLECTION, x->coll[i].ns, true);
        if (r) {
            r->n = i;
        }
    }
    MRS_THEN(s, source->profile(source->arg, &to, e));
    MRS_THEN(s, conclude(&p, e));
    mrs_free(x->mem, p.slot);
    mrs_arena_clear(&p.arena);
    return s;
}
