/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - twin PLAN.json INDIR OUTDIR: the naive implementation as a program.
 *
 * Exit: 0 done, 1 some documents refused, 2 plan or input not supported, 3 the contract does not define the result for
 * this input (reported on stderr; the output is a guess). */
#include "twin.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>

static const struct val *
read_plan(const char *file)
{
    FILE *f = fopen(file, "rb");
    char *text = tw_new(1 << 20);
    size_t n = f ? fread(text, 1, (1 << 20) - 1, f) : 0;
    bson_error_t err;
    if (f)
        fclose(f);
    bson_t *b = n ? bson_new_from_json((const uint8_t *)text, (ssize_t)n, &err) : NULL;
    if (!b) {
        fprintf(stderr, "twin: %s: %s\n", file, n ? err.message : "cannot be read");
        return NULL;
    }
    const struct val *v = tw_parse(bson_get_data(b), b->len);
    bson_destroy(b);
    return v;
}

int
main(int argc, char **argv)
{
    struct world w = {.n = 0};
    if (argc != 4) {
        fprintf(stderr, "usage: twin PLAN.json INDIR OUTDIR\n");
        return 2;
    }
    const struct val *plan = read_plan(argv[1]);
    if (!plan || !tw_world_read(&w, argv[2])) {
        fprintf(stderr, "twin: cannot read the plan or %s\n", argv[2]);
        return 2;
    }
    if (!tw_run_plan(&w, plan)) {
        fprintf(stderr, "twin: %s\n", w.wrong);
        return 2;
    }
    if (!tw_world_write(&w, argv[3]))
        return 4;
    for (uint32_t i = 0; i < w.nr; i++)
        fprintf(stderr, "refused: %s step %d: %s\n", w.r[i].ns, w.r[i].step, w.r[i].why);
    if (w.unclear)
        fprintf(stderr, "twin: not settled: %s\n", w.unclear);
    int exit_code = w.unclear ? 3 : w.nr ? 1 : 0;
    tw_free_all();
    return exit_code;
}
