/* SPDX-License-Identifier: Apache-2.0 */
/* inverse_folder.c - the folder of the inverse run: its path, and removing its remains. */
#include "checkpoint.h"
#include <sys/stat.h>
#include <unistd.h>

/* Distinguishes outputs with the same name. It is equal when a killed run is started again, so that its remains are
 * found and removed. */
static unsigned long long
mark_of(const char *output, size_t n)
{
    char cwd[4096] = "";
    if (output[0] != '/' && !getcwd(cwd, sizeof cwd)) {
        cwd[0] = 0;
    }
    return mrs_hash(output, n, mrs_hash(cwd, strlen(cwd), 0).lo).lo;
}

/* Next to the output, or in --tmp with the output's name. NULL: out of memory. */
char *
mrsi_inverse_place(struct mrs_mem *mem, const struct mrs_run_opts *o)
{
    MRS_ASSERT(o->output);
    size_t n = strlen(o->output);
    while (n > 1 && o->output[n - 1] == '/') {
        n--;
    }
    size_t base = n;
    while (base > 0 && o->output[base - 1] != '/') {
        base--;
    }
    size_t size = n + (o->tmp ? strlen(o->tmp) : 0) + 48;
    char *path = mrs_alloc(mem, size);
    if (path && o->tmp) {
        snprintf(path, size, "%s/%.*s.%016llx.inverse", o->tmp, (int)(n - base), o->output + base,
                 mark_of(o->output, n));
    } else if (path) {
        snprintf(path, size, "%.*s.inverse", (int)n, o->output);
    }
    return path;
}

/* Is the folder next to a path? */
static bool
is_next_to(struct mrs_mem *mem, const char *path, const char *suffix)
{
    struct stat st;
    size_t n = strlen(path) + strlen(suffix) + 1;
    char *name = mrs_alloc(mem, n);
    bool there = false;
    if (name) {
        snprintf(name, n, "%s%s", path, suffix);
        there = lstat(name, &st) == 0;
    }
    mrs_free(mem, name);
    return there;
}

static enum mrs_status
remove_output(struct mrs_mem *mem, const char *path, struct mrs_err *e)
{
    struct mrs_output_opts o = {.force = true, .format = MRS_FORMAT_DIRECTORY};
    struct mrs_output *out = NULL;
    enum mrs_status s = mrs_output_open(mem, path, &o, &out, e); /* created again, so empty */
    mrs_output_abort(out);
    mrs_output_free(out);
    return s;
}

enum mrs_status
mrsi_inverse_forget(struct mrs_mem *mem, const struct mrs_run_opts *opts, struct mrs_err *e)
{
    char *path = mrsi_inverse_place(mem, opts);
    struct mrs_ckpt_dir side = {mem, path, NULL};
    enum mrs_status s = mrs_allocated(path, 0, e);
    if (s == MRS_OK && is_next_to(mem, path, MRS_CHECKPOINT)) {
        s = remove_output(mem, path, e);
        MRS_THEN(s, mrs_ckpt_dir_clear(&side, NULL, e));
    }
    mrs_free(mem, path);
    return s;
}

void
mrsi_inverse_sweep(struct mrs_mem *mem, const struct mrs_run_opts *opts)
{
    char *path = mrsi_inverse_place(mem, opts);
    if (path && !is_next_to(mem, path, MRS_CHECKPOINT) && is_next_to(mem, path, ".partial")) {
        (void)remove_output(mem, path, NULL);
    }
    mrs_free(mem, path);
}
