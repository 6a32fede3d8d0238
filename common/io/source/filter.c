/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - selects namespaces by the patterns of --nsInclude and --nsExclude.
 *
 * A pattern covers the whole "db.coll": `*` matches any bytes, including dots, `\` makes the next byte literal.
 * Patterns and names are foreign input, so matching must not explode: `*` needs one backtracking point, and the cost is
 * at most length times length. Databases of tools (__mdb_internal_) are always excluded: mongodump does not write them
 * either. Must not know files. */
#include "source.h"

/* One byte of a pattern; returns its length in the pattern. */
static size_t
literal(const char *pattern, char *c)
{
    size_t n = pattern[0] == '\\' && pattern[1] ? 2 : 1;
    *c = pattern[n - 1];
    return n;
}

bool
mrs_ns_like(const char *pattern, const char *text)
{
    MRS_ASSERT(pattern && text);
    const char *star = NULL, *star_text = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            star_text = text;
            continue;
        }
        if (!*pattern && !*text) {
            return true;
        }
        char c;
        size_t n = *pattern ? literal(pattern, &c) : 0;
        if (n && *text && c == *text) {
            pattern += n;
            text++;
            continue;
        }
        if (!star || !*star_text) {
            return false;
        }
        pattern = star;
        text = ++star_text;
    }
}

static enum mrs_status
check_list(const char *const *list, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(list || n == 0);
    for (uint32_t i = 0; i < n; i++) {
        const char *p = list[i];
        if (!*p) {
            return MRSI_FAIL(e, MRS_E_USAGE, "an empty namespace pattern matches nothing");
        }
        while (*p) {
            if (*p == '\\' && !p[1]) {
                return MRSI_FAIL(e, MRS_E_USAGE, "namespace pattern %s ends in a lone backslash",
                                 list[i]);
            }
            p += *p == '\\' ? 2 : 1;
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_filter_check(const struct mrsi_filter *f, struct mrs_err *e)
{
    enum mrs_status s = check_list(f->include, f->n_include, e);
    return s == MRS_OK ? check_list(f->exclude, f->n_exclude, e) : s;
}

static bool
any(const char *const *list, uint32_t n, const char *ns)
{
    for (uint32_t i = 0; i < n; i++) {
        if (mrs_ns_like(list[i], ns)) {
            return true;
        }
    }
    return false;
}

bool
mrs_ns_internal(const char *ns)
{
    static const char prefix[] = "__mdb_internal_";
    return strncmp(ns, prefix, sizeof prefix - 1) == 0;
}

bool
mrsi_filter_takes(const struct mrsi_filter *f, const char *ns)
{
    MRS_ASSERT(ns);
    return !mrs_ns_internal(ns) && (f->n_include == 0 || any(f->include, f->n_include, ns)) &&
           !any(f->exclude, f->n_exclude, ns);
}
