/* SPDX-License-Identifier: Apache-2.0 */
/* connection_uri.c - connection strings: sources, required settings, and masked output.
 *
 * A connection string contains a password, and users paste reports into tickets. So every output of a string goes
 * through the mask, which parses it independently and hides too much rather than too little: a string that libmongoc
 * rejects may still contain a password. Read and write settings in the string are overridden: this tool reads from the
 * primary and waits for the majority, or it could lose data. */
#include "connection_driver.h"

#include "mongoreshape/io.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { URI_MAX = 65536 };

/* As ssh does with keys: a file of this user that others may read is refused; a file of another user is not checked. */
static enum mrs_status
keep_private(struct mrs_arena *a, const char *file, const char *uri, struct mrs_err *e)
{
    struct stat st;
    size_t room = 3 * strlen(uri) + 64;
    if (stat(file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != getuid() || !(st.st_mode & 077)) {
        return MRS_OK;
    }
    char *masked = mrs_arena_alloc(a, room);
    MRS_TRY(mrs_allocated(masked, room, e));
    live_uri_mask(uri, masked, room);
    return strcmp(masked, uri) == 0
               ? MRS_OK
               : mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "the file %.200s holds a password and may be read by others "
                             "(mode %04o): only its owner may read it (chmod 600)", file, (unsigned)st.st_mode & 07777);
}

/* Reads the first line of standard input, like mrs_file_read: for programs that pass a connection string. Does not wait
 * for further lines. */
static enum mrs_status
read_standard_input(struct mrs_mem *mem, char **text, size_t *n, struct mrs_err *e)
{
    char *line = mrs_zalloc(mem, URI_MAX + 1);
    size_t have = 0;
    ssize_t got = 1;
    MRS_TRY(mrs_allocated(line, URI_MAX + 1, e));
    while (got != 0 && have < URI_MAX && !memchr(line, '\n', have)) {
        got = read(STDIN_FILENO, line + have, URI_MAX - have);
        if (got < 0 && errno != EINTR) {
            enum mrs_status s = mrs_err_sys(e, errno, "read the connection string from standard input");
            mrs_free(mem, line);
            return s;
        }
        have += got > 0 ? (size_t)got : 0;
    }
    if (have == URI_MAX && !memchr(line, '\n', have)) {
        memset(line, 0, have);
        mrs_free(mem, line);
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "standard input: its first line has more than %d bytes", URI_MAX);
    }
    *text = line;
    *n = have;
    return MRS_OK;
}

static enum mrs_status
uri_from_file(struct mrs_arena *a, const char *file, const char **out, struct mrs_err *e)
{
    MRS_ASSERT(file && out);
    char *text;
    size_t n, from = 0;
    bool piped = strcmp(file, "-") == 0;
    MRS_TRY(piped ? read_standard_input(a->mem, &text, &n, e)
                  : mrs_file_read(a->mem, file, URI_MAX, &text, &n, e));
    size_t whole = n;
    while (from < n && isspace((unsigned char)text[from])) {
        from++;
    }
    const char *line = memchr(text + from, '\n', n - from);
    n = line ? (size_t)(line - text) : n;
    while (n > from && isspace((unsigned char)text[n - 1])) {
        n--;
    }
    char *copy = mrs_arena_alloc(a, n - from + 1);
    if (copy) {
        memcpy(copy, text + from, n - from);
        copy[n - from] = 0;
    }
    memset(text, 0, whole);
    mrs_free(a->mem, text);
    MRS_TRY(mrs_allocated(copy, n, e));
    *out = copy;
    if (!*copy) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "%s%s holds no connection string",
                           piped ? "standard input" : "the file ", piped ? "" : file);
    }
    return piped ? MRS_OK : keep_private(a, file, copy, e);
}

enum mrs_status
live_uri_find(struct mrs_arena *a, const char *uri, const char *file, const char **out, struct mrs_err *e)
{
    MRS_ASSERT(out && mrs_arena_is_sound(a));
    if (uri) {
        *out = mrs_arena_copy(a, uri, strlen(uri) + 1);
        return *out ? MRS_OK : mrs_err_memory(e, strlen(uri));
    }
    if (file) {
        return uri_from_file(a, file, out, e);
    }
    const char *env = getenv("MONGODB_URI");
    if (!env || !*env) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "no server is named: give --uri, --uri-file or the environment variable MONGODB_URI");
    }
    *out = mrs_arena_copy(a, env, strlen(env) + 1);
    return *out ? MRS_OK : mrs_err_memory(e, strlen(env));
}

/* ---- the mask ---- */
struct masked {
    char *out;
    size_t n, size;
};

static void
show(struct masked *m, const char *text, size_t n)
{
    MRS_ASSERT(m->n < m->size);
    for (size_t i = 0; i < n && m->n + 1 < m->size; i++) {
        m->out[m->n++] = text[i];
    }
}

static bool
option_is_secret(const char *name, size_t n)
{
    static const char *const words[] = {"password", "properties", "secret", "token", "passphrase"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t len = strlen(words[w]);
        for (size_t i = 0; i + len <= n; i++) {
            if (strncasecmp(name + i, words[w], len) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void
show_options(struct masked *m, const char *at)
{
    while (*at) {
        size_t n = strcspn(at, "&;"), name = strcspn(at, "=&;");
        if (name < n && option_is_secret(at, name)) {
            show(m, at, name + 1);
            show(m, "***", 3);
        } else {
            show(m, at, n);
        }
        show(m, at + n, at[n] != 0);
        at += n + (at[n] != 0);
    }
}

/* Everything up to the last @ is user and password: without escapes they may contain any character, also another @. */
void
live_uri_mask(const char *uri, char *out, size_t size)
{
    MRS_ASSERT(uri && size > 0);
    struct masked m = {out, 0, size};
    const char *scheme = strstr(uri, "://"), *from = scheme ? scheme + 3 : uri;
    const char *end = strrchr(from, '@');
    show(&m, uri, (size_t)(from - uri));
    if (end) {
        const char *colon = memchr(from, ':', (size_t)(end - from));
        show(&m, from, (size_t)((colon ? colon : end) - from));
        if (colon) {
            show(&m, ":***", 4);
        }
        from = end;
    }
    size_t n = strcspn(from, "?");
    show(&m, from, n + (from[n] == '?'));
    show_options(&m, from + n + (from[n] == '?'));
    out[size ? m.n : 0] = 0;
}

/* ---- parsing by libmongoc ---- */
/* The reason may quote the string, so it is asked for again about what is printed anyway: the masked one. If nothing is
 * wrong with that, it was the user or the password. */
static enum mrs_status
not_taken(const char *uri, struct mrs_err *e)
{
    char masked[4096]; /* with all hosts and options, or another reason is found */
    bson_error_t error;
    live_uri_mask(uri, masked, sizeof masked);
    mongoc_uri_t *parsed = mongoc_uri_new_with_error(masked, &error);
    bool was_secret = parsed != NULL;
    mongoc_uri_destroy(parsed);
    return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "the connection string \"%.300s\" cannot be read: %.150s", masked,
                       was_secret
                           ? "characters like @ : / % in user name and password must be written as %40 %3A %2F %25"
                           : error.message);
}

/* libmongoc takes the text after the first @ for a host: it would print the rest of an unescaped password as the name
 * of a server. */
static bool
hosts_are_hosts(const mongoc_uri_t *uri)
{
    for (const mongoc_host_list_t *host = mongoc_uri_get_hosts(uri); host; host = host->next) {
        if (strchr(host->host, '@')) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
parse(const char *uri, mongoc_uri_t **out, struct mrs_err *e)
{
    *out = mongoc_uri_new_with_error(uri, NULL);
    if (*out && hosts_are_hosts(*out)) {
        return MRS_OK;
    }
    mongoc_uri_destroy(*out);
    *out = NULL;
    return not_taken(uri, e);
}

enum mrs_status
live_uri_database(const char *uri, char out[64], struct mrs_err *e)
{
    MRS_ASSERT(uri);
    mongoc_uri_t *parsed;
    out[0] = 0;
    if (parse(uri, &parsed, e) != MRS_OK) {
        return MRS_FAIL;
    }
    const char *db = mongoc_uri_get_database(parsed);
    size_t n = db ? strlen(db) : 0;
    if (n <= MRS_DB_MAX) {
        memcpy(out, db ? db : "", n + 1);
    }
    mongoc_uri_destroy(parsed);
    return n <= MRS_DB_MAX ? MRS_OK
                           : mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "the database in the connection string has more "
                                         "than %d bytes", MRS_DB_MAX);
}

static void
insist(mongoc_uri_t *uri)
{
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    mongoc_write_concern_t *w = mongoc_write_concern_new();
    mongoc_read_concern_t *r = mongoc_read_concern_new();
    mongoc_write_concern_set_w(w, 1);
    mongoc_uri_set_read_prefs_t(uri, primary);
    mongoc_uri_set_write_concern(uri, w);
    mongoc_uri_set_read_concern(uri, r);
    mongoc_read_prefs_destroy(primary);
    mongoc_write_concern_destroy(w);
    mongoc_read_concern_destroy(r);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false);
    int32_t wait = mongoc_uri_get_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, LIVE_SELECT_MS);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                   wait > 0 && wait < LIVE_SELECT_MS ? wait : LIVE_SELECT_MS);
    if (!mongoc_uri_has_option(uri, MONGOC_URI_HEARTBEATFREQUENCYMS)) {
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_HEARTBEATFREQUENCYMS, LIVE_HEARTBEAT_MS);
    }
    if (!mongoc_uri_has_option(uri, MONGOC_URI_SOCKETTIMEOUTMS)) { /* index builds may take long */
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, LIVE_SOCKET_MS);
    }
    if (!mongoc_uri_get_appname(uri)) {
        mongoc_uri_set_appname(uri, "mongoreshape-live");
    }
}

enum mrs_status
live_uri_parse(const char *uri, mongoc_uri_t **out, struct mrs_err *e)
{
    MRS_ASSERT(uri && out);
    enum mrs_status s = parse(uri, out, e);
    if (s == MRS_OK) {
        insist(*out);
    }
    return s;
}

enum mrs_status
live_uri_resolve(const mongoc_uri_t *uri, struct mrs_err *e)
{
    int why = 0;
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(uri), *last = NULL;
    for (; host; host = host->next) {
        struct addrinfo *found = NULL;
        if (host->family == AF_UNIX) {
            return MRS_OK;
        }
        why = getaddrinfo(host->host, NULL, NULL, &found);
        if (why == 0) {
            freeaddrinfo(found);
            return MRS_OK;
        }
        last = host;
    }
    return last ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the host \"%s\" is not known: %s", last->host,
                              gai_strerror(why))
                : MRS_OK;
}
