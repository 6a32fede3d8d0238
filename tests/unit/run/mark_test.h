/* SPDX-License-Identifier: Apache-2.0 */
/* mark_test.h - marks of single structures: an engine with checkpoints in a folder of its own. What a mark says is
 * applied in the same engine, while what was marked is still there, so each has to keep away from the other's files. */
#ifndef MARK_TEST_H
#define MARK_TEST_H

#include "run_test.h"
#include "run/pass/checkpoint.h"

struct mark {
    char folder[64], output[80];
    struct mrs_buf buf, files;
    struct mrs_build b;
    struct mrs_view doc; /* after mark_end */
};

/* b: behind bare_begin. */
__attribute__((unused)) static enum mrs_status
mark_begin(struct mark *m, struct bare *b)
{
    memset(m, 0, sizeof *m);
    snprintf(m->folder, sizeof m->folder, "/tmp/mark.XXXXXX");
    assert_non_null(mkdtemp(m->folder));
    snprintf(m->output, sizeof m->output, "%s/out", m->folder);
    b->opts.output = m->output;
    b->opts.checkpoints = true;
    mrs_buf_init(&m->buf, b->mem, SIZE_MAX);
    mrs_buf_init(&m->files, b->mem, SIZE_MAX);
    mrs_build_init(&m->b, &m->buf);
    return mrsi_ckpt_begin(&b->en, &b->err);
}

/* A mark again, the one before is forgotten. */
__attribute__((unused)) static void
mark_again(struct mark *m)
{
    mrs_buf_reset(&m->buf);
    mrs_buf_reset(&m->files);
    mrs_build_init(&m->b, &m->buf);
}

/* s: of what was described. */
__attribute__((unused)) static enum mrs_status
mark_finish(struct mark *m, struct bare *b, enum mrs_status s)
{
    s = s == MRS_OK ? mrs_buf_status(&m->files, &b->err) : s;
    return s == MRS_OK ? mrs_build_finish(&m->b, &m->doc, &b->err) : s;
}

__attribute__((unused)) static void
mark_end(struct mark *m, struct bare *b)
{
    struct mrs_ckpt_dir side = {.mem = b->mem, .output = m->output};
    mrsi_ckpt_end(&b->en, MRS_OK, &b->err);
    (void)mrs_ckpt_dir_clear(&side, NULL, NULL); /* where memory was out the first time */
    mrs_buf_clear(&m->buf);
    mrs_buf_clear(&m->files);
    assert_int_equal(rmdir(m->folder), 0);
}

#endif
