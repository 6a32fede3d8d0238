/* SPDX-License-Identifier: Apache-2.0 */
/* facts_txn.c - transactions, snapshots and change streams: what holds when two programs meet, or one dies.
 *
 * The tool fences itself by writing its checkpoint first in every transaction; that rests on conflicts being found, on
 * an error ending the transaction, and on a dead client's transaction being freed by killSessions.
 */
#include "facts.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static mongoc_client_session_t *
begin(struct facts *f, mongoc_client_t *client)
{
    bson_error_t error;
    mongoc_client_session_t *s = mongoc_client_start_session(client, NULL, &error);

    if (s == NULL) {
        seen(f, "%.200s", error.message);
        return NULL;
    }
    if (!mongoc_client_session_start_transaction(s, NULL, &error)) {
        seen(f, "%.200s", error.message);
        mongoc_client_session_destroy(s);
        return NULL;
    }
    return s;
}

/* The code of the commit: 0 is done. */
static int
commit(struct facts *f, mongoc_client_session_t *s)
{
    bson_error_t error = {0};
    bson_t reply;
    bool fine = mongoc_client_session_commit_transaction(s, &reply, &error);

    bson_destroy(&reply);
    if (!fine)
        seen(f, "commit: %u %.160s", error.code, error.message);
    return fine ? 0 : (int)error.code;
}

static void
end(mongoc_client_session_t *s)
{
    if (s == NULL)
        return;
    if (mongoc_client_session_in_transaction(s))
        mongoc_client_session_abort_transaction(s, NULL);
    mongoc_client_session_destroy(s);
}

static bool
commits(struct facts *f)
{
    mongoc_client_session_t *s;
    bool holds = put(f, "{'_id':1,'n':0}") && (s = begin(f, f->one)) != NULL;

    if (!holds)
        return false;
    holds = say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'n':1}}}]}") &&
            say_in(f, s, "{'insert':'@','documents':[{'_id':2}]}") &&
            say_in(f, s, "{'find':'@','filter':{'_id':2}}") && reply_number(f, "cursor.firstBatch.0._id") == 2 &&
            say_two(f, "{'find':'@','filter':{'_id':2}}") &&
            (reply_number(f, "cursor.firstBatch.0._id") < 0 || seen(f, "seen from outside before the commit")) &&
            commit(f, s) == 0 && finds(f, "{}", "1,2") && is(f, "1", "{'_id':1,'n':1}");
    end(s);
    return holds;
}

static bool
aborts(struct facts *f)
{
    mongoc_client_session_t *s;
    bool holds = put(f, "{'_id':1,'n':0}") && (s = begin(f, f->one)) != NULL;

    if (!holds)
        return false;
    holds = say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'n':1}}}]}") &&
            say_in(f, s, "{'insert':'@','documents':[{'_id':2}]}");
    end(s);
    return holds && finds(f, "{}", "1") && is(f, "1", "{'_id':1,'n':0}");
}

static bool
duplicate_aborts(struct facts *f)
{
    mongoc_client_session_t *s;
    bool holds = put(f, "{'_id':1}") && (s = begin(f, f->one)) != NULL;
    int code;

    if (!holds)
        return false;
    holds = say_in(f, s, "{'insert':'@','documents':[{'_id':2}]}");
    if (holds) {
        say_in(f, s, "{'insert':'@','documents':[{'_id':1}]}");
        holds = f->code == 11000 || seen(f, "code %d", f->code);
    }
    if (holds) {
        code = commit(f, s);
        holds = code == 251 || seen(f, "the commit afterwards says %d", code);
    }
    end(s);
    return holds && finds(f, "{}", "1");
}

static bool
conflict(struct facts *f)
{
    mongoc_client_session_t *a = NULL, *b = NULL;
    bool holds = put(f, "{'_id':1,'n':0}") && (a = begin(f, f->one)) != NULL && (b = begin(f, f->two)) != NULL;

    holds = holds && say_in(f, b, "{'find':'@'}") &&
            say_in(f, a, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}]}");
    if (holds) {
        say_in(f, b, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}]}");
        holds = f->code == 112 || (f->code == 0 && seen(f, "both write one document"));
        holds = holds && (reply_has_label(f, "TransientTransactionError") || seen(f, "112 without its label"));
    }
    holds = holds && commit(f, a) == 0;
    end(a);
    end(b);
    return holds && is(f, "1", "{'_id':1,'n':1}");
}

/* A write of before, seen from a snapshot that does not have it: exact even when the values are equal again. */
static bool
conflict_exact(struct facts *f)
{
    mongoc_client_session_t *s = NULL;
    bool holds = put(f, "{'_id':1,'n':0},{'_id':2}") && (s = begin(f, f->one)) != NULL;

    holds = holds && say_in(f, s, "{'find':'@','filter':{'_id':2}}") &&
            say_two(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'n':1}}}]}") &&
            say_two(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'n':0}}}]}");
    if (holds) {
        say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'m':1}}}]}");
        holds = f->code == 112 || (f->code == 0 && seen(f, "the write of before is not noticed"));
    }
    end(s);
    return holds;
}

/* A write from outside to what an open transaction has written, with 500 ms of patience. True: it was not done. */
static bool
outside_is_held(struct facts *f)
{
    int64_t begun = bson_get_monotonic_time();

    say_two(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':100}}}],'maxTimeMS':500}");
    begun = (bson_get_monotonic_time() - begun) / 1000;
    if (f->code == 0)
        return seen(f, "the write from outside was done");
    return f->code == 50 || f->code == 112 || f->code == 24 || seen(f, "code %d after %d ms", f->code, (int)begun);
}

static bool
outside_waits(struct facts *f)
{
    mongoc_client_session_t *s = NULL;
    bool holds = put(f, "{'_id':1,'n':0}") && (s = begin(f, f->one)) != NULL;

    holds = holds && say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}]}") &&
            outside_is_held(f) && commit(f, s) == 0 && is(f, "1", "{'_id':1,'n':1}") &&
            say_two(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':100}}}]}") &&
            is(f, "1", "{'_id':1,'n':101}");
    end(s);
    return holds;
}

static bool
kill_session(struct facts *f, const bson_t *lsid)
{
    bson_t command = BSON_INITIALIZER, list;
    bool fine;

    BSON_APPEND_ARRAY_BEGIN(&command, "killSessions", &list);
    BSON_APPEND_DOCUMENT(&list, "0", lsid);
    bson_append_array_end(&command, &list);
    fine = ask(f, f->two, "admin", NULL, &command);
    bson_destroy(&command);
    return fine;
}

static bool
killed_commit(struct facts *f)
{
    mongoc_client_session_t *s = NULL;
    bool holds = put(f, "{'_id':1,'n':0}") && (s = begin(f, f->one)) != NULL;
    int code;

    holds = holds && say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}]}") &&
            kill_session(f, mongoc_client_session_get_lsid(s));
    if (holds) {
        code = commit(f, s);
        holds = code == 251 || (code == 0 && seen(f, "the commit of a killed session was done"));
    }
    end(s);
    return holds && is(f, "1", "{'_id':1,'n':0}");
}

/* Another process opens a transaction, writes, tells its session and dies by kill -9. */
static bool
leave_orphan(struct facts *f, bson_t *lsid)
{
    uint8_t bytes[64];
    int pipes[2];
    ssize_t n;
    pid_t child;

    if (pipe(pipes) != 0 || (child = fork()) < 0)
        return seen(f, "no process");
    if (child == 0) {
        mongoc_client_t *own = client_new(f);
        mongoc_client_session_t *s = begin(f, own);

        if (s != NULL && say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}]}")) {
            const bson_t *id = mongoc_client_session_get_lsid(s);

            if (write(pipes[1], bson_get_data(id), id->len) < 0)
                _exit(1);
        }
        kill(getpid(), SIGKILL);
    }
    close(pipes[1]);
    n = read(pipes[0], bytes, sizeof bytes);
    close(pipes[0]);
    waitpid(child, NULL, 0);
    if (n < 5)
        return seen(f, "no transaction could be left open");
    bson_destroy(lsid);
    bson_init(lsid);
    {
        bson_t got;

        if (!bson_init_static(&got, bytes, (size_t)n))
            return seen(f, "no session id");
        bson_concat(lsid, &got);
    }
    return true;
}

static bool
orphan_stays(struct facts *f)
{
    bson_t lsid = BSON_INITIALIZER;
    bool holds = put(f, "{'_id':1,'n':0}") && leave_orphan(f, &lsid);

    if (holds) {
        usleep(300000);
        holds = outside_is_held(f);
        kill_session(f, &lsid);
    }
    bson_destroy(&lsid);
    return holds;
}

static bool
orphan_freed(struct facts *f)
{
    bson_t lsid = BSON_INITIALIZER;
    bool holds = put(f, "{'_id':1,'n':0}") && leave_orphan(f, &lsid) && kill_session(f, &lsid) &&
                 say_two(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':100}}}],'maxTimeMS':5000}") &&
                 is(f, "1", "{'_id':1,'n':100}");

    bson_destroy(&lsid);
    return holds;
}

/* The first read tells the time of its snapshot, a later one names it. */
static bool
snapshot_reads(struct facts *f)
{
    uint32_t time, number;
    bson_iter_t at;

    if (!put(f, "{'_id':1}") || !say(f, "{'find':'@','readConcern':{'level':'snapshot'}}"))
        return false;
    if (!reply_at(f, "cursor.atClusterTime", &at) || !BSON_ITER_HOLDS_TIMESTAMP(&at))
        return seen(f, "the reply names no atClusterTime");
    bson_iter_timestamp(&at, &time, &number);
    return say_two(f, "{'insert':'@','documents':[{'_id':2}]}") &&
           say(f, "{'find':'@','readConcern':{'level':'snapshot','atClusterTime':{'$timestamp':{'t':%u,'i':%u}}}}",
               time, number) &&
           (!reply_at(f, "cursor.firstBatch.1", &at) || seen(f, "a later insert is seen"));
}

/* Waits for the next event of a stream; gives its kind, "" for none. */
static bool
event_is(struct facts *f, mongoc_change_stream_t *stream, const char *kind, const char *path)
{
    const bson_t *event, *why;
    bson_error_t error;
    bson_iter_t at, inner;

    for (int i = 0; i < 30; i++) {
        if (mongoc_change_stream_next(stream, &event)) {
            if (!bson_iter_init_find(&at, event, "operationType") || strcmp(bson_iter_utf8(&at, NULL), kind) != 0)
                return seen(f, "the event is no %s", kind);
            return path == NULL || (bson_iter_init(&at, event) && bson_iter_find_descendant(&at, path, &inner)) ||
                   seen(f, "the event has no %s", path);
        }
        if (mongoc_change_stream_error_document(stream, &error, &why))
            return seen(f, "%u %.160s", error.code, error.message);
    }
    return seen(f, "no event came");
}

static bool
stream(struct facts *f, bool resumed, bool images)
{
    mongoc_collection_t *c = mongoc_client_get_collection(f->two, f->db, f->coll);
    bson_t none = BSON_INITIALIZER, opts = BSON_INITIALIZER;
    mongoc_change_stream_t *s;
    bool holds = say(f, "{'create':'@'%s}", images ? ",'changeStreamPreAndPostImages':{'enabled':true}" : "") &&
                 put(f, "{'_id':0,'a':1}");

    BSON_APPEND_INT32(&opts, "maxAwaitTimeMS", 100);
    if (images)
        BSON_APPEND_UTF8(&opts, "fullDocumentBeforeChange", "required");
    s = mongoc_collection_watch(c, &none, &opts);
    holds = holds && say(f, "{'update':'@','updates':[{'q':{'_id':0},'u':{'$set':{'a':2}}}]}") &&
            say(f, "{'delete':'@','deletes':[{'q':{'_id':0},'limit':1}]}") &&
            event_is(f, s, "update", images ? "fullDocumentBeforeChange.a" : "documentKey._id");
    if (holds && resumed) {
        BSON_APPEND_DOCUMENT(&opts, "resumeAfter", mongoc_change_stream_get_resume_token(s));
        mongoc_change_stream_destroy(s);
        s = mongoc_collection_watch(c, &none, &opts);
    }
    holds = holds && event_is(f, s, "delete", images ? "fullDocumentBeforeChange.a" : "documentKey._id");
    mongoc_change_stream_destroy(s);
    bson_destroy(&none);
    bson_destroy(&opts);
    mongoc_collection_destroy(c);
    return holds;
}

static bool
stream_sees(struct facts *f)
{
    return stream(f, false, false);
}

static bool
stream_resumes(struct facts *f)
{
    return stream(f, true, false);
}

static bool
stream_before(struct facts *f)
{
    return stream(f, false, true);
}

const struct fact facts_of_transactions[] = {
    {"transaction-commits", "a transaction is seen whole after its commit and not before", commits},
    {"transaction-aborts", "an aborted transaction leaves nothing", aborts},
    {"duplicate-aborts", "11000 inside a transaction ends it; its commit says 251", duplicate_aborts},
    {"write-conflict", "two transactions on one document: 112 with TransientTransactionError", conflict},
    {"conflict-exact", "a write since the snapshot is a conflict though the values are equal again", conflict_exact},
    {"outside-write-held", "a write from outside is not done while a transaction holds the document", outside_waits},
    {"killed-commit-251", "the commit of a killed session says 251 and does nothing", killed_commit},
    {"orphan-stays-open", "the transaction of a client killed by kill -9 still holds its documents", orphan_stays},
    {"kill-sessions-frees", "`killSessions` frees them at once", orphan_freed},
    {"snapshot-reads", "reads at the time of a snapshot do not see later writes", snapshot_reads},
    {"change-stream-sees", "a change stream tells updates and deletes", stream_sees},
    {"change-stream-resumes", "it goes on after a resume token", stream_resumes},
    {"change-stream-before", "it gives the document before the change (pre-images)", stream_before},
    {0}};
