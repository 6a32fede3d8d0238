/* SPDX-License-Identifier: Apache-2.0 */
/* side_files.c - the files that a run writes in addition to its output: their names, and that they overwrite nothing of
 * value. */
#include "run/account/account.h"
#include "run_engine.h"

const char *
mrsi_refused_path(struct mrsi_engine *en, struct mrs_err *e)
{
    const char *out = en->opts->output;
    if (en->opts->refused || !out) {
        return en->opts->refused;
    }
    out = strcmp(out, "-") == 0 ? "mongoreshape" : out;
    size_t n = strlen(out);
    while (n > 1 && out[n - 1] == '/') {
        n--;
    }
    char *path = mrs_arena_alloc(&en->report->arena, n + 32);
    if (!path) {
        mrs_err_memory(e, n);
        return NULL;
    }
    snprintf(path, n + 32, "%.*s.refused.bson", (int)n, out);
    return path;
}

/* A file that the run writes, and its option. */
struct side_file {
    const char *path, *option;
    const char *unlike; /* which kind of file must not be overwritten; NULL: the output checks its own */
    enum mrs_status (*is_ours)(void *en, const char *path, bool *ours, struct mrs_err *e);
};
enum { WRITTEN = 12, KEPT = 4 };

/* Files next to an output while it is made, or afterwards. */
static enum mrs_status
add_place(struct mrsi_engine *en, const char *output, const char *end, struct side_file *w, uint32_t *n,
          struct mrs_err *e)
{
    size_t length = strlen(output), size = length + 20;
    while (length > 1 && output[length - 1] == '/') {
        length--;
    }
    char *path = mrs_arena_alloc(&en->arena, size);
    MRS_TRY(mrs_allocated(path, size, e));
    snprintf(path, size, "%.*s%s", (int)length, output, end);
    w[(*n)++] = (struct side_file){path, "-o", NULL, NULL};
    return MRS_OK;
}

/* The metadata file of a single output file, compressed or not. */
static enum mrs_status
add_metadata(struct mrsi_engine *en, struct side_file *w, uint32_t *n, struct mrs_err *e)
{
    static const enum mrs_codec codecs[] = {MRS_CODEC_NONE, MRS_CODEC_GZIP};
    const struct mrs_run_opts *o = en->opts;
    for (size_t i = 0; i < 2 && o->single_ns; i++) {
        char *path = mrs_output_metadata_path(en->mem, o->output, codecs[i]);
        char *own = path ? mrs_arena_copy(&en->arena, path, strlen(path) + 1) : NULL;
        mrs_free(en->mem, path);
        MRS_TRY(mrs_allocated(own, strlen(o->output), e));
        w[(*n)++] = (struct side_file){own, "-o", NULL, NULL};
    }
    return MRS_OK;
}

/* All names that the run writes to; *n of them. */
static enum mrs_status
all_written(struct mrsi_engine *en, struct side_file *w, uint32_t *n, struct mrs_err *e)
{
    const struct mrs_run_opts *o = en->opts;
    bool lists = (!o->dry_run || o->refused) && !o->discard && (o->refused || o->output);
    const char *refused = lists ? mrsi_refused_path(en, e) : NULL;
    bool twice = refused && !mrs_file_is_stream(refused);
    size_t size = twice ? strlen(refused) + 7 : 0;
    char *text = twice ? mrs_arena_alloc(&en->arena, size) : NULL;
    if (lists && (!refused || (twice && !text))) {
        return mrs_err_memory(e, size);
    }
    if (text) {
        snprintf(text, size, "%s.jsonl", refused);
    }
    *n = 0;
    w[(*n)++] = (struct side_file){refused, "--refused", "no refused documents as a run wrote them",
                                        mrsi_refused_is_ours};
    w[(*n)++] = (struct side_file){text, "--refused", "not the text of the refused documents next to it (edited?)",
                                        mrsi_refused_is_ours};
    w[(*n)++] = (struct side_file){o->write_residue, "--write-residue",
                                        "nothing of this run: what it keeps may be the only way back of another",
                                        en->residue_is_ours};
    w[(*n)++] = (struct side_file){o->page, "--html", NULL, NULL};
    if (o->dry_run || o->discard || !o->output) {
        return MRS_OK;
    }
    w[(*n)++] = (struct side_file){o->output, "-o", NULL, NULL};
    enum mrs_status s = MRS_OK;
    static const char *const ends[] = {".partial", ".checkpoint", ".manifest.json"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && s == MRS_OK; i++) {
        s = add_place(en, o->output, ends[i], w, n, e);
    }
    MRS_THEN(s, add_metadata(en, w, n, e));
    char *inverse = s == MRS_OK && o->write_residue ? mrsi_inverse_place(en->mem, o) : NULL;
    if (s == MRS_OK && o->write_residue && !inverse) {
        s = mrs_err_memory(e, strlen(o->output));
    }
    for (size_t i = 0; i < 2 && inverse && s == MRS_OK; i++) {
        s = add_place(en, inverse, ends[i], w, n, e);
    }
    mrs_free(en->mem, inverse);
    return s;
}

/* No file that the run writes may be one of its inputs, or another file that it writes; temporary files neither. */
enum mrs_status
mrsi_side_files_check(struct mrsi_engine *en, struct mrs_err *e)
{
    const struct mrs_run_opts *o = en->opts;
    struct side_file w[WRITTEN];
    uint32_t n = 0;
    if (!o->dry_run && mrs_file_is_in(o->output, o->input)) {
        return MRS_OK; /* opening the output reports that */
    }
    if (o->tmp && mrs_file_is_in(o->tmp, o->input)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "--tmp %s: it is, or lies in, the input, which must stay as it is; name another folder",
                           o->tmp);
    }
    const char *metadata = mrs_input_count(en->in) == 1 ? mrs_input_at(en->in, 0)->meta_path : NULL;
    const char *const kept[KEPT] = {o->input, o->amend, en->plan->file, metadata};
    enum mrs_status s = all_written(en, w, &n, e);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        for (uint32_t k = 0; k < KEPT + i && s == MRS_OK; k++) {
            const char *other = k < KEPT ? kept[k] : w[k - KEPT].path;
            bool inside = mrs_file_is_in(w[i].path, other), stream = k >= KEPT && other && mrs_file_is_stream(other);
            if (!stream && (inside || (k >= KEPT && mrs_file_is_in(other, w[i].path)))) {
                s = mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                                "%s cannot be written: it is, or lies in, %s, which %s; name another file with %s",
                                inside ? w[i].path : other, inside ? other : w[i].path,
                                k < KEPT ? "must stay as it is" : "the run writes, too",
                                k < KEPT ? w[i].option : w[k - KEPT].option);
            }
        }
    }
    return s;
}

/* The files of refused documents and residue overwrite nothing of value. Called when it is known which run this one
 * resumes. */
enum mrs_status
mrsi_side_files_check_existing(struct mrsi_engine *en, struct mrs_err *e)
{
    struct side_file w[WRITTEN];
    uint32_t n = 0;
    enum mrs_status s = all_written(en, w, &n, e);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        struct mrs_replace how = {.option = w[i].option,
                                  .unlike = w[i].unlike,
                                  .force = en->opts->force,
                                  .any_folder = !en->opts->refused && w[i].is_ours == mrsi_refused_is_ours, /* OUT's */
                                  .is_ours = w[i].is_ours,
                                  .arg = en};
        s = w[i].path && w[i].unlike ? mrs_file_may_be(w[i].path, &how, e) : MRS_OK;
    }
    return s;
}
