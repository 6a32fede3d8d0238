/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - twin-run SEED COUNT TOOL [STEP]: random data and plans through the tool and through the twin.
 *
 * Every collection must be equal byte for byte and in order, and the refused documents must be the same. On a
 * difference the seed, the plan and the first different place are printed; the folder of the seed stays. Environment:
 * TWIN_TMP (a folder, best in memory), TWIN_STOP (failures after which it ends, default 5). */
#include "../folder.h"
#include "gen.h"

#include <errno.h>
#include <fcntl.h>
#include <bson/bson.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct laws { /* what is looked at beside the twin's output; in NULL: nothing */
    const struct coll *in;
    uint32_t n;
    const struct val *plan;
};
struct score {
    uint32_t same, differ, open, refused, stop;
};

/* ---- the plan as JSON that a plan file takes: plain numbers where they are int32, typed values else */
static void
put_json(FILE *f, const struct val *v)
{
    const char *s;
    switch (v->type) {
    case T_DOC: case T_ARRAY:
        fputc(v->type == T_DOC ? '{' : '[', f);
        for (uint32_t i = 0; i < v->n; i++) {
            if (i)
                fputs(", ", f);
            if (v->type == T_DOC)
                fprintf(f, "\"%s\": ", v->f[i].name);
            put_json(f, v->f[i].v);
        }
        fputc(v->type == T_DOC ? '}' : ']', f);
        break;
    case T_STRING: fprintf(f, "\"%s\"", tw_str(v)); break;
    case T_INT32: fprintf(f, "%lld", (long long)tw_num_int64(v)); break;
    case T_BOOL: fputs(v->raw[0] ? "true" : "false", f); break;
    case T_NULL: fputs("null", f); break;
    default: /* { "" : VALUE } */
        s = strchr(tw_json(v), ':') + 1;
        fprintf(f, "%.*s", (int)strlen(s) - 1, s);
    }
}

static bool
write_plan(const char *file, const struct val *plan)
{
    FILE *f = fopen(file, "w");
    if (!f)
        return false;
    put_json(f, plan);
    fputc('\n', f);
    return !fclose(f);
}

static bool
write_input(const struct world *w, const char *dir)
{
    if (!tw_world_write(w, dir) || remove(tw_text("%s/refused.jsonl", dir)))
        return false;
    for (uint32_t i = 0; i < w->n; i++) {
        char name[64], *to = name;
        for (const char *s = w->c[i]->name; *s; s++)
            *to++ = *s == ' ' ? '+' : *s;
        *to = 0;
        FILE *f = fopen(tw_text("%s/t/%s.metadata.json", dir, name), "w");
        if (!f)
            return false;
        fprintf(f,
                "{\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"_id\":{\"$numberInt\":\"1\"}},\"name\":\"_id_"
                "\"}],"
                "\"collectionName\":\"%s\",\"type\":\"collection\"}",
                w->c[i]->name);
        if (fclose(f))
            return false;
    }
    return true;
}

/* ---- the tool */
static int
run_tool(const char *tool, const char *dir, uint64_t seed, uint32_t most)
{
    /* less than 64M bounds what is gathered: small data then take the ways of large */
    static const char *const budgets[] = {"512M", "4K", "64M", "16K"};
    const char *memory = budgets[seed & 3], *jobs = seed & 4 ? "2" : "1";
    const char *plan = tw_text("%s/plan.yaml", dir), *in = tw_text("%s/in", dir), *out = tw_text("%s/out", dir);
    const char *log = tw_text("%s/log", dir);
    const char *argv[] = {tool, "run", plan, "-i", in, "-o", out, "--max-refused", tw_text("%u", most),
                          "--memory", memory,
                          "--jobs", jobs, "--compress", "none", "--json", NULL};
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, tw_text("%s/report", dir), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&fa, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!posix_spawnp(&pid, tool, &fa, NULL, (char *const *)argv, environ))
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&fa);
    if (status == -1)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool
read_refused(const char *file, struct vals *out)
{
    FILE *f = fopen(file, "rb");
    uint32_t len;
    while (f && fread(&len, 1, 4, f) == 4) {
        uint8_t *p = tw_new(len);
        memcpy(p, &len, 4);
        if (fread(p + 4, 1, len - 4, f) != len - 4)
            break;
        struct val *d = tw_parse(p, len);
        if (d)
            tw_add(out, d);
    }
    if (f)
        fclose(f);
    return true;
}

/* ---- comparison: values as short as can be told apart (2 int32, 2L int64, 2.0 double, 2d decimal) */
static const char *
brief(const struct val *v)
{
    const char *text = "", *name = "";
    if (!v)
        return "(none)";
    switch (v->type) {
    case T_INT32: return tw_text("%lld", (long long)tw_num_int64(v));
    case T_INT64: return tw_text("%lldL", (long long)tw_num_int64(v));
    case T_STRING: return tw_text("\"%s\"", tw_str(v));
    case T_SYMBOL: return tw_text("symbol(%s)", (const char *)v->raw + 4);
    case T_BOOL: return v->raw[0] ? "true" : "false";
    case T_NULL: return "null";
    case T_UNDEFINED: return "undefined";
    case T_MINKEY: return "minKey";
    case T_MAXKEY: return "maxKey";
    case T_OID:
        return tw_text("oid(%02x%02x%02x%02x..%02x%02x)", v->raw[0], v->raw[1], v->raw[2], v->raw[3], v->raw[10],
                       v->raw[11]);
    case T_DOUBLE: return tw_text(tw_num_double(v) == (int)tw_num_double(v) ? "%.1f" : "%g", tw_num_double(v));
    case T_DECIMAL:
        text = strchr(strchr(tw_json(v), ':') + 1, ':') + 3;
        return tw_text("%.*sd", (int)strcspn(text, "\""), text);
    case T_DOC: case T_ARRAY: break;
    default: return tw_text("%s", strchr(tw_json(v), ':') + 2);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->type == T_DOC)
            name = tw_text("%s:", v->f[i].name);
        else if (strtoul(v->f[i].name, NULL, 10) != i)
            name = tw_text("(%s)", v->f[i].name);
        text = tw_text("%s%s%s%s", text, i ? ", " : "", name, brief(v->f[i].v));
    }
    return tw_text(v->type == T_DOC ? "{%s}" : "[%s]", text);
}

static void
show(const char *what, const struct coll *c)
{
    printf("  %s %s (%u documents)\n", what, c ? c->ns : "(none)", c ? c->docs.n : 0);
    for (uint32_t i = 0; c && i < c->docs.n; i++)
        printf("    %s\n", brief(c->docs.v[i]));
}

static struct coll *
find(const struct world *w, const char *ns)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (!w->c[i]->gone && !strcmp(w->c[i]->ns, ns))
            return w->c[i];
    return NULL;
}

static bool
same_collection(const struct coll *want, const struct coll *got)
{
    uint32_t i = 0;
    while (got && i < want->docs.n && i < got->docs.n && tw_same_bytes(want->docs.v[i], got->docs.v[i]))
        i++;
    if (got && i == want->docs.n && i == got->docs.n)
        return true;
    printf("  %s differs at document %u\n    want %s\n    got  %s\n", want->ns, i,
           i < want->docs.n ? brief(want->docs.v[i]) : "(end)",
           !got ? "(no such collection)" : i < got->docs.n ? brief(got->docs.v[i]) : "(end)");
    if (getenv("TWIN_VERBOSE")) {
        show("want", want);
        show("got ", got);
    }
    return false;
}

static bool
same_refused(const struct world *w, const struct vals *got)
{
    bool *used = tw_new(got->n + 1), ok = true;
    for (uint32_t i = 0; i < w->nr; i++) {
        bool hit = false;
        for (uint32_t k = 0; k < got->n && !hit; k++) {
            const char *ns = tw_str(tw_get(got->v[k], "ns"));
            if (used[k] || !ns || strcmp(ns, w->r[i].ns) || tw_as_int(tw_get(got->v[k], "step"), 0) != w->r[i].step ||
                !tw_same_bytes(tw_get(got->v[k], "doc"), w->r[i].doc))
                continue;
            hit = used[k] = true;
        }
        if (!hit)
            printf("  should be refused: %s step %d (%s)\n    %s\n", w->r[i].ns, w->r[i].step, w->r[i].why,
                   brief(w->r[i].doc));
        ok &= hit;
    }
    for (uint32_t k = 0; k < got->n; k++) {
        if (!used[k])
            printf("  should not be refused: %s\n", brief(got->v[k]));
        ok &= used[k];
    }
    return ok;
}

static bool
same_world(const struct world *want, const struct world *got)
{
    bool ok = true;
    for (uint32_t i = 0; i < want->n; i++)
        if (!want->c[i]->gone)
            ok &= same_collection(want->c[i], find(got, want->c[i]->ns));
    for (uint32_t i = 0; i < got->n; i++) {
        if (!find(want, got->c[i]->ns)) {
            show("a collection too many:", got->c[i]);
            ok = false;
        }
    }
    return ok;
}

static void
show_file(const char *file)
{
    char line[4096];
    FILE *f = fopen(file, "r");
    while (f && fgets(line, sizeof line, f))
        printf("  | %s", line);
    if (f)
        fclose(f);
}

/* More were refused than may be: the records of the steps up to the one that went past are all there is. */
static bool
gave_up(const struct world *w, const char *dir, int status, uint32_t most, struct score *sc)
{
    struct world until = *w;
    struct vals refused = {0};
    until.r = tw_new((w->nr + 1) * sizeof *w->r);
    until.nr = 0;
    for (int step = 1; until.nr <= most; step++)
        for (uint32_t i = 0; i < w->nr; i++)
            if (w->r[i].step == step)
                until.r[until.nr++] = w->r[i];
    if (w->unclear) {
        sc->open++;
        return true;
    }
    read_refused(tw_text("%s/out.refused.bson", dir), &refused);
    bool ok = same_refused(&until, &refused);
    if (status != 7 || !access(tw_text("%s/out", dir), F_OK)) {
        printf("  exit status %d, expected 7 and no output\n", status);
        ok = false;
    }
    sc->same += ok;
    return ok;
}

static const struct val *
read_report(const char *file)
{
    enum { MOST = 1 << 20 };
    char *text = tw_new(MOST);
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(text, 1, MOST - 1, f) : 0;
    bson_error_t err;
    if (f)
        fclose(f);
    bson_t *b = n ? bson_new_from_json((const uint8_t *)text, (ssize_t)n, &err) : NULL;
    if (!b)
        return tw_doc();
    uint8_t *p = memcpy(tw_new(b->len), bson_get_data(b), b->len);
    const struct val *v = tw_parse(p, b->len);
    bson_destroy(b);
    return v;
}

static bool
compare(const struct world *w, const char *dir, int status, struct score *sc, const struct laws *laws)
{
    struct world got = {.n = 0};
    struct vals refused = {0};
    int expected = w->nr ? 1 : 0;
    if (w->unclear) {
        sc->open++;
        if (getenv("TWIN_VERBOSE"))
            printf("not settled: %s\n", w->unclear);
        if (status == 0 || status == 1 || status == 7)
            return true;
    }
    if (w->wrong)
        printf("  the twin does not take the plan: %s\n", w->wrong);
    if (status != 0 && status != 1) {
        printf("  exit status %d, expected %d\n", status, expected);
        show_file(tw_text("%s/log", dir));
        return false;
    }
    read_refused(tw_text("%s/out.refused.bson", dir), &refused);
    if (!tw_world_read(&got, tw_text("%s/out", dir))) {
        printf("  the output cannot be read\n");
        return false;
    }
    bool ok = same_world(w, &got);
    ok &= same_refused(w, &refused); /* both tell what differs */
    if (laws->in)
        ok &= laws_hold(laws->in, laws->n, laws->plan, &got, &refused, read_report(tw_text("%s/report", dir)));
    if (ok && status != expected) {
        printf("  exit status %d, expected %d\n", status, expected);
        ok = false;
    }
    sc->refused += w->nr;
    sc->same += ok && !w->unclear;
    return ok && !w->wrong;
}

static bool
one_seed(uint64_t seed, const char *only, const char *tool, const char *tmp, struct score *sc)
{
    struct world w;
    const char *dir = tw_text("%s/seed-%llu", tmp, (unsigned long long)seed);
    struct val *plan = gen_seed(seed, only, &w);
    drop_tree(dir);
    mkdir(dir, 0777);
    if (!write_plan(tw_text("%s/plan.yaml", dir), plan) || !write_input(&w, tw_text("%s/in", dir))) {
        printf("twin-run: cannot write %s: %s\n", dir, strerror(errno));
        exit(4);
    }
    struct coll *input = tw_new(w.n * sizeof *input);
    uint32_t n = w.n;
    bool clash = only && !strcmp(only, "clash");
    uint32_t most = clash && seed % 5 == 0 ? (uint32_t)(seed / 5 % 4) : 1000000;
    for (uint32_t i = 0; i < n; i++) {
        input[i] = *w.c[i];
        input[i].docs = (struct vals){0};
        for (uint32_t k = 0; k < w.c[i]->docs.n; k++)
            tw_add(&input[i].docs, tw_copy(w.c[i]->docs.v[k]));
    }
    tw_run_plan(&w, plan);
    int status = run_tool(tool, dir, seed, most);
    struct laws laws = {clash && !w.unclear ? input : NULL, n, plan};
    /* What differs is printed as it is found, and only then what it came from. */
    bool ok = w.nr > most ? gave_up(&w, dir, status, most, sc) : compare(&w, dir, status, sc, &laws);
    if (ok) {
        drop_tree(dir);
        return true;
    }
    printf("seed %llu FAILS: %s\n  plan: ", (unsigned long long)seed, dir);
    put_json(stdout, plan);
    printf("\n");
    for (uint32_t i = 0; i < n && getenv("TWIN_VERBOSE"); i++)
        show("in  ", &input[i]);
    printf("\n");
    return false;
}

int
main(int argc, char **argv)
{
    struct score sc = {0};
    char tmp[256];
    const char *base = getenv("TWIN_TMP"), *stop = getenv("TWIN_STOP");
    if (argc < 4) {
        fprintf(stderr, "usage: twin-run SEED COUNT TOOL [STEP]\n");
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    uint32_t limit = stop ? (uint32_t)strtoul(stop, NULL, 10) : 5;
    snprintf(tmp, sizeof tmp, "%s/mongoreshape-twin-%d", base ? base : access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
             (int)getpid());
    mkdir(tmp, 0777);
    if (!gen_check_vectors())
        return 1;
    time_t start = time(NULL);
    uint64_t done = 0;
    for (; done < count && sc.differ < limit; done++) {
        sc.differ += !one_seed(first + done, argc > 4 ? argv[4] : NULL, argv[3], tmp, &sc);
        tw_free_all();
    }
    printf("twin: seeds %llu to %llu: %u agree, %u differ, %u not settled by the contract; %u documents refused; "
           "%lld s\n",
           (unsigned long long)first, (unsigned long long)(first + done - 1), sc.same, sc.differ, sc.open, sc.refused,
           (long long)(time(NULL) - start));
    if (!sc.differ)
        drop_tree(tmp);
    return sc.differ ? 1 : 0;
}
