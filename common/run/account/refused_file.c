/* SPDX-License-Identifier: Apache-2.0 */
/* refused_file.c - are files of refused documents exactly as a run wrote them? Then a new run may overwrite them.
 *
 * The BSON file holds only records; its text file, which people edit, must be exactly the text of these records. Both
 * are read to the end, record by record. */
#include "account.h"
#include "mongoreshape/ejson.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".jsonl"
enum { RECORD_MOST = MRS_DOC_MAX + (1 << 20), OPEN_HOW = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };

struct refused_reading {
    struct mrsi_engine *en;
    int bson, lines;        /* -1: missing, or not requested */
    uint64_t bytes, length; /* of them */
    uint64_t at, line;
    struct mrs_buf record, text, other;
};

/* fd -1 if no regular file has that name. */
static enum mrs_status
open_one(const char *path, int *fd, uint64_t *bytes, struct mrs_err *e)
{
    struct stat st;
    *fd = open(path, OPEN_HOW);
    if (*fd < 0) {
        return errno == ENOENT || errno == ELOOP ? MRS_OK : mrs_err_sys(e, errno, "open %s", path);
    }
    if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(*fd);
        *fd = -1;
        return MRS_OK;
    }
    *bytes = (uint64_t)st.st_size;
    return MRS_OK;
}

static bool
is_record(struct mrs_view d)
{
    static const struct {
        const char *name;
        uint8_t type;
    } fields[] = {{"ns", MRS_STRING}, {"step", MRS_INT32}, {"reason", MRS_STRING}, {"place", MRS_STRING},
                  {"doc", MRS_DOCUMENT}};
    struct mrs_walk w;
    struct mrs_elem el;
    size_t n = 0;
    bool good = true;
    mrs_walk_init(&w, d);
    while (good && mrs_walk_next(&w, &el) == 1) {
        good = n < 5 && el.name_len == strlen(fields[n].name) && memcmp(el.name, fields[n].name, el.name_len) == 0 &&
               (el.v.type == fields[n].type || (n == 3 && el.v.type == MRS_NULL));
        n++;
    }
    return good && n == 5;
}

/* OK: *good says whether it is a record. */
static enum mrs_status
read_record(struct refused_reading *r, bool *good, struct mrs_err *e)
{
    uint8_t head[4];
    struct mrs_err own;
    *good = false;
    mrs_err_clear(&own);
    if (r->bytes - r->at < MRS_DOC_MIN) {
        return MRS_OK;
    }
    enum mrs_status s = mrs_read_at(r->bson, head, sizeof head, r->at, e);
    uint32_t n = s == MRS_OK ? mrs_le32(head) : 0;
    if (s != MRS_OK || n < MRS_DOC_MIN || n > RECORD_MOST || n > r->bytes - r->at) {
        return s;
    }
    mrs_buf_reset(&r->record);
    uint8_t *p = mrs_buf_take(&r->record, n);
    s = p ? mrs_read_at(r->bson, p, n, r->at, e) : mrs_buf_status(&r->record, e);
    if (s == MRS_OK) {
        *good = mrs_doc_check(p, n, MRS_DEPTH_READ + 1, &own) == MRS_OK && is_record((struct mrs_view){p, n});
        r->record.n = n;
        r->at += n;
    }
    return s;
}

/* OK: *same says whether the text continues with that of the record. */
static enum mrs_status
compare_line(struct refused_reading *r, bool *same, struct mrs_err *e)
{
    mrs_buf_reset(&r->text);
    mrs_buf_reset(&r->other);
    mrs_ejson_write((struct mrs_view){r->record.p, (uint32_t)r->record.n}, true, &r->text);
    mrs_buf_byte(&r->text, '\n');
    *same = !r->text.bad && r->text.n <= r->length - r->line;
    if (!*same) {
        return mrs_buf_status(&r->text, e);
    }
    uint8_t *p = mrs_buf_take(&r->other, r->text.n);
    enum mrs_status s =
        p ? mrs_read_at(r->lines, p, r->text.n, r->line, e) : mrs_buf_status(&r->other, e);
    *same = s == MRS_OK && memcmp(p, r->text.p, r->text.n) == 0;
    r->line += r->text.n;
    return s;
}

static enum mrs_status
read_all(struct refused_reading *r, bool *ours, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    *ours = r->bson >= 0;
    while (s == MRS_OK && *ours && r->at < r->bytes) {
        s = mrsi_interrupted(r->en, e);
        MRS_THEN(s, read_record(r, ours, e));
        if (s == MRS_OK && *ours && r->lines >= 0) {
            s = compare_line(r, ours, e);
        }
    }
    *ours = s == MRS_OK && *ours && (r->lines < 0 || r->line == r->length);
    return s;
}

enum mrs_status
mrsi_refused_is_ours(void *arg, const char *path, bool *ours, struct mrs_err *e)
{
    struct mrsi_engine *en = arg;
    struct refused_reading r = {.en = en, .bson = -1, .lines = -1};
    size_t n = strlen(path), end = sizeof ENDING - 1;
    bool text = n > end && strcmp(path + n - end, ENDING) == 0 && path != en->opts->refused;
    char *bson = mrs_strndup(en->mem, path, text ? n - end : n);
    *ours = false;
    MRS_TRY(mrs_allocated(bson, n, e));
    mrs_buf_init(&r.record, en->mem, RECORD_MOST);
    mrs_buf_init(&r.text, en->mem, SIZE_MAX);
    mrs_buf_init(&r.other, en->mem, SIZE_MAX);
    enum mrs_status s = open_one(bson, &r.bson, &r.bytes, e);
    s = s == MRS_OK && text ? open_one(path, &r.lines, &r.length, e) : s;
    s = s == MRS_OK ? read_all(&r, ours, e) : s;
    for (int i = 0; i < 2; i++) {
        int fd = i ? r.lines : r.bson;
        if (fd >= 0) {
            close(fd);
        }
    }
    mrs_buf_clear(&r.record);
    mrs_buf_clear(&r.text);
    mrs_buf_clear(&r.other);
    mrs_free(en->mem, bson);
    return s;
}
