/* SPDX-License-Identifier: Apache-2.0 */
/* casetool.c - what the case runner needs that a shell cannot do: BSON.
 *
 *   casetool load CASE DUMP          in/ of a case (Extended JSON lines, metadata) becomes a dump directory
 *   casetool check CASE DUMP REFUSED [LOG]  compares a dump directory, the refused records and what was said with the
 *                                    case's expectation
 *   casetool twin CASE OUT           compares the documents that the twin made, and how many it refused
 *   casetool plan PLAN.yaml          the plan as JSON, for the twin
 *   casetool show FILE.bson          documents as lines of canonical Extended JSON
 * Documents are compared byte for byte and in order; what differs is printed as canonical Extended JSON. Written on
 * libbson and libyaml alone, so that it shares no bug with the tool. */
#include <bson/bson.h>
#include <dirent.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

/* It does one job and ends, so it gives nothing back before that; the leak checker need not look. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "detect_leaks=0";
}

static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *
text(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        abort();
    va_end(ap);
    return s;
}

static bool
ends(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && !strcmp(s + n - m, tail);
}

static char *
slurp(const char *file, size_t *n)
{
    FILE *f = fopen(file, "rb");
    char *p = NULL;
    *n = 0;
    while (f) {
        p = realloc(p, *n + 65536);
        if (!p)
            abort();
        size_t got = fread(p + *n, 1, 65535, f);
        *n += got;
        if (!got)
            break;
    }
    if (f)
        fclose(f);
    if (p)
        p[*n] = 0;
    return p;
}

/* ---- lists of documents */
struct docs {
    bson_t **d;
    size_t n;
    bool bad;
};

static void
push(struct docs *l, bson_t *b)
{
    l->d = realloc(l->d, (l->n + 1) * sizeof *l->d);
    if (!l->d)
        abort();
    l->d[l->n++] = b;
}

static struct docs
read_lines(const char *file)
{
    struct docs l = {NULL, 0, false};
    size_t n;
    char *all = slurp(file, &n), *save = NULL;
    if (!all)
        l.bad = true;
    for (char *line = all ? strtok_r(all, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
        bson_error_t e;
        bson_t *b = *line ? bson_new_from_json((const uint8_t *)line, -1, &e) : NULL;
        if (*line && !b) {
            printf("    %s: %s: %s\n", file, e.message, line);
            l.bad = true;
        }
        if (b)
            push(&l, b);
    }
    free(all);
    return l;
}

static struct docs
read_bson(const char *file)
{
    struct docs l = {NULL, 0, false};
    size_t n, at = 0;
    char *all = slurp(file, &n);
    l.bad = !all;
    while (all && at < n) {
        uint32_t len;
        bson_t b;
        if (n - at < 5 || (memcpy(&len, all + at, 4), len > n - at) ||
            !bson_init_static(&b, (const uint8_t *)all + at, len)) {
            l.bad = true;
            break;
        }
        push(&l, bson_copy(&b));
        at += len;
    }
    free(all);
    return l;
}

static const char *
show(const bson_t *b)
{
    return b ? bson_as_canonical_extended_json(b, NULL) : "(none)";
}

/* ---- load */
#define PLAIN_METADATA                                                                                               \
    "{\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"_id\":{\"$numberInt\":\"1\"}},\"name\":\"_id_\"}],"      \
    "\"uuid\":\"00112233445566778899aabbccddeeff\",\"collectionName\":\"%s\",\"type\":\"collection\"}"

static bool
put_file(const char *file, const void *p, size_t n)
{
    FILE *f = fopen(file, "wb");
    if (!f)
        return false;
    bool ok = fwrite(p, 1, n, f) == n;
    return !fclose(f) && ok;
}

/* db.coll.jsonl -> db and coll (the name of the file in a dump) */
static bool
names(const char *file, const char *tail, char **db, char **coll)
{
    const char *dot = strchr(file, '.');
    if (!ends(file, tail) || !dot || dot + strlen(tail) > file + strlen(file) - 1)
        return false;
    *db = strndup(file, (size_t)(dot - file));
    *coll = strndup(dot + 1, strlen(dot + 1) - strlen(tail));
    return true;
}

static bool
load_collection(const char *in, const char *file, const char *dump, const char *db, const char *coll)
{
    struct docs l = read_lines(text("%s/%s", in, file));
    char *dir = text("%s/%s", dump, db);
    size_t n;
    mkdir(dir, 0777);
    FILE *f = fopen(text("%s/%s.bson", dir, coll), "wb");
    if (!f || l.bad)
        return false;
    for (size_t i = 0; i < l.n; i++)
        fwrite(bson_get_data(l.d[i]), 1, l.d[i]->len, f);
    if (fclose(f))
        return false;
    char *given = slurp(text("%s/%s.%s.metadata.json", in, db, coll), &n);
    if (!given && !strncmp(coll, "system.buckets.", strlen("system.buckets.")))
        return true; /* mongodump describes a time series once, under its own name */
    char *meta = given ? given : text(PLAIN_METADATA, coll);
    return put_file(text("%s/%s.metadata.json", dir, coll), meta, strlen(meta));
}

static int
load(const char *folder, const char *dump)
{
    char *in = text("%s/in", folder), *db, *coll;
    DIR *d = opendir(in);
    bool ok = d != NULL;
    mkdir(dump, 0777);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (names(e->d_name, ".jsonl", &db, &coll)) {
            ok &= load_collection(in, e->d_name, dump, db, coll);
        } else if (names(e->d_name, ".metadata.json", &db, &coll) &&
                   !fopen(text("%s/%s.%s.jsonl", in, db, coll), "r")) { /* a view has no data */
            size_t n;
            char *meta = slurp(text("%s/%s", in, e->d_name), &n);
            mkdir(text("%s/%s", dump, db), 0777);
            ok &= put_file(text("%s/%s/%s.metadata.json", dump, db, coll), meta, n);
        }
    }
    if (d)
        closedir(d);
    return ok ? 0 : 1;
}

/* ---- check */
static bool
same_docs(const char *what, const struct docs *want, const struct docs *got)
{
    for (size_t i = 0; i < want->n || i < got->n; i++) {
        const bson_t *w = i < want->n ? want->d[i] : NULL, *g = i < got->n ? got->d[i] : NULL;
        if (w && g && bson_equal(w, g))
            continue;
        printf("    %s, document %zu\n      want %s\n      got  %s\n", what, i + 1, show(w), show(g));
        return false;
    }
    return !want->bad && !got->bad;
}

static bool
same_value(const bson_t *want, const bson_t *got, const char *key)
{
    bson_iter_t a, b;
    bson_t x = BSON_INITIALIZER, y = BSON_INITIALIZER;
    if (!bson_iter_init_find(&a, want, key))
        return true;
    bool there = bson_iter_init_find(&b, got, key);
    if (bson_iter_type(&a) == BSON_TYPE_NULL)
        return !there;
    if (!there)
        return false;
    bson_append_iter(&x, "", 0, &a);
    bson_append_iter(&y, "", 0, &b);
    return bson_equal(&x, &y);
}

static bool
same_members(const char *what, const bson_t *want, const bson_t *got)
{
    bson_iter_t it;
    if (bson_iter_init(&it, want))
        while (bson_iter_next(&it))
            if (!same_value(want, got, bson_iter_key(&it))) {
                printf("    %s, key %s\n      want %s\n      got  %s\n", what, bson_iter_key(&it), show(want),
                       show(got));
                return false;
            }
    return true;
}

static bool
check_metadata(const char *out, const char *file, const char *dump, const char *db, const char *coll)
{
    struct docs want = read_lines(text("%s/%s", out, file));
    struct docs got = read_lines(text("%s/%s/%s.metadata.json", dump, db, coll));
    if (want.n != 1 || got.n != 1) {
        printf("    %s: no metadata written\n", file);
        return false;
    }
    return same_members(file, want.d[0], got.d[0]);
}

static bool
nothing_else(const char *out, const char *dump)
{
    DIR *d = opendir(dump);
    bool ok = true;
    for (struct dirent *e; d && (e = readdir(d));) {
        DIR *sub = e->d_name[0] == '.' ? NULL : opendir(text("%s/%s", dump, e->d_name));
        for (struct dirent *f; sub && (f = readdir(sub));) {
            struct stat st;
            char *base = strdup(f->d_name);
            if (!ends(base, ".bson"))
                continue;
            base[strlen(base) - 5] = 0;
            if (stat(text("%s/%s.%s.jsonl", out, e->d_name, base), &st)) {
                printf("    collection %s.%s is there and should not be\n", e->d_name, base);
                ok = false;
            }
        }
        if (sub)
            closedir(sub);
    }
    if (d)
        closedir(d);
    return ok;
}

static bool
check_refused(const char *folder, const char *refused)
{
    struct stat st;
    char *file = text("%s/refused.jsonl", folder);
    struct docs want = {NULL, 0, false}, got = read_bson(refused);
    if (!stat(file, &st))
        want = read_lines(file);
    if (want.bad)
        return false;
    for (size_t i = 0; i < want.n || i < got.n; i++) {
        if (i >= want.n || i >= got.n) {
            printf("    refused record %zu\n      want %s\n      got  %s\n", i + 1, show(i < want.n ? want.d[i] : NULL),
                   show(i < got.n ? got.d[i] : NULL));
            return false;
        }
        if (!same_members("refused record", want.d[i], got.d[i]))
            return false;
    }
    return true;
}

/* Each line of the case's stderr is an extended regular expression that a line of the log must have. */
static bool
check_said(const char *folder, const char *log)
{
    size_t n;
    char *all = slurp(text("%s/stderr", folder), &n), *said = slurp(log, &n), *save = NULL;
    bool ok = true;
    for (char *p = all ? strtok_r(all, "\n", &save) : NULL; p; p = strtok_r(NULL, "\n", &save)) {
        regex_t pattern;
        if (regcomp(&pattern, p, REG_EXTENDED | REG_NEWLINE | REG_NOSUB) || !said ||
            regexec(&pattern, said, 0, NULL, 0)) {
            printf("    stderr lacks: %s\n", p);
            ok = false;
        }
    }
    if (!ok)
        printf("    | %s\n", said ? said : "(nothing)");
    return ok;
}

static bool
check_documents(const char *out, const char *file, const char *dump, const char *db, const char *coll)
{
    struct docs want = read_lines(text("%s/%s", out, file));
    struct docs got = read_bson(text("%s/%s/%s.bson", dump, db, coll));
    if (got.bad)
        printf("    %s: not written, or damaged\n", file);
    return same_docs(file, &want, &got);
}

/* Everything that a case expects in out/; the metadata only if asked for, since the twin makes none. */
static bool
check_output(const char *folder, const char *dump, bool metadata)
{
    char *out = text("%s/out", folder), *db, *coll;
    struct stat st;
    bool ok = true;
    DIR *d = opendir(out);
    if (!d) {
        if (!stat(dump, &st)) {
            printf("    an output was published and should not be\n");
            ok = false;
        }
        return ok;
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (names(e->d_name, ".jsonl", &db, &coll))
            ok &= check_documents(out, e->d_name, dump, db, coll);
        else if (metadata && names(e->d_name, ".metadata.json", &db, &coll))
            ok &= check_metadata(out, e->d_name, dump, db, coll);
    }
    closedir(d);
    return nothing_else(out, dump) && ok;
}

static int
check(const char *folder, const char *dump, const char *refused, const char *log)
{
    bool ok = check_refused(folder, refused);
    if (log)
        ok &= check_said(folder, log);
    return check_output(folder, dump, true) && ok ? 0 : 1;
}

static int
check_twin(const char *folder, const char *dump)
{
    struct stat st;
    char *file = text("%s/refused.jsonl", folder);
    struct docs want = {NULL, 0, false}, got = read_lines(text("%s/refused.jsonl", dump));
    if (!stat(file, &st))
        want = read_lines(file);
    if (want.n != got.n)
        printf("    the twin refuses %zu documents, not %zu\n", got.n, want.n);
    return check_output(folder, dump, false) && want.n == got.n && !want.bad && !got.bad ? 0 : 1;
}

/* ---- plan: YAML 1.2 core schema to JSON */
static void
put_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if ((unsigned char)*s < 32)
            printf("\\u%04x", *s);
        else
            putchar(*s);
    }
    putchar('"');
}

/* As JSON has it: without a + and without zeros in front. */
static void
put_number(const char *s)
{
    bool sign = *s == '+' || *s == '-';
    if (*s == '-')
        putchar('-');
    s += sign;
    while (*s == '0' && s[1] >= '0' && s[1] <= '9')
        s++;
    printf("%s", s);
}

static void
put_scalar(const yaml_event_t *e, bool key)
{
    const char *s = (const char *)e->data.scalar.value;
    char *end;
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !key;
    if (plain && (!*s || !strcmp(s, "~") || !strcmp(s, "null"))) {
        printf("null");
    } else if (plain && (!strcmp(s, "true") || !strcmp(s, "false"))) {
        printf("%s", s);
    } else if (plain && s[0] == '0' && (s[1] == 'x' || s[1] == 'o') && s[2]) {
        printf("%lld", strtoll(s + 2, NULL, s[1] == 'x' ? 16 : 8));
    } else if (plain && strspn(s, "+-0123456789.eE") == strlen(s) && strpbrk(s, "0123456789") &&
               (strtod(s, &end), !*end)) {
        put_number(s);
    } else {
        put_string(s);
    }
}

static bool
put_node(yaml_parser_t *p, yaml_event_t *e, bool key)
{
    yaml_event_t in;
    bool map = e->type == YAML_MAPPING_START_EVENT;
    if (e->type == YAML_SCALAR_EVENT) {
        put_scalar(e, key);
        return true;
    }
    if (!map && e->type != YAML_SEQUENCE_START_EVENT)
        return false;
    putchar(map ? '{' : '[');
    for (int i = 0; yaml_parser_parse(p, &in); i++) {
        if (in.type == YAML_MAPPING_END_EVENT || in.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (i)
            printf("%s", map && i % 2 ? ": " : ", ");
        if (!put_node(p, &in, map && i % 2 == 0))
            return false;
    }
    putchar(map ? '}' : ']');
    return !p->error;
}

static int
plan(const char *file)
{
    yaml_parser_t p;
    yaml_event_t e;
    size_t n;
    char *all = slurp(file, &n);
    if (!all || !yaml_parser_initialize(&p))
        return 1;
    yaml_parser_set_input_string(&p, (const unsigned char *)all, n);
    while (yaml_parser_parse(&p, &e) && e.type != YAML_STREAM_END_EVENT)
        if ((e.type == YAML_MAPPING_START_EVENT || e.type == YAML_SCALAR_EVENT) && !put_node(&p, &e, false))
            return 1;
    putchar('\n');
    yaml_parser_delete(&p);
    return 0;
}

static int
show_file(const char *file)
{
    struct docs l = read_bson(file);
    for (size_t i = 0; i < l.n; i++)
        puts(show(l.d[i]));
    return l.bad;
}

int
main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "load"))
        return load(argv[2], argv[3]);
    if ((argc == 5 || argc == 6) && !strcmp(argv[1], "check"))
        return check(argv[2], argv[3], argv[4], argv[5]);
    if (argc == 4 && !strcmp(argv[1], "twin"))
        return check_twin(argv[2], argv[3]);
    if (argc == 3 && !strcmp(argv[1], "plan"))
        return plan(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "show"))
        return show_file(argv[2]);
    fprintf(stderr, "usage: casetool load CASE DUMP | check CASE DUMP REFUSED [LOG] | twin CASE OUT |\n"
                    "                plan PLAN | show FILE\n");
    return 2;
}
