/* SPDX-License-Identifier: Apache-2.0 */
/* facts_write.c - what writing keeps, refuses and promises, and how a running operation is found and ended.
 *
 * A document must come back as the bytes that went in; the few places where a server changes them have to be known.
 */
#include "facts.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
insert_bson(struct facts *f, const bson_t *b)
{
    mongoc_collection_t *c = mongoc_client_get_collection(f->one, f->db, f->coll);
    bson_error_t error = {0};
    bool fine = mongoc_collection_insert_one(c, b, NULL, NULL, &error);

    f->code = fine ? 0 : (int)error.code;
    if (!fine)
        seen(f, "%u %.160s", error.code, error.message);
    mongoc_collection_destroy(c);
    return fine;
}

static bool
key_pattern(struct facts *f)
{
    bson_iter_t at;

    if (!put(f, "{'_id':1}"))
        return false;
    put(f, "{'_id':1}");
    if (f->code != 11000)
        return seen(f, "code %d", f->code);
    return reply_at(f, "writeErrors.0.keyPattern._id", &at) || seen(f, "no keyPattern");
}

static bool
unordered_goes_on(struct facts *f)
{
    if (!put(f, "{'_id':2}"))
        return false;
    say(f, "{'insert':'@','ordered':false,'documents':[{'_id':1},{'_id':2},{'_id':3}]}");
    if (f->code != 11000 || reply_number(f, "n") != 2 || reply_number(f, "writeErrors.0.index") != 1)
        return seen(f, "code %d, n %d", f->code, (int)reply_number(f, "n"));
    return finds(f, "{}", "1,2,3");
}

static bool
comes_back(struct facts *f, const char *text)
{
    bson_t *b = document(f, text);
    bool holds = insert_bson(f, b) && is_bson(f, "1", b);

    bson_destroy(b);
    return holds;
}

static bool
bytes_kept(struct facts *f)
{
    return comes_back(f, "{'_id':1,'z':1,'a':{'$numberDouble':'-0.0'},'m':{'$numberDecimal':'1.00'},"
                      "'n':{'$numberDouble':'NaN'},'l':{'$numberLong':'1'},'c':{'$code':'f','$scope':{'q':1}},"
                      "'r':{'$regularExpression':{'pattern':'a','options':'ix'}},'b':{'$binary':{'base64':'AAE=',"
                      "'subType':'80'}},'t':{'$timestamp':{'t':1,'i':2}},'k':{'$minKey':1},'K':{'$maxKey':1},"
                      "'':[{'':null}],'d':{'$date':{'$numberLong':'-1'}},'o':{'$oid':'57e193d7a9cc81b4027498b1'}}");
}

static bool
old_types_kept(struct facts *f)
{
    return comes_back(f, "{'_id':1,'u':{'$undefined':true},'s':{'$symbol':'x'},"
                      "'p':{'$dbPointer':{'$ref':'d.c','$id':{'$oid':'57e193d7a9cc81b4027498b1'}}}}");
}

static bool
replace_keeps(struct facts *f)
{
    const char *after = "{'_id':1,'z':{'$numberDecimal':'2.50'},'a':[1,{'y':1,'x':2}],'f':{'$numberDouble':'-0.0'}}";

    return put(f, "{'_id':1,'a':5,'z':6}") && say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':%s}]}", after) &&
           is(f, "1", after);
}

static bool
duplicate_names(struct facts *f)
{
    bson_t b = BSON_INITIALIZER;
    bool holds;

    BSON_APPEND_INT32(&b, "_id", 1);
    BSON_APPEND_INT32(&b, "a", 1);
    BSON_APPEND_INT32(&b, "b", 2);
    BSON_APPEND_INT32(&b, "a", 3);
    holds = insert_bson(f, &b) && is_bson(f, "1", &b);
    bson_destroy(&b);
    return holds;
}

static bool
zero_timestamp(struct facts *f)
{
    const char *zero = "{'$timestamp':{'t':0,'i':0}}";
    bson_t *b;
    bool holds;

    if (!say(f, "{'insert':'@','documents':[{'_id':1,'t':%s},{'_id':2,'o':{'t':%s}}]}", zero, zero))
        return false;
    b = document(f, "{'_id':2,'o':{'t':{'$timestamp':{'t':0,'i':0}}}}");
    holds = is_bson(f, "2", b) && finds(f, "{'t':{'$gt':{'$timestamp':{'t':1000,'i':0}}}}", "1");
    bson_destroy(b);
    return holds;
}

static bool
zero_timestamp_pipeline(struct facts *f)
{
    const char *after = "{'_id':1,'t':{'$timestamp':{'t':0,'i':0}}}";

    return put(f, "{'_id':1}") &&
           say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':[{'$replaceWith':{'$literal':%s}}]}]}", after) &&
           is(f, "1", after);
}

/* A document of `size` bytes in all. */
static bson_t *
document_of(uint32_t size)
{
    bson_t *b = bson_sized_new(size);
    uint32_t fill = size - 5 - 9 - 8;
    char *text = bson_malloc(fill + 1);

    memset(text, 'x', fill);
    text[fill] = 0;
    BSON_APPEND_INT32(b, "_id", 1);
    bson_append_utf8(b, "t", 1, text, (int)fill);
    bson_free(text);
    return b;
}

static bool
sixteen_mib(struct facts *f)
{
    bson_t *b = document_of(16u << 20), *more = document_of((16u << 20) + 1);
    bool holds = insert_bson(f, b) && is_bson(f, "1", b);

    if (holds) {
        say(f, "{'delete':'@','deletes':[{'q':{'_id':1},'limit':1}]}");
        holds = !insert_bson(f, more) || seen(f, "a document one byte longer is accepted");
    }
    bson_destroy(b);
    bson_destroy(more);
    return holds;
}

static bool
journal_accepted(struct facts *f)
{
    return say(f, "{'insert':'@','documents':[{'_id':1}],'writeConcern':{'w':1,'j':true}}") &&
           say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'a':1}}}],'writeConcern':{'w':1,'j':true}}");
}

static bool
majority_accepted(struct facts *f)
{
    return say(f, "{'insert':'@','documents':[{'_id':1}],'writeConcern':{'w':'majority','j':true}}") &&
           say(f, "{'find':'@','readConcern':{'level':'majority'}}") && reply_number(f, "cursor.firstBatch.0._id") == 1;
}

/* The same session and transaction number twice: the second time nothing is done, the answer is that of the first. A
 * client of its own: a session that has seen this number is of no use to the other probes. */
static bool
retry_answers(struct facts *f)
{
    bson_error_t error;
    mongoc_client_t *own = client_new(f);
    mongoc_client_session_t *s = mongoc_client_start_session(own, NULL, &error);
    bool holds = s != NULL && put(f, "{'_id':1,'n':0}");

    for (int i = 0; i < 2 && holds; i++) {
        holds = say_in(f, s, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$inc':{'n':1}}}],"
                       "'txnNumber':{'$numberLong':'77'}}");
        if (holds && reply_number(f, "n") != 1)
            holds = seen(f, "try %d answers %d", i, (int)reply_number(f, "n"));
    }
    holds = holds && is(f, "1", "{'_id':1,'n':1}");
    if (s != NULL)
        mongoc_client_session_destroy(s);
    mongoc_client_destroy(own);
    return holds;
}

static bool
unknown_refused(struct facts *f)
{
    return put(f, "{'_id':1}") &&
           (!say(f, "{'find':'@','notAnArgument':1}") || seen(f, "find accepts notAnArgument")) &&
           (!say(f, "{'update':'@','updates':[{'q':{},'u':{'$set':{'a':1}}}],'notAnArgument':1}") ||
            seen(f, "update accepts notAnArgument"));
}

static bool
comments(struct facts *f)
{
    return say(f, "{'insert':'@','documents':[{'_id':1}],'comment':'who'}") &&
           say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'a':1}}}],'comment':'who'}") &&
           say(f, "{'find':'@','comment':'who'}") &&
           say(f, "{'delete':'@','deletes':[{'q':{'_id':1},'limit':1}],'comment':'who'}");
}

/* A query that takes seconds: every document makes a long list. */
#define SLOW                                                                                                           \
    "{'find':'@','filter':{'$expr':{'$lt':[{'$sum':{'$map':{'input':{'$range':[0,200000]},'in':{'$multiply':["        \
    "'$$this',1.5]}}}},0]}},'comment':'%s','maxTimeMS':%d}"

static bool
many_documents(struct facts *f)
{
    char *text;
    size_t n;
    FILE *s = text_open(&text, &n);
    bool fine;

    for (int i = 0; i < 200; i++)
        fprintf(s, "%s{'_id':%d}", i > 0 ? "," : "", i);
    fclose(s);
    fine = put(f, text);
    free(text);
    return fine;
}

/* How soon after its limit depends on the machine: no part of the fact. */
static bool
max_time(struct facts *f)
{
    if (!many_documents(f))
        return false;
    say(f, SLOW, "bounded", 300);
    return f->code == 50 || (f->code == 0 && seen(f, "the command ran to its end"));
}

/* Runs SLOW in a process of its own; the pipe tells what code it ended with. */
static pid_t
slow_process(struct facts *f, int out)
{
    pid_t child = fork();

    if (child == 0) {
        mongoc_client_t *own = client_new(f);
        bson_t *command;
        char *text = bson_strdup_printf(SLOW, "mongoreshape-facts-slow", 3000);

        command = document(f, text);
        ask(f, own, NULL, NULL, command);
        if (write(out, &f->code, sizeof f->code) < 0)
            _exit(1);
        _exit(0);
    }
    return child;
}

static int64_t
operation_number(struct facts *f)
{
    for (int i = 0; i < 20; i++) {
        if (!say_admin(f, "{'aggregate':1,'pipeline':[{'$currentOp':{'allUsers':true}},"
                       "{'$match':{'command.comment':'mongoreshape-facts-slow'}}],'cursor':{}}"))
            return -1;
        if (reply_number(f, "cursor.firstBatch.0.opid") >= 0)
            return reply_number(f, "cursor.firstBatch.0.opid");
        usleep(50000);
    }
    seen(f, "the operation is not listed");
    return -1;
}

static bool
found_and_killed(struct facts *f, bool kill_it)
{
    int pipes[2], code = -1;
    int64_t number;
    pid_t child;

    if (!many_documents(f) || pipe(pipes) != 0)
        return false;
    child = slow_process(f, pipes[1]);
    close(pipes[1]);
    number = operation_number(f);
    if (number >= 0 && kill_it)
        say_admin(f, "{'killOp':1,'op':%d}", (int)number);
    if (number < 0 || !kill_it || f->code != 0)
        kill(child, SIGKILL);
    if (read(pipes[0], &code, sizeof code) != sizeof code)
        code = -1;
    close(pipes[0]);
    waitpid(child, NULL, 0);
    if (number < 0 || f->code != 0)
        return false;
    return !kill_it || code == 11601 || seen(f, "it ended with code %d", code);
}

static bool
current_op(struct facts *f)
{
    return found_and_killed(f, false);
}

static bool
kill_op(struct facts *f)
{
    return found_and_killed(f, true);
}

static bool
hello_tells(struct facts *f)
{
    bson_iter_t at;

    if (!say_admin(f, "{'hello':1}"))
        return false;
    if (!reply_at(f, "localTime", &at) || !BSON_ITER_HOLDS_DATE_TIME(&at))
        return seen(f, "no localTime");
    return (reply_at(f, "topologyVersion.processId", &at) && BSON_ITER_HOLDS_OID(&at)) || seen(f, "no topologyVersion");
}

const struct fact facts_of_writes[] = {
    {"duplicate-key-told", "a duplicate `_id` is answered with code 11000 and keyPattern", key_pattern},
    {"unordered-goes-on", "an unordered insert goes on after 11000 and says which", unordered_goes_on},
    {"bytes-kept", "an inserted document comes back byte for byte", bytes_kept},
    {"old-types-kept", "so it does with undefined, symbol and dbPointer in it", old_types_kept},
    {"replace-keeps-bytes", "a replacement is stored byte for byte, in its order", replace_keeps},
    {"duplicate-names-kept", "two fields of one name are kept as they are", duplicate_names},
    {"zero-timestamp-replaced", "a top-level Timestamp(0,0) is replaced on insert, a nested one kept", zero_timestamp},
    {"zero-timestamp-by-pipeline", "a pipeline's `$literal` document keeps a top-level Timestamp(0,0)",
     zero_timestamp_pipeline},
    {"sixteen-mib", "a document of 16 MiB goes in and out, one byte more is refused", sixteen_mib},
    {"journal-accepted", "`w: 1, j: true` is accepted", journal_accepted},
    {"majority-accepted", "`w: majority` and readConcern majority are accepted", majority_accepted},
    {"retry-answers", "a retried write is done once and answered twice", retry_answers},
    {"unknown-argument-refused", "unknown arguments of a command are refused", unknown_refused},
    {"comment-accepted", "`comment` is accepted on reads and writes", comments},
    {"max-time-ends", "`maxTimeMS` ends a command with code 50", max_time},
    {"current-op", "`$currentOp` lists a running operation with its comment", current_op},
    {"kill-op", "`killOp` ends it with code 11601", kill_op},
    {"hello-tells", "`hello` tells localTime and topologyVersion", hello_tells},
    {0}};
