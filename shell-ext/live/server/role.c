/* SPDX-License-Identifier: Apache-2.0 */
/* role.c - the minimal role of a user for a plan: the output of `privileges`.
 *
 * It uses the same table as the check of privileges before a run, so the two cannot differ. A rename, and a collection
 * that a quiet run may build under a temporary name, need privileges on the whole database. */
#include "preflight.h"

/* All actions of the commands on a collection, before and after its creation. */
static unsigned
needs_of_all(struct live_check *c, const struct live_place *p, bool contract)
{
    static const char *const commands[] = {"apply", "verify", "rollback", "contract"};
    static const struct live_coll_info made;
    struct live_place there = *p;
    unsigned bits = 0;
    there.info = &made;
    for (int i = 0; i < (contract ? 4 : 3); i++) {
        c->command = commands[i];
        c->apply = i == 0;
        bits |= live_needs(c, p) | live_needs(c, &there);
    }
    return bits;
}

/* Actions of a quiet run on collections that it builds in this database. */
static unsigned
needs_beside(struct live_check *c, const char *db)
{
    const struct live_place built = {.beside = true};
    for (uint32_t i = 0; c->quiet && i < c->n_places; i++) {
        const struct live_place *p = &c->place[i];
        if (strcmp(p->coll.db, db) == 0 && p->info && p->roles & (MRS_ROLE_CHANGE | MRS_ROLE_ADD | MRS_ROLE_TAKE)) {
            return live_needs(c, &built);
        }
    }
    return 0;
}

/* db NULL: the cluster. */
static void
put_on(struct mrs_build *b, uint32_t *n, const char *db, const char *coll, unsigned bits)
{
    MRS_ASSERT(!db || coll);
    char index[12];
    mrs_build_open(b, index, mrs_index_name(index, (*n)++), MRS_DOCUMENT);
    mrs_build_open(b, "resource", 8, MRS_DOCUMENT);
    if (db) {
        mrs_build_text(b, "db", db, (uint32_t)strlen(db));
        mrs_build_text(b, "collection", coll, (uint32_t)strlen(coll));
    } else {
        mrs_build_bool(b, "cluster", true);
    }
    mrs_build_close(b);
    live_put_actions(b, bits);
    mrs_build_close(b);
}

/* Each collection, and its database at its first occurrence. */
static void
put_places(struct live_check *c, struct mrs_build *b, uint32_t *n, bool contract)
{
    for (uint32_t i = 0; i < c->n_places; i++) {
        const struct live_place *p = &c->place[i];
        bool first = true;
        unsigned all = MAY_LIST_COLLECTIONS;
        for (uint32_t k = 0; k < c->n_places; k++) {
            bool same = strcmp(c->place[k].coll.db, p->coll.db) == 0;
            first = first && !(same && k < i);
            all |= same ? needs_of_all(c, &c->place[k], contract) & MAY_RENAME : 0;
        }
        put_on(b, n, p->coll.db, p->coll.coll, needs_of_all(c, p, contract) & ~MAY_RENAME);
        if (first) {
            put_on(b, n, p->coll.db, "", all | needs_beside(c, p->coll.db));
        }
    }
}

/* In addition to the mode's needs: privileges to end the operations of a dead process (else the run waits), and to read
 * the state of the server (else the governor has fewer signals). */
static unsigned
needs_of_cluster(const struct live_job *job)
{
    MRS_ASSERT(job->server);
    unsigned bits = MAY_LIST_WORK | MAY_KILL_WORK | MAY_KILL_SESSION | MAY_SERVER_STATUS;
    bits |= job->server->replicated ? MAY_SET_STATUS : 0;
    bits |= job->opts.quiet == LIVE_BY_BLOCK ? MAY_BLOCK_WRITES | MAY_WRITE_BLOCKED : 0;
    return bits | (job->listed ? MAY_LIST_DATABASES : 0);
}

enum mrs_status
live_role(struct live_job *job, const char *name, bool contract, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(job->plan && name);
    struct live_check c = {.job = job, .quiet = job->opts.quiet != LIVE_NOT_QUIET};
    struct mrs_build b;
    struct mrs_view made;
    uint32_t n = 0;
    mrs_arena_init(&c.tmp, job->mem);
    job->opts.repair = true;
    enum mrs_status s = live_check_gather(&c, e);
    if (s == MRS_OK) {
        mrs_build_init(&b, out);
        mrs_build_text(&b, "createRole", name, (uint32_t)strlen(name));
        mrs_build_open(&b, "privileges", 10, MRS_ARRAY);
        put_places(&c, &b, &n, contract);
        put_on(&b, &n, job->opts.state_db, "", MAY_KEEP_STATE);
        put_on(&b, &n, NULL, NULL, needs_of_cluster(job));
        mrs_build_close(&b);
        mrs_build_open(&b, "roles", 5, MRS_ARRAY);
        mrs_build_close(&b);
        s = mrs_build_finish(&b, &made, e);
    }
    mrs_arena_clear(&c.tmp);
    return s;
}
