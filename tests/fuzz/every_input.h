/* SPDX-License-Identifier: Apache-2.0 */
/* every_input.h - any bytes as an input file: whatever it is taken for, it is refused with a reason, or all that it
 * lists can be read, twice alike up to its end, or both times up to damage that is told.
 *
 * The file is a nameless one, its path that of the descriptor. Nothing may leak, no descriptor may stay open. */
#ifndef FUZZ_EVERY_INPUT_H
#define FUZZ_EVERY_INPUT_H

#include "ground.h"
#include "mongoreshape/io.h"

#include <sys/mman.h>

static void
told(enum mrs_status s, const struct mrs_err *e)
{
    must(s >= MRS_OK || (e->code != MRS_E_NONE && e->code != MRS_E_ACCOUNT && e->msg[0]));
}

/* All documents of a namespace; the sum of their hashes, and how it ended. */
static struct mrs_hash_sum
read_all(struct mrs_mem *mem, struct mrs_input *in, uint32_t i, size_t block, enum mrs_status *ended)
{
    struct mrs_hash_sum sum = {0, 0};
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_block_init(&b, mem);
    enum mrs_status s = mrs_reader_open(in, i, block, &r, &e);
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, &e)) == MRS_OK) {
        size_t at = 0;
        for (uint32_t k = 0; k < b.n_docs; k++) {
            uint32_t n = mrs_le32(b.p + at);
            struct mrs_hash128 h = mrs_hash(b.p + at, n, 0);
            mrs_hash_sum_add(&sum, h.lo, h.hi);
            mrs_doc_check(b.p + at, n, MRS_DEPTH_READ, NULL);
            at += n;
        }
        must(at == b.n);
    }
    told(s, &e);
    *ended = s;
    mrs_reader_close(r);
    mrs_block_clear(&b);
    return sum;
}

static void
read_namespace(struct mrs_mem *mem, struct mrs_input *in, uint32_t i)
{
    const struct mrs_input_ns *ns = mrs_input_at(in, i);
    enum mrs_status first, second;
    if (ns->kind == MRS_INPUT_DATA) {
        struct mrs_buf text;
        struct mrs_err e;
        mrs_err_clear(&e);
        must(ns->ns[0] && ns->db[0] && ns->coll[0]);
        mrs_buf_init(&text, mem, 64u << 20);
        told(mrs_input_metadata_text(in, i, &text, &e), &e);
        mrs_buf_clear(&text);
    } else {
        must(ns->rel_path && ns->rel_path[0] && ns->rel_path[0] != '/');
    }
    struct mrs_hash_sum a = read_all(mem, in, i, 0, &first), b = read_all(mem, in, i, 4096, &second);
    /* how much comes before damage that both tell is the decoder's: it decodes at once as much as there is room for */
    must(first == second && (first < MRS_OK || (a.lo == b.lo && a.hi == b.hi)));
}

static void
every_input(const uint8_t *data, size_t n)
{
    char path[64];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_input *in = NULL;
    struct mrs_err e;
    struct mrs_input_opts opts = {.tmp = "/dev/shm"};
    int fd = memfd_create("input.bson", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    unsigned files = open_files();
    mrs_err_clear(&e);
    enum mrs_status s = mrs_input_open(mem, path, &opts, &in, &e);
    told(s, &e);
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(in) && i < 64; i++) {
        read_namespace(mem, in, i);
    }
    if (s == MRS_OK) {
        mrs_input_close(in);
    }
    must(open_files() == files);
    close(fd);
    must(mrs_mem_close(mem) == 0);
}

#endif
