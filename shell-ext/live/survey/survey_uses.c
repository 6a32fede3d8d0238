/* SPDX-License-Identifier: Apache-2.0 */
/* survey_uses.c - counts the uses of a collection's indexes, summed over the queried members.
 *
 * Each member counts its own reads, since its start or the index build. So the primary is queried in addition to the
 * member that answers our reads, and each shard behind a mongos answers for itself. An index is reported as unused only
 * if all of them have counted for a week. */
#include "survey.h"

#include "live/link/bson.h"

enum { DAY_MS = 86400000, SETTLED_MS = 7 * DAY_MS };

struct use_count {
    const char *name;
    uint64_t uses;
    int64_t since; /* the latest of all members */
};
struct use_counts {
    struct live_survey *v;
    struct mrs_arena arena;
    struct use_count *one;
    uint32_t n, cap;
    struct mrs_buf members; /* "db1:27017, db2:27017" */
    uint32_t n_before;      /* length of members before this query */
    int tries;
};

static struct use_count *
count_of(struct use_counts *u, const char *name, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(u->n <= u->cap);
    for (uint32_t i = 0; i < u->n; i++) {
        if (strcmp(u->one[i].name, name) == 0) {
            return &u->one[i];
        }
    }
    struct use_count *more = mrs_arena_more(&u->arena, u->one, u->n, &u->cap, sizeof *more);
    const char *kept = more ? mrs_arena_copy(&u->arena, name, n + 1) : NULL;
    if (!kept) {
        mrs_err_memory(e, sizeof *more);
        return NULL;
    }
    u->one = more;
    u->one[u->n] = (struct use_count){.name = kept, .since = INT64_MIN};
    return &u->one[u->n++];
}

/* Do the first n bytes of the members include this one? */
static bool
names(const struct use_counts *u, uint32_t n, const char *host)
{
    MRS_ASSERT(n <= u->members.n);
    size_t len = strlen(host);
    const char *all = (const char *)u->members.p;
    for (const char *at = all; n && *at && at < all + n; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, host, len) == 0 && (at[len] == ',' || at[len] == 0)) {
            return true;
        }
    }
    return false;
}

/* Adds one member's figures for one index. */
static enum mrs_status
take(struct use_counts *u, struct mrs_view stats, struct mrs_err *e)
{
    struct mrs_val name = live_at(stats, "name"), since = live_at(stats, "accesses.since");
    int64_t ops = live_int_at(stats, "accesses.ops", -1);
    char host[280];
    uint32_t n;
    live_text_at(stats, "host", host, sizeof host);
    if (name.type != MRS_STRING || since.type != MRS_DATE || ops < 0 || names(u, u->n_before, host)) {
        return MRS_OK;
    }
    if (*host && !names(u, (uint32_t)u->members.n, host)) {
        u->members.n -= u->members.n > 0; /* its NUL */
        mrs_buf_printf(&u->members, "%s%s", u->members.n ? ", " : "", host);
        mrs_buf_byte(&u->members, 0);
    }
    const char *text = mrs_val_text(name, &n);
    struct use_count *c = count_of(u, text, n, e);
    if (!c) {
        return MRS_DEAD;
    }
    c->uses += (uint64_t)ops;
    c->since = mrs_val_i64(since) > c->since ? mrs_val_i64(since) : c->since;
    return mrs_buf_status(&u->members, e);
}

/* END: connection lost. */
static enum mrs_status
read_index_stats(struct use_counts *u, const struct mrs_coll *coll, unsigned flags, struct live_fault *f,
                 struct mrs_err *e)
{
    struct live_cursor *cursor = NULL;
    struct mrs_buf pipeline;
    struct mrs_view stages, doc;
    u->n_before = (uint32_t)u->members.n;
    mrs_buf_init(&pipeline, u->v->job->mem, 1024);
    enum mrs_status s = live_doc(&pipeline, &stages, e, "[{$indexStats: {}}]");
    MRS_THEN(s, live_aggregate(u->v->job->link, coll, stages, mrs_empty_doc(), LIVE_LOCAL | flags, &cursor, e));
    while (s == MRS_OK && (s = live_cursor_next(cursor, &doc, f, e)) == MRS_OK) {
        s = take(u, doc, e);
    }
    live_cursor_close(cursor);
    mrs_buf_clear(&pipeline);
    return s == MRS_END ? MRS_OK : s;
}

/* Queries the member that answers reads, then the primary; after a lost connection everything is counted again. */
static enum mrs_status
read_members(struct use_counts *u, const struct mrs_coll *coll, struct live_fault *f, struct mrs_err *e)
{
    enum mrs_status s = read_index_stats(u, coll, 0, f, e);
    if (s == MRS_OK && live_link_replicated(u->v->job->link)) {
        s = read_index_stats(u, coll, LIVE_ON_PRIMARY, f, e);
    }
    if (s == MRS_FAIL && f->kind == LIVE_FAULT_NETWORK) {
        u->n = 0;
        mrs_buf_reset(&u->members);
        return live_survey_again(u->v, coll->ns, &u->tries, e);
    }
    return s;
}

static enum mrs_status
put_counts(struct use_counts *u, struct mrs_view *out, struct mrs_err *e)
{
    struct mrs_build b;
    uint8_t room[16];
    int64_t now = mrs_clock_wall();
    mrs_buf_reset(&u->v->uses);
    mrs_build_init(&b, &u->v->uses);
    for (uint32_t i = 0; i < u->n; i++) {
        const struct use_count *c = &u->one[i];
        if (!c->uses && now - c->since < SETTLED_MS) {
            continue;
        }
        const char *members = u->members.n ? (const char *)u->members.p : "the server";
        mrs_build_open(&b, c->name, (uint32_t)strlen(c->name), MRS_DOCUMENT);
        mrs_build_i64(&b, "uses", (int64_t)c->uses);
        mrs_build_val(&b, "since", 5, mrs_make_i64(room, c->since, MRS_DATE));
        mrs_build_i64(&b, "days", (now - c->since) / DAY_MS);
        mrs_build_text(&b, "members", members, (uint32_t)strlen(members));
        mrs_build_close(&b);
    }
    return mrs_build_finish(&b, out, e);
}

enum mrs_status
live_survey_uses(struct live_survey *v, const struct mrs_coll *coll, struct mrs_view *out, struct mrs_err *e)
{
    struct use_counts u = {.v = v};
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    struct mrs_err own;
    enum mrs_status s;
    mrs_arena_init(&u.arena, v->job->mem);
    mrs_buf_init(&u.members, v->job->mem, 1 << 16);
    do {
        mrs_err_clear(&own);
        s = read_members(&u, coll, &f, &own);
    } while (s == MRS_END);
    bool unknown = s == MRS_FAIL && f.kind != LIVE_FAULT_NETWORK && f.kind != LIVE_FAULT_NONE;
    v->uses_denied |= unknown && f.kind == LIVE_FAULT_DENIED;
    if (s == MRS_OK) {
        s = put_counts(&u, out, e);
    } else if (unknown) { /* unknown figures are omitted */
        *out = mrs_empty_doc();
        s = MRS_OK;
    } else if (e) {
        *e = own;
    }
    mrs_buf_clear(&u.members);
    mrs_arena_clear(&u.arena);
    return s;
}
