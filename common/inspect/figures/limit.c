/* SPDX-License-Identifier: Apache-2.0 */
/* limit.c - the largest document: its largest array, and the growth of that.
 *
 * The time of an element is its first date, else that of its first ObjectId. The rate is computed from the 30 days
 * before the newest. */
#include "figures.h"
#include <stdio.h>

static bool
time_of(struct mrs_val v, int64_t *ms)
{
    MRS_ASSERT(mrs_val_is_sized(v) && ms);
    struct mrs_walk w;
    struct mrs_elem x;
    bool oid = false;
    if (v.type == MRS_DATE || v.type == MRS_OBJECTID) {
        *ms = v.type == MRS_DATE ? mrs_val_i64(v) : (int64_t)__builtin_bswap32(mrs_le32(v.p)) * 1000;
        return true;
    }
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &x) > 0) {
        if (x.v.type == MRS_DATE) {
            *ms = mrs_val_i64(x.v);
            return true;
        }
        if (x.v.type == MRS_OBJECTID && !oid) {
            oid = true;
            *ms = (int64_t)__builtin_bswap32(mrs_le32(x.v.p)) * 1000;
        }
    }
    return oid;
}

/* The array with most bytes that is not inside another array, and its path. */
static struct mrs_val
largest_array(struct mrs_view doc, char *path, size_t size)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && size > 0);
    struct {
        struct mrs_walk walk;
        size_t at;
    } level[MRSI_DEPTH];
    struct mrs_val best = mrs_missing();
    char name[512];
    int n = 1;
    level[0].at = 0;
    mrs_walk_init(&level[0].walk, doc);
    while (n) {
        struct mrs_elem x;
        if (mrs_walk_next(&level[n - 1].walk, &x) <= 0) {
            n--;
            continue;
        }
        size_t at = level[n - 1].at;
        if (at + x.name_len + 2 >= sizeof name || (x.v.type != MRS_ARRAY && x.v.type != MRS_DOCUMENT)) {
            continue;
        }
        memcpy(name + at, x.name, x.name_len + 1);
        if (x.v.type == MRS_ARRAY && x.v.n > best.n) {
            best = x.v;
            snprintf(path, size, "%.*s", (int)size - 1, name);
        }
        if (x.v.type == MRS_DOCUMENT && n < MRSI_DEPTH) {
            name[at + x.name_len] = '.';
            level[n].at = at + x.name_len + 1;
            mrs_walk_init(&level[n++].walk, mrs_val_view(x.v));
        }
    }
    return best;
}

static void
rate(struct mrsi_limit *l, struct mrs_val list)
{
    MRS_ASSERT(list.type == MRS_ARRAY);
    const int64_t month = 30ll * 86400 * 1000;
    struct mrs_walk w;
    struct mrs_elem x;
    int64_t ms;
    uint64_t recent = 0;
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &x) > 0) {
        if (time_of(x.v, &ms)) {
            l->newest = !l->timed || ms > l->newest ? ms : l->newest;
            l->timed = true;
        }
    }
    mrs_walk_init(&w, mrs_val_view(list));
    while (l->timed && mrs_walk_next(&w, &x) > 0) {
        if (time_of(x.v, &ms) && ms > l->newest - month) {
            recent += (uint64_t)(x.v.p + x.v.n - x.p);
        }
    }
    l->bytes_a_day = (double)recent / 30;
}

void
mrsi_limit_see(struct mrsi_limit *l, struct mrs_view doc, uint64_t ordinal)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_elem id;
    memset(l, 0, sizeof *l);
    l->size = doc.n;
    l->ordinal = ordinal;
    if (mrs_doc_find(doc, "_id", 3, &id) && id.v.n < sizeof l->id) {
        l->id[0] = id.v.type;
        memcpy(l->id + 1, id.v.p, id.v.n);
        l->id_n = id.v.n + 1;
    }
    struct mrs_val list = largest_array(doc, l->path, sizeof l->path);
    if (list.type == MRS_ARRAY) {
        rate(l, list);
    }
}
