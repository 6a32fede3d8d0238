/* SPDX-License-Identifier: Apache-2.0 */
/* connection_error.c - classifies errors of the driver and the server by the caller's possible reaction.
 *
 * The kinds of struct live_fault come from three sources of different form: libmongoc's domains (no reply), the labels
 * of a reply (the state of a transaction) and the server's codes. Codes that mean that this server is no longer the
 * right one, or that an operation was ended from outside, count as a lost connection: the caller discards its memory
 * and reads its checkpoint. Does not depend on the operation. */
#include "connection_driver.h"

#include <stdio.h>

static const struct {
    int32_t code;
    enum live_fault_kind kind;
} kinds[] = {
    {6, LIVE_FAULT_NETWORK},       /* HostUnreachable */
    {7, LIVE_FAULT_NETWORK},       /* HostNotFound */
    {43, LIVE_FAULT_NETWORK},      /* CursorNotFound */
    {64, LIVE_FAULT_NETWORK},      /* executed here, the majority is unknown */
    {89, LIVE_FAULT_NETWORK},      /* NetworkTimeout */
    {91, LIVE_FAULT_NETWORK},      /* ShutdownInProgress */
    {133, LIVE_FAULT_NETWORK},     /* FailedToSatisfyReadPreference */
    {134, LIVE_FAULT_NETWORK},     /* ReadConcernMajorityNotAvailableYet */
    {189, LIVE_FAULT_NETWORK},     /* PrimarySteppedDown */
    {202, LIVE_FAULT_NETWORK},     /* NetworkInterfaceExceededTimeLimit */
    {237, LIVE_FAULT_NETWORK},     /* CursorKilled */
    {262, LIVE_FAULT_NETWORK},     /* ExceededTimeLimit, of a server that is shutting down or changing state */
    {317, LIVE_FAULT_NETWORK},     /* ConnectionPoolExpired */
    {9001, LIVE_FAULT_NETWORK},    /* SocketException */
    {10107, LIVE_FAULT_NETWORK},   /* NotWritablePrimary */
    {11600, LIVE_FAULT_NETWORK},   /* InterruptedAtShutdown */
    {11601, LIVE_FAULT_NETWORK},   /* Interrupted: killOp, by a process that took over the run */
    {11602, LIVE_FAULT_NETWORK},   /* InterruptedDueToReplStateChange */
    {13435, LIVE_FAULT_NETWORK},   /* NotPrimaryNoSecondaryOk */
    {13436, LIVE_FAULT_NETWORK},   /* NotPrimaryOrSecondary */
    {24, LIVE_FAULT_TRANSIENT},    /* LockTimeout */
    {112, LIVE_FAULT_TRANSIENT},   /* WriteConflict */
    {246, LIVE_FAULT_TRANSIENT},   /* SnapshotUnavailable */
    {206, LIVE_FAULT_NO_TXN},      /* NoSuchSession */
    {225, LIVE_FAULT_NO_TXN},      /* TransactionTooOld */
    {251, LIVE_FAULT_NO_TXN},      /* NoSuchTransaction */
    {290, LIVE_FAULT_NO_TXN},      /* TransactionExceededLifetimeLimitSeconds */
    {11000, LIVE_FAULT_DUPLICATE}, /* DuplicateKey */
    {11001, LIVE_FAULT_DUPLICATE},
    {12582, LIVE_FAULT_DUPLICATE},
    {121, LIVE_FAULT_INVALID},     /* DocumentValidationFailure */
    {13, LIVE_FAULT_DENIED},       /* Unauthorized */
    {18, LIVE_FAULT_DENIED},       /* AuthenticationFailed */
    {50, LIVE_FAULT_TIMEOUT},      /* MaxTimeMSExpired */
    {257, LIVE_FAULT_TOO_LARGE},   /* TransactionTooLarge */
    {10334, LIVE_FAULT_TOO_LARGE}, /* BSONObjectTooLarge */
    {17419, LIVE_FAULT_TOO_LARGE}, /* the document after the update */
    {17420, LIVE_FAULT_TOO_LARGE},
    {17280, LIVE_FAULT_TOO_LARGE}, /* KeyTooLong */
    {26, LIVE_FAULT_MISSING},      /* NamespaceNotFound */
    {27, LIVE_FAULT_MISSING},      /* IndexNotFound */
    {48, LIVE_FAULT_EXISTS},       /* NamespaceExists */
    {68, LIVE_FAULT_EXISTS},       /* IndexAlreadyExists */
    {85, LIVE_FAULT_EXISTS},       /* IndexOptionsConflict */
    {86, LIVE_FAULT_EXISTS},       /* IndexKeySpecsConflict */
};

static enum live_fault_kind
kind_of_code(int32_t code)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].code == code) {
            return kinds[i].kind;
        }
    }
    return LIVE_FAULT_OTHER;
}

static bool
labelled(struct mrs_view reply, const char *label)
{
    struct mrs_val labels = live_at(reply, "errorLabels");
    struct mrs_walk w;
    struct mrs_elem el;
    if (labels.type != MRS_ARRAY) {
        return false;
    }
    for (mrs_walk_init(&w, mrs_val_view(labels)); mrs_walk_next(&w, &el) > 0;) {
        uint32_t n;
        const char *text = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        if (strcmp(text, label) == 0) {
            return true;
        }
    }
    return false;
}

static bool
by_server(const bson_error_t *error)
{
    return error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN;
}

/* The order of the checks matters: an unknown commit is also a lost connection, and a lost connection in a transaction
 * is also labelled transient. */
static enum live_fault_kind
kind_of(const bson_error_t *error, struct mrs_view reply)
{
    if (labelled(reply, "UnknownTransactionCommitResult")) {
        return LIVE_FAULT_UNKNOWN_COMMIT;
    }
    switch (error->domain) {
    case MONGOC_ERROR_STREAM:
    case MONGOC_ERROR_SERVER_SELECTION:
    case MONGOC_ERROR_PROTOCOL:
        return LIVE_FAULT_NETWORK;
    case MONGOC_ERROR_BSON:
        return LIVE_FAULT_TOO_LARGE;
    case MONGOC_ERROR_CLIENT:
        return error->code == MONGOC_ERROR_CLIENT_AUTHENTICATE ? LIVE_FAULT_DENIED : LIVE_FAULT_OTHER;
    default:
        break;
    }
    enum live_fault_kind kind = by_server(error) ? kind_of_code((int32_t)error->code) : LIVE_FAULT_OTHER;
    return kind == LIVE_FAULT_OTHER && labelled(reply, "TransientTransactionError") ? LIVE_FAULT_TRANSIENT : kind;
}

/* Messages of libraries and servers may contain a password: removes it, since messages are logged. */
static void
keep_secret(const struct live_link *l, char *text)
{
    MRS_ASSERT(text);
    size_t n = l->secret ? strlen(l->secret) : 0;
    for (char *at = text; n >= 3 && (at = strstr(at, l->secret)) != NULL;) {
        memset(at, '*', n);
        at += n;
    }
}

static enum mrs_status
fill_fault(const struct live_link *l, const char *what, const char *msg, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(msg && f->kind != LIVE_FAULT_NONE);
    char text[400];
    snprintf(text, sizeof text, "%s", msg);
    keep_secret(l, text);
    if (f->code && f->code_name[0]) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "%s: %s (%d %s)", what, text, (int)f->code, f->code_name);
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "%s: %s", what, text);
}

enum mrs_status
live_fault_report(const struct live_link *l, const char *what, const bson_error_t *error, const bson_t *reply,
                  struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(what && error);
    struct live_fault own;
    struct mrs_view reply_doc = {NULL, 0};
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    if (reply && mrs_doc_check(bson_get_data(reply), reply->len, MRS_DEPTH_READ, NULL) == MRS_OK) {
        reply_doc.p = bson_get_data(reply);
        reply_doc.n = reply->len;
    }
    f->kind = kind_of(error, reply_doc);
    f->code = by_server(error) ? (int32_t)error->code : 0;
    live_text_at(reply_doc, "codeName", f->code_name, sizeof f->code_name);
    return fill_fault(l, what, error->message, f, e);
}

enum mrs_status
live_fault_code(const struct live_link *l, const char *what, struct mrs_view reason, struct live_fault *f,
                struct mrs_err *e)
{
    MRS_ASSERT(what && (reason.p || reason.n == 0));
    struct live_fault own;
    char msg[400];
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    f->code = (int32_t)live_int_at(reason, "code", 0);
    f->kind = kind_of_code(f->code);
    live_text_at(reason, "codeName", f->code_name, sizeof f->code_name);
    live_text_at(reason, "errmsg", msg, sizeof msg);
    return fill_fault(l, what, msg, f, e);
}
