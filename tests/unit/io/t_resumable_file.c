/* SPDX-License-Identifier: Apache-2.0 */
/* t_resumable_file.c - an output that is stopped while it copies or packs, at every place where it rests, goes on there
 * and not before it, to the same bytes; words that are damaged are refused. */
#include "io_ground.h"
#include "io/output/output.h"

enum { DOCS = 9000 };
static char out_path[512];
static struct mrs_input *in;

/* ---- who waits ---- */
struct waiting {
    struct mrs_output *o;
    unsigned pauses, stop_at; /* 0: never */
    uint64_t bytes;          /* read so far */
    struct mrs_buf words;    /* of the output at the last rest */
};

static bool
due(void *arg, uint64_t bytes)
{
    ((struct waiting *)arg)->bytes += bytes;
    return true;
}

static enum mrs_status
rest(void *arg, struct mrs_err *e)
{
    struct waiting *w = arg;
    struct mrs_build b;
    struct mrs_view d;
    mrs_buf_reset(&w->words);
    mrs_build_init(&b, &w->words);
    enum mrs_status s = mrs_output_describe(w->o, &b, e);
    s = s == MRS_OK ? mrs_build_finish(&b, &d, e) : s;
    w->pauses++;
    return s == MRS_OK && w->pauses == w->stop_at ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "stop") : s;
}

/* ---- outputs ---- */
struct kind {
    const char *name;
    struct mrs_compress compress;
    bool copies; /* the rests are those of copies; else of the commit */
};
static const struct kind kinds[] = {
    {"o", {MRS_CODEC_AS_INPUT, 0}, true},     {"o", {MRS_CODEC_ZSTD, 1}, true},
    {"o.archive", {MRS_CODEC_NONE, 0}, false}, {"o.archive", {MRS_CODEC_GZIP, 1}, false},
    {"o.tar", {MRS_CODEC_NONE, 0}, false},     {"o.tar", {MRS_CODEC_ZSTD, 1}, false},
    {"o.zip", {MRS_CODEC_NONE, 0}, false},     {"o.zip", {MRS_CODEC_GZIP, 1}, false},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static enum mrs_status
open_out(const struct kind *k, struct waiting *w, bool resume)
{
    struct mrs_output_opts opts = {.compress = k->compress, .jobs = 2, .in = in, .resume = resume};
    opts.pause = (struct mrs_pause){w, due, rest};
    return mrs_output_open(mem, out_path, &opts, &w->o, &err);
}

/* Namespaces and extra files, in order; what is there already is passed over. */
static enum mrs_status
copy_all(struct mrs_output *o, const char *done)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(in, i);
        const char *name = ns->kind == MRS_INPUT_EXTRA ? ns->rel_path : ns->ns;
        if (!done || !strstr(done, name)) {
            s = ns->kind == MRS_INPUT_EXTRA && !mrs_format_holds(o->format, name) ? s : mrs_output_copy(o, in, i, &err);
        }
    }
    return s;
}

/* One collection is written, so that an archive is packed from both sides. */
static void
write_one(struct mrs_output *o, struct bytes docs)
{
    struct mrs_sink *sink;
    struct mrs_hash_sum sum;
    OK(mrs_output_coll(o, "shop", "new", "{}", 2, true, &sink, &err));
    OK(mrs_sink_write(sink, docs.p, docs.n, &err));
    OK(mrs_sink_close(sink, DOCS, &sum, &err));
}

/* What the records of a description name, but for what is half done. */
static void
names_of(const struct mrs_output *o, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < o->n_recs && n < size; i++) {
        int k = snprintf(text + n, size - n, "%s ", o->recs[i].name);
        n += k > 0 ? (size_t)k : 0;
    }
}

static enum mrs_status
run(const struct kind *k, struct waiting *w, struct bytes docs)
{
    enum mrs_status s = open_out(k, w, false);
    if (s == MRS_OK) {
        write_one(w->o, docs);
        w->pauses = 0;
        s = copy_all(w->o, NULL);
    }
    s = s == MRS_OK ? mrs_output_commit(w->o, mrs_empty_doc(), NULL, &err) : s;
    return s;
}

static uint64_t
picture(const struct kind *k)
{
    static const char *const files[] = {"shop/a.bson", "shop/a.bson.zst", "shop/new.bson", "shop/new.bson.zst",
                                        "notes.txt", "mongoreshape.manifest.json"};
    uint64_t sum = 0;
    bool folder = strcmp(k->name, "o") == 0;
    for (size_t i = 0; i < (folder ? sizeof files / sizeof *files : 1); i++) {
        char path[600];
        snprintf(path, sizeof path, folder ? "%s/%s" : "%s", out_path, files[i]);
        if (there(path)) {
            struct bytes b = get(path);
            sum = mrs_hash(b.p, b.n, sum + i).lo;
            free(b.p);
        }
    }
    return sum;
}

static void
forget(struct waiting *w)
{
    mrs_output_free(w->o);
    mrs_buf_clear(&w->words);
}

/* Takes up what was left with these words. */
static enum mrs_status
take_up(const struct kind *k, struct waiting *w, struct mrs_view words, char *names, size_t size)
{
    enum mrs_status s = open_out(k, w, true);
    s = s == MRS_OK ? mrs_output_take_up(w->o, words, mrs_empty_doc(), &err) : s;
    if (s == MRS_OK) {
        names_of(w->o, names, size);
    }
    return s;
}

static void
begin_case(struct waiting *w, unsigned stop_at)
{
    memset(w, 0, sizeof *w);
    w->stop_at = stop_at;
    mrs_buf_init(&w->words, mem, MRS_DOC_MAX);
}

static void
go_on(const struct kind *k, const struct waiting *was, uint64_t whole)
{
    struct waiting w;
    char names[1000];
    begin_case(&w, 0);
    OK(take_up(k, &w, (struct mrs_view){was->words.p, (uint32_t)was->words.n}, names, sizeof names));
    OK(copy_all(w.o, names));
    OK(mrs_output_commit(w.o, mrs_empty_doc(), NULL, &err));
    assert_int_equal(was->bytes + w.bytes, whole); /* nothing is read twice */
    forget(&w);
}

static void
make_input(void)
{
    struct bytes docs = make_docs(DOCS, 3, 600);
    mkdir(at("in"), 0777);
    mkdir(at("in/shop"), 0777);
    put(at("in/shop/a.bson"), docs.p, docs.n);
    put_text(at("in/shop/a.metadata.json"), "{\"m\":1}");
    put(at("in/notes.txt"), docs.p, docs.n / 2);
    free(docs.p);
    OK(mrs_input_open(mem, at("in"), NULL, &in, &err));
}

static void
clear_output(void)
{
    char manifest[600];
    snprintf(manifest, sizeof manifest, "%s.manifest.json", out_path);
    OK(mrsi_remove_tree(out_path, &err));
    OK(mrsi_remove_tree(manifest, &err));
}

static void
everywhere(void **state)
{
    (void)state;
    make_input();
    struct bytes docs = make_docs(DOCS, 5, 500);
    for (size_t i = 0; i < KINDS; i++) {
        struct waiting w;
        snprintf(out_path, sizeof out_path, "%s", at("%s", kinds[i].name));
        clear_output();
        begin_case(&w, 0);
        OK(run(&kinds[i], &w, docs));
        uint64_t whole = w.bytes, want = picture(&kinds[i]);
        unsigned pauses = w.pauses;
        forget(&w);
        assert_true(pauses > 2);
        for (unsigned n = 1; n <= pauses; n++) {
            clear_output();
            begin_case(&w, n);
            FAILS(run(&kinds[i], &w, docs), MRS_E_CANCEL);
            mrs_output_leave(w.o);
            struct waiting was = w;
            mrs_output_free(w.o);
            go_on(&kinds[i], &was, whole);
            mrs_buf_clear(&was.words);
            assert_true(picture(&kinds[i]) == want);
        }
    }
    free(docs.p);
    mrs_input_close(in);
}

/* The place in the words where the value of a field of the half written file begins. */
static uint8_t *
value_of(struct mrs_buf *words, const char *field)
{
    size_t n = strlen(field) + 1, from = 0;
    for (; memcmp(words->p + from, "half", 5) != 0; from++) {
    }
    for (; memcmp(words->p + from, field, n) != 0; from++) {
        assert_true(from + n < words->n);
    }
    return words->p + from + n;
}

/* With damaged words: refused when it is taken up, or when it goes on. */
static void
damaged(const struct kind *k, struct waiting *was, const char *field, uint8_t value, enum mrs_code code)
{
    struct waiting w;
    char names[1000];
    bool number = strcmp(field, "done") == 0;
    uint8_t *at = value_of(&was->words, field) + (number ? 0 : strcmp(field, "file") == 0 ? 5 : 4), keep = *at;
    *at = value;
    begin_case(&w, 0);
    enum mrs_status s = take_up(k, &w, (struct mrs_view){was->words.p, (uint32_t)was->words.n}, names, sizeof names);
    s = s == MRS_OK ? copy_all(w.o, names) : s;
    s = s == MRS_OK ? mrs_output_commit(w.o, mrs_empty_doc(), NULL, &err) : s;
    FAILS(s, code);
    mrs_output_leave(w.o);
    forget(&w);
    *at = keep;
}

static void
damaged_words(void **state)
{
    (void)state;
    make_input();
    struct bytes docs = make_docs(DOCS, 5, 500);
    static const struct {
        unsigned kind;
        const char *field;
    } cases[] = {{0, "done"}, {1, "name"}, {3, "item"}, {5, "member"}, {7, "member"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct kind *k = &kinds[cases[i].kind];
        struct waiting w;
        snprintf(out_path, sizeof out_path, "%s", at("%s", k->name));
        clear_output();
        begin_case(&w, 0);
        OK(run(k, &w, docs));
        uint64_t whole = w.bytes, want = picture(k);
        unsigned pauses = w.pauses; /* the last is one of what the case is about */
        forget(&w);
        clear_output();
        begin_case(&w, pauses);
        FAILS(run(k, &w, docs), MRS_E_CANCEL);
        mrs_output_leave(w.o);
        struct waiting was = w;
        mrs_output_free(w.o);
        damaged(k, &was, "path", '/', MRS_E_FORMAT);
        damaged(k, &was, "file", 0x77, MRS_E_IO); /* more bytes than there are */
        if (strcmp(cases[i].field, "done") == 0) {
            damaged(k, &was, "done", 0, MRS_E_FORMAT); /* less than the file has */
        }
        if (k->copies) {
            damaged(k, &was, "name", '?', MRS_E_EXISTS); /* its file is there, and nobody goes on with it */
        } else {
            damaged(k, &was, cases[i].field, '?', MRS_E_FORMAT);
            go_on(k, &was, whole);
            assert_true(picture(k) == want);
        }
        mrs_buf_clear(&was.words);
        char partial[600];
        snprintf(partial, sizeof partial, "%s.partial", out_path);
        OK(mrsi_remove_tree(partial, &err));
    }
    free(docs.p);
    mrs_input_close(in);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_words, begin, finish),
        cmocka_unit_test_setup_teardown(everywhere, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
