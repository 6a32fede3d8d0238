/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - compares two dumps, and a dump with the manifest of a run.
 *
 * Equality is that of the restored data: documents by their bytes, in any order, matched by `_id` as a server compares
 * it (1 and 1.0 are one `_id`); options and indexes in any order, without uuids. Compression does not matter, nor do
 * the names of two single files. */
#ifndef MONGORESHAPE_COMPARE_H
#define MONGORESHAPE_COMPARE_H

#include "mongoreshape/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_diff_opts {
    uint64_t memory;   /* bytes for the whole process; 0: 256 MiB */
    uint32_t jobs;     /* threads; 0: processors */
    const char *tmp;   /* folder for temporary files; NULL: $TMPDIR, else /tmp */
    uint64_t limit;    /* maximum of documents listed per namespace; counts are always complete */
    const int *cancel; /* read atomically; not 0: stop (MRS_E_CANCEL). NULL: never */
    void (*progress)(void *arg, const struct mrs_progress *p); /* may be NULL */
    void *progress_arg;
};

/* A value that differs. Values are canonical Extended JSON, shortened; NULL: missing. */
struct mrs_diff_value {
    const char *path; /* "a.b.0" */
    const char *a, *b;
    bool order; /* fields at path ("": of the document) are in another order: a and b are the next names */
};
#define MRS_DIFF_VALUES 3
enum mrs_diff_kind { MRS_DIFF_CHANGED, MRS_DIFF_ONLY_A, MRS_DIFF_ONLY_B };
struct mrs_diff_doc {
    enum mrs_diff_kind kind;
    const char *id;    /* relaxed Extended JSON, shortened; NULL: it has none */
    uint64_t no[2];    /* its position in A and in B, from 1; 0: missing */
    struct mrs_diff_value value[MRS_DIFF_VALUES]; /* of CHANGED: the first differences */
    uint32_t n_value;
    bool more; /* further values differ */
};
struct mrs_diff_coll {
    const char *ns;        /* or the path of another file of documents: oplog.bson */
    bool there[2];         /* in A, in B */
    bool known[2];         /* docs is known: there are documents, and a manifest lists them */
    struct mrs_docs docs[2];
    uint64_t changed;      /* pairs of documents with equal `_id` */
    uint64_t only[2];      /* documents without a counterpart */
    struct mrs_diff_doc *doc; /* the first of them, in the order of their `_id`s */
    uint32_t n_doc;
    const char **meta;     /* differences in options and indexes, one line each */
    uint32_t n_meta;
    bool differs;
};
struct mrs_diff {
    struct mrs_arena arena; /* owns all that follows */
    struct mrs_diff_coll *coll; /* all namespaces of both, in order */
    uint32_t n_coll;
    uint32_t n_differ;          /* of these: namespaces that differ */
    uint64_t temp_bytes;
};
/* OK: n_differ is the result. FAIL: damage (MRS_E_BSON, MRS_E_FORMAT), MRS_E_IO, MRS_E_CANCEL ... */
enum mrs_status mrs_diff(struct mrs_mem *mem, struct mrs_input *a, struct mrs_input *b,
                         const struct mrs_diff_opts *opts, struct mrs_diff *out, struct mrs_err *e);
/* mrs_diff for a manifest (A) and a dump (B): counts, bytes and digests, no single documents, no metadata. input:
 * compares the dump with the input of the run; else with its output. FAIL MRS_E_FORMAT: the text is no manifest, or one
 * without the input; name: of its file. */
struct mrs_manifest_text {
    const char *text, *name;
    size_t n;
    bool input;
};
enum mrs_status mrs_diff_manifest(struct mrs_mem *mem, const struct mrs_manifest_text *manifest, struct mrs_input *b,
                                  const struct mrs_diff_opts *opts, struct mrs_diff *out, struct mrs_err *e);
void mrs_diff_clear(struct mrs_diff *d);

#ifdef __cplusplus
}
#endif
#endif
