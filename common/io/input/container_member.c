/* SPDX-License-Identifier: Apache-2.0 */
/* container_member.c - the members of a container as the folders of a dump.
 *
 * Packed dumps may have enclosing folders (dump/, ./backup-2024/dump/) or none. The dump's root is the folder that has
 * the folders with collections; there must be only one. Files next to it are copied as if they were in it. Names come
 * from the author of the container, so each is checked before it is used: a name that leads outside, is ambiguous or
 * occurs twice is refused. Must not read the container. */
#include "container.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- names ---- */
static const char *
wrong_part(const char *part, size_t n)
{
    if (n > 255) {
        return "a part of its name has more than 255 bytes";
    }
    return n == 2 && memcmp(part, "..", 2) == 0 ? "its name climbs out by '..'" : NULL;
}

const char *
mrsi_member_path(const char *name, char room[4096])
{
    MRS_ASSERT(room);
    size_t k = 0;
    if (!name || !*name) {
        return "it has no name that can be read";
    }
    if (*name == '/') {
        return "its name is an absolute path";
    }
    for (const char *p = name; *p; p++) {
        if (*p == '\\') {
            return "its name holds a backslash, which systems read in different ways";
        }
        if ((uint8_t)*p < 0x20 || *p == 0x7f) {
            return "its name holds a control character";
        }
    }
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "/");
        const char *wrong = wrong_part(p, n);
        if (wrong) {
            return wrong;
        }
        if (n && !(n == 1 && *p == '.')) {
            if (k + n + 2 > 4096) {
                return "its name is longer than 4,095 bytes";
            }
            if (k) {
                room[k++] = '/';
            }
            memcpy(room + k, p, n);
            k += n;
        }
        p += n + (p[n] == '/');
    }
    room[k] = 0;
    return NULL;
}

enum mrs_status
mrsi_members_add(struct mrsi_members *m, const char *path, const struct mrsi_container_member *what, struct mrs_err *e)
{
    MRS_ASSERT(path && m->n <= m->cap);
    size_t n = strlen(path) + 1;
    m->names += n;
    if (m->n == MRSI_MEMBERS_MAX || m->names > MRSI_MEMBER_NAMES_MAX) {
        return MRSI_FAIL(e, MRS_E_LIMIT, "%s: more than %u members, or more than %u bytes of names: unpack it",
                         m->container, MRSI_MEMBERS_MAX, MRSI_MEMBER_NAMES_MAX);
    }
    struct mrsi_container_member *more = mrs_more(m->in->mem, m->at, m->n, &m->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    m->at = more;
    struct mrsi_container_member *to = &m->at[m->n++];
    *to = *what;
    to->path = to->member_path = mrs_arena_copy(&m->in->arena, path, n);
    return mrs_allocated(to->path, n, e);
}

/* ---- order: the contents of a folder follow it ---- */
static int
by_part(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++) {
    }
    uint8_t x = *a == '/' ? 1 : (uint8_t)*a, y = *b == '/' ? 1 : (uint8_t)*b;
    return (int)x - (int)y;
}

static int
by_path(const void *a, const void *b)
{
    const struct mrsi_container_member *x = a, *y = b;
    int order = by_part(x->path, y->path);
    return order ? order : (x->off > y->off) - (x->off < y->off);
}

/* True for a path in the folder dir, at any depth; "" is the container itself. */
static bool
inside(const char *path, const char *dir, size_t dir_n)
{
    return dir_n == 0 || (strncmp(path, dir, dir_n) == 0 && path[dir_n] == '/');
}

static enum mrs_status
sort(struct mrsi_members *m, struct mrs_err *e)
{
    uint32_t kept = 0;
    if (m->n) {
        qsort(m->at, m->n, sizeof *m->at, by_path);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const struct mrsi_container_member *x = &m->at[i], *y = i + 1 < m->n ? &m->at[i + 1] : NULL;
        bool same = y && strcmp(x->path, y->path) == 0;
        if (same && !(x->folder && y->folder)) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "%s: %s (at byte %llu) and %s (at byte %llu) are the same file twice",
                             m->container, x->member_path, (unsigned long long)x->off, y->member_path,
                             (unsigned long long)y->off);
        }
        if (y && !x->folder && inside(y->path, x->path, strlen(x->path))) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "%s: %s (at byte %llu) is a file, and %s lies in it", m->container,
                             x->member_path, (unsigned long long)x->off, y->member_path);
        }
        if (!x->folder) {
            m->at[kept++] = *x; /* folders without files are ignored */
        }
    }
    m->n = kept;
    return MRS_OK;
}

/* In the arena of the input. */
static enum mrs_status
note_passed(struct mrsi_members *m, const struct mrsi_container_member *x, struct mrs_err *e)
{
    size_t n = strlen(m->container) + strlen(x->member_path) + 3;
    char *path = mrs_arena_alloc(&m->in->arena, n);
    MRS_TRY(mrs_allocated(path, n, e));
    snprintf(path, n, "%s: %s", m->container, x->member_path);
    return mrsi_note_passed(m->in, path, e);
}

/* Removes the files that the macOS desktop puts next to every file; they are no part of a dump. */
static enum mrs_status
drop_notes(struct mrsi_members *m, struct mrs_err *e)
{
    static const uint8_t magic[4] = {0x00, 0x05, 0x16, 0x07};
    uint32_t kept = 0;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < m->n && s == MRS_OK; i++) {
        const struct mrsi_container_member *x = &m->at[i];
        uint8_t head[4];
        size_t got = 0;
        if (strncmp(mrsi_base_name(x->path), "._", 2) == 0 && x->extent.n >= sizeof head) {
            s = mrsi_pread_full(x->place.fd, head, sizeof head, x->extent.off, m->container, &got, e);
        }
        if (s == MRS_OK && got == sizeof head && memcmp(head, magic, sizeof magic) == 0) {
            s = note_passed(m, x, e);
        } else {
            m->at[kept++] = *x;
        }
    }
    m->n = kept;
    return s;
}

/* ---- a folder lister ---- */
static enum mrs_status
fill_item(const struct mrsi_members *m, struct mrs_arena *a, uint32_t i, uint32_t skip, struct mrsi_item *item)
{
    MRS_ASSERT(i < m->n);
    const char *name = m->at[i].path + skip, *slash = strchr(name, '/');
    size_t n = slash ? (size_t)(slash - name) : strlen(name);
    char *own = mrs_arena_copy(a, name, n + 1);
    size_t head = strlen(m->container), member_path = strlen(m->at[i].member_path) - (slash ? strlen(slash) : 0);
    char *path = mrs_arena_alloc(a, head + member_path + 3);
    if (!own || !path) {
        return MRS_DEAD;
    }
    own[n] = 0;
    memcpy(path, m->container, head);
    memcpy(path + head, ": ", 2);
    memcpy(path + head + 2, m->at[i].member_path, member_path);
    path[head + 2 + member_path] = 0;
    *item = (struct mrsi_item){.name = own, .path = path, .from = i, .to = i + 1, .skip = skip + (uint32_t)n + 1};
    item->folder = slash != NULL;
    if (!slash) {
        item->place = &m->at[i].place;
        item->bytes = m->at[i].place.bytes;
    }
    return MRS_OK;
}

static enum mrs_status
list_members(const struct mrsi_folder_lister *self, struct mrs_arena *a, const struct mrsi_item *folder,
             struct mrsi_items *out, struct mrs_err *e)
{
    const struct mrsi_members *m = (const struct mrsi_members *)(const void *)self;
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = folder->from, next; i < folder->to; i = next) {
            size_t n = strcspn(m->at[i].path + folder->skip, "/") + folder->skip;
            next = i + 1;
            while (next < folder->to && inside(m->at[next].path, m->at[i].path, n)) {
                next++;
            }
            if (pass == 0) {
                count++;
            } else if (fill_item(m, a, i, folder->skip, &out->at[out->n]) != MRS_OK) {
                return mrs_err_memory(e, 0);
            } else {
                out->at[out->n++].to = next;
            }
        }
        if (pass == 0 && count) {
            out->at = mrs_arena_alloc(a, count * sizeof *out->at);
        }
        if (pass == 0 && count && !out->at) {
            return mrs_err_memory(e, count * sizeof *out->at);
        }
    }
    return MRS_OK;
}

/* ---- the root of the dump ---- */
enum sign { SIGN_NONE, SIGN_COLLECTION, SIGN_DUMP };

static bool
lies_in_foreign_folder(const char *path)
{
    bool foreign = false;
    for (const char *slash; !foreign && (slash = strchr(path, '/')); path = slash + 1) {
        foreign = mrsi_is_foreign_folder(path, (size_t)(slash - path));
    }
    return foreign;
}

/* What a file reveals about its folder. */
static enum sign
sign_of(const char *path)
{
    const char *base = mrsi_base_name(path);
    struct mrsi_file_name f = mrsi_file_name(base);
    bool oplog = f.stem_n == 5 && f.kind == MRSI_FILE_DATA && strncmp(base, "oplog", 5) == 0;
    if (f.kind != MRSI_FILE_OTHER && !oplog) {
        return SIGN_COLLECTION;
    }
    return oplog || strcmp(base, MRSI_MANIFEST) == 0 || strncmp(base, "prelude.json", 12) == 0 ? SIGN_DUMP : SIGN_NONE;
}

static size_t
folder_n(const char *path)
{
    const char *base = mrsi_base_name(path);
    return base == path ? 0 : (size_t)(base - path) - 1;
}

struct root {
    const char *path; /* NULL: none yet */
    size_t n;
    const char *by; /* the member that shows it */
    bool plain;     /* some file is in no folder of another program, so those that are in one show nothing */
};

static enum sign
sign_for(const struct root *r, const char *path)
{
    return r->plain && lies_in_foreign_folder(path) ? SIGN_NONE : sign_of(path);
}

/* The folder of n bytes at the beginning of a path is a root, or one of the same dump. */
static enum mrs_status
settle(const struct mrsi_members *m, struct root *r, const struct mrsi_container_member *by, size_t n,
       struct mrs_err *e)
{
    MRS_ASSERT(m->n <= m->cap);
    if (r->path && (r->n != n || memcmp(r->path, by->path, n) != 0)) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: more than one dump, of which %s and %s are parts: pack each for itself", m->container,
                         r->by, by->member_path);
    }
    *r = (struct root){by->path, n, by->member_path, r->plain};
    return MRS_OK;
}

/* A folder with collections: n bytes of the path of a member in it. */
struct container_member_holder {
    const char *path;
    size_t n;
    uint32_t member;
};

static int
by_folder(const void *a, const void *b)
{
    const struct container_member_holder *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    for (size_t i = 0; i < n; i++) {
        uint8_t p = x->path[i] == '/' ? 1 : (uint8_t)x->path[i], q = y->path[i] == '/' ? 1 : (uint8_t)y->path[i];
        if (p != q) {
            return (int)p - (int)q;
        }
    }
    return x->n == y->n ? (x->member > y->member) - (x->member < y->member) : (x->n > y->n) - (x->n < y->n);
}

/* The root for a folder with collections: its parent, unless the collections are only stray files. */
static enum mrs_status
root_by(struct mrsi_members *m, const struct container_member_holder *h, struct root *r, struct mrs_err *e)
{
    struct mrsi_item folder = {.name = h->path, .path = h->path, .folder = true, .from = h->member};
    bool root = false;
    size_t up = 0;
    while (folder.from > 0 && inside(m->at[folder.from - 1].path, h->path, h->n)) {
        folder.from--;
    }
    for (folder.to = h->member; folder.to < m->n && inside(m->at[folder.to].path, h->path, h->n); folder.to++) {
    }
    folder.skip = h->n ? (uint32_t)h->n + 1 : 0;
    enum mrs_status s = mrsi_dump_is_root(m->in, &m->offsets, &folder, &root, e);
    if (s == MRS_OK && !root && h->n == 0) {
        s = MRSI_FAIL(e, MRS_E_FORMAT,
                      "%s: %s lies in no folder, so its database has no name: pack the folder itself", m->container,
                      m->at[h->member].member_path);
    }
    for (size_t k = 0; k < h->n; k++) {
        up = h->path[k] == '/' ? k : up;
    }
    return s == MRS_OK ? settle(m, r, &m->at[h->member], root ? h->n : up, e) : s;
}

static enum mrs_status
find_root(struct mrsi_members *m, struct root *r, struct mrs_err *e)
{
    MRS_ASSERT(m->n <= m->cap);
    struct container_member_holder *list = mrs_alloc_array(m->in->mem, m->n ? m->n : 1, sizeof *list);
    uint32_t n = 0;
    const struct container_member_holder *top = NULL;
    enum mrs_status s = mrs_allocated(list, m->n * sizeof *list, e);
    for (uint32_t i = 0; i < m->n; i++) {
        r->plain = r->plain || (sign_of(m->at[i].path) != SIGN_NONE && !lies_in_foreign_folder(m->at[i].path));
    }
    for (uint32_t i = 0; s == MRS_OK && i < m->n; i++) {
        if (sign_for(r, m->at[i].path) == SIGN_COLLECTION) {
            list[n++] = (struct container_member_holder){m->at[i].path, folder_n(m->at[i].path), i};
        }
    }
    if (n) {
        qsort(list, n, sizeof *list, by_folder);
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        if (!top || !inside(list[i].path, top->path, top->n)) {
            top = &list[i]; /* no ancestor has collections */
            s = root_by(m, top, r, e);
        }
    }
    mrs_free(m->in->mem, list);
    return s;
}

/* A dump without collections has only its oplog or prelude; such files elsewhere belong to another dump. */
static enum mrs_status
check_signs(const struct mrsi_members *m, struct root *r, struct mrs_err *e)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const char *path = m->at[i].path;
        enum sign sign = sign_for(r, path);
        if (sign == SIGN_NONE || (r->path && inside(path, r->path, r->n))) {
            continue;
        }
        MRS_TRY(settle(m, r, &m->at[i], folder_n(path), e));
    }
    return r->path ? MRS_OK
                   : MRSI_FAIL(e, MRS_E_MISSING, "%s: no dump here: no .bson and no .metadata.json file", m->container);
}

/* Makes paths relative to the root; moves files next to it into it. */
static void
strip(struct mrsi_members *m, const struct root *r)
{
    MRS_ASSERT(r->n == 0 || r->path);
    const char *root = r->path;
    for (uint32_t i = 0; i < m->n; i++) {
        const char *path = m->at[i].path;
        size_t k = 0, cut = 0;
        for (; k < r->n && path[k] == root[k]; k++) {
            cut = root[k] == '/' ? k + 1 : cut;
        }
        m->at[i].path = path + (k == r->n && path[k] == '/' ? k + 1 : cut);
    }
}

/* Places stay as long as the input does. */
static enum mrs_status
settle_places(struct mrsi_members *m, struct mrs_err *e)
{
    struct mrsi_container_member *own = mrs_arena_copy(&m->in->arena, m->at, (m->n ? m->n : 1) * sizeof *own);
    MRS_TRY(mrs_allocated(own, m->n * sizeof *own, e));
    mrs_free(m->in->mem, m->at);
    m->at = own;
    m->cap = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        own[i].place.extent = &own[i].extent;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_members_take(struct mrsi_members *m, struct mrs_err *e)
{
    MRS_ASSERT(m->in && m->n <= m->cap);
    struct root root = {NULL, 0, NULL, false};
    m->offsets.list = list_members;
    enum mrs_status s = sort(m, e);
    MRS_THEN(s, drop_notes(m, e));
    MRS_THEN(s, find_root(m, &root, e));
    MRS_THEN(s, check_signs(m, &root, e));
    if (s != MRS_OK) {
        return s;
    }
    if (root.n) {
        strip(m, &root);
        s = sort(m, e);
    }
    MRS_THEN(s, settle_places(m, e));
    struct mrsi_item top = {.name = "", .path = m->container, .folder = true, .from = 0, .to = m->n, .skip = 0};
    return s == MRS_OK ? mrsi_dump_take(m->in, &m->offsets, &top, NULL, e) : s;
}
