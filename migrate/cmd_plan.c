/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c - `mongoreshape plan [STEP] [-i IN]`: a plan to start from, or the list of steps.
 *
 * With a dump, names are guessed from names and types in the first documents of each collection: good enough for a text
 * that the user reads before running it, not for more. */
#include "commands.h"
#include "job.h"

#include <ctype.h>

#define LOOK_COLLS 50u    /* collections listed */
#define SAMPLE_FIELDS 24u /* fields of each that are read */
#define LOOK_DOCS 100u

struct sample_field {
    const char *name;
    bool date, documents; /* an array of documents */
};
struct sampled {
    const struct mrs_input_ns *ns;
    struct sample_field field[SAMPLE_FIELDS]; /* without _id */
    uint32_t n;
};
struct plan_start {
    const struct mrs_step_type *type;
    struct mrs_arena arena;
    struct sampled *coll;
    uint32_t n;
    const char *lines[LOOK_COLLS + 1];
    struct mrs_plan_start start;
    struct mrs_buf fill;
    struct mrs_build b;
    const char *db; /* of the collections filled in; NULL: none yet */
};

/* ---- read the dump ---- */
static bool
add_field(struct mrs_arena *arena, struct sampled *l, const struct mrs_elem *e)
{
    MRS_ASSERT(l->n <= SAMPLE_FIELDS);
    struct mrs_walk w;
    struct mrs_elem first = {.v = mrs_missing()};
    uint32_t i = 0;
    while (i < l->n && strcmp(l->field[i].name, e->name) != 0) {
        i++;
    }
    if (i == SAMPLE_FIELDS || strcmp(e->name, "_id") == 0) {
        return true;
    }
    if (i == l->n) {
        l->field[i] = (struct sample_field){mrs_arena_copy(arena, e->name, (size_t)e->name_len + 1), false, false};
        l->n += l->field[i].name != NULL;
    }
    if (e->v.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(e->v));
        mrs_walk_next(&w, &first);
    }
    l->field[i].date |= e->v.type == MRS_DATE;
    l->field[i].documents |= first.v.type == MRS_DOCUMENT;
    return l->field[i].name != NULL;
}

static enum mrs_status
sample_block(struct mrs_arena *arena, struct sampled *l, const struct mrs_block *b, struct mrs_err *e)
{
    MRS_ASSERT(l->n <= SAMPLE_FIELDS && b->n <= b->cap);
    const uint8_t *at = b->p, *end = b->p + b->n;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < LOOK_DOCS && at < end; i++) {
        struct mrs_walk w;
        struct mrs_elem el;
        s = mrs_doc_check(at, (uint64_t)(end - at), MRS_DEPTH_READ, e);
        if (s != MRS_OK) {
            e->doc_no = i + 1;
            e->byte_off = (uint64_t)(at - b->p) + (e->byte_off == UINT64_MAX ? 0 : e->byte_off);
            snprintf(e->ns, sizeof e->ns, "%s", l->ns->data_path);
            break;
        }
        struct mrs_view doc = {at, mrs_le32(at)};
        mrs_walk_init(&w, doc);
        while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
            s = add_field(arena, l, &el) ? MRS_OK : mrs_err_memory(e, el.name_len);
        }
        at += doc.n;
    }
    return s;
}

static enum mrs_status
sampled(struct plan_start *p, struct mrs_input *in, uint32_t i, struct mrs_mem *mem, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(in));
    MRS_ASSERT(p->n < LOOK_COLLS);
    struct sampled *l = &p->coll[p->n];
    struct mrs_reader *r = NULL;
    struct mrs_block b;
    l->ns = mrs_input_at(in, i);
    if (l->ns->kind != MRS_INPUT_DATA || !l->ns->data_path) {
        return MRS_OK;
    }
    mrs_block_init(&b, mem);
    enum mrs_status s = mrs_reader_open(in, i, 1 << 16, &r, e);
    MRS_THEN(s, mrs_reader_next(r, &b, e));
    s = s == MRS_OK ? sample_block(&p->arena, l, &b, e) : s == MRS_END ? MRS_OK : s;
    p->n += s == MRS_OK;
    mrs_reader_close(r);
    mrs_block_clear(&b);
    return s;
}

/* "blog.comments: _id postId author" */
static bool
add_line(struct plan_start *p, const struct sampled *l, struct mrs_mem *mem)
{
    MRS_ASSERT(p->start.n_remarks < p->n);
    struct mrs_buf text;
    mrs_buf_init(&text, mem, 1 << 16);
    mrs_buf_printf(&text, "%s: _id", l->ns->ns);
    for (uint32_t i = 0; i < l->n; i++) {
        mrs_buf_printf(&text, " %s", l->field[i].name);
    }
    mrs_buf_byte(&text, 0);
    const char *line = text.bad ? NULL : mrs_arena_copy(&p->arena, text.p, text.n);
    mrs_buf_clear(&text);
    p->lines[p->start.n_remarks] = line;
    p->start.n_remarks += line != NULL;
    return line != NULL;
}

/* ---- guess ---- */
/* Does the name of a field suggest a reference to `coll`: customerId, customer_id and customer for customers? */
static bool
names_one_of(const char *field, const char *coll)
{
    static const char *const tails[] = {"_id", "Id", "_ids", "Ids", "ID", ""};
    size_t n = strlen(field), len = strlen(coll);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t tail = strlen(tails[i]), stem = n - tail;
        if (tail >= n || strcmp(field + stem, tails[i]) != 0 || strncasecmp(field, coll, stem) != 0) {
            continue;
        }
        const char *rest = coll + stem;
        if (stem == len || strcasecmp(rest, "s") == 0 || strcasecmp(rest, "es") == 0) {
            return true;
        }
        if (len > 3 && stem + 2 == len && strcasecmp(coll + len - 3, "ies") == 0) {
            return true;
        }
    }
    return false;
}

/* Finds a collection, one that it refers to, and the field with the reference; false: no names suggest any. */
static bool
find_pair(const struct plan_start *p, const struct sampled **child, const struct sampled **parent, const char **field)
{
    MRS_ASSERT(p->n <= LOOK_COLLS);
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t j = 0; j < p->n; j++) {
            bool same = i == j || strcmp(p->coll[i].ns->db, p->coll[j].ns->db) != 0;
            for (uint32_t k = 0; k < p->coll[i].n && !same; k++) {
                if (names_one_of(p->coll[i].field[k].name, p->coll[j].ns->coll)) {
                    *child = &p->coll[i];
                    *parent = &p->coll[j];
                    *field = p->coll[i].field[k].name;
                    return true;
                }
            }
        }
    }
    return false;
}

static bool
has_key(const struct plan_start *p, const char *key)
{
    for (uint32_t i = 0; i < p->type->n_keys; i++) {
        if (strcmp(p->type->keys[i].name, key) == 0) {
            return true;
        }
    }
    return false;
}

static void
put(struct plan_start *p, const char *key, const char *text)
{
    mrs_build_text(&p->b, key, text, (uint32_t)strlen(text));
}

static void
put_in(struct plan_start *p, const char *key, enum mrs_type type, const char *name, const char *text)
{
    mrs_build_open(&p->b, key, (uint32_t)strlen(key), type);
    put(p, name, text);
    mrs_build_close(&p->b);
}

/* embed, copy, rollup; link; rekey. If documents of `into` hold the reference (copy) it is reversed. */
static void
fill_pair(struct plan_start *p)
{
    MRS_ASSERT(p->start.n_remarks == p->n);
    const struct sampled *child, *parent;
    const char *field;
    bool copies = has_key(p, "wrap");
    if (!find_pair(p, &child, &parent, &field)) {
        return;
    }
    p->db = child->ns->db;
    if (has_key(p, "references")) {
        put(p, "in", parent->ns->coll);
        put_in(p, "references", MRS_DOCUMENT, child->ns->coll, field);
        return;
    }
    if (!has_key(p, "match")) {
        put(p, "parent", parent->ns->coll);
        put(p, "child", child->ns->coll);
        put(p, "parent_ref", field);
        put(p, "child_refs", child->ns->coll);
        return;
    }
    put(p, "from", copies ? parent->ns->coll : child->ns->coll);
    put(p, "into", copies ? child->ns->coll : parent->ns->coll);
    put_in(p, "match", MRS_DOCUMENT, copies ? "_id" : field, copies ? field : "_id");
    if (has_key(p, "one")) {
        put(p, "as", child->ns->coll);
    }
}

static uint32_t
common_fields(const struct sampled *a, const struct sampled *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        for (uint32_t k = 0; k < b->n; k++) {
            n += strcmp(a->field[i].name, b->field[k].name) == 0;
        }
    }
    return n;
}

/* union: the two collections of one database that have the most fields in common. */
static void
fill_alike(struct plan_start *p)
{
    const struct sampled *pair[2] = {NULL, NULL};
    char into[256];
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            uint32_t n = common_fields(&p->coll[k], &p->coll[i]);
            if (n > most && strcmp(p->coll[k].ns->db, p->coll[i].ns->db) == 0) {
                most = n;
                pair[0] = &p->coll[k];
                pair[1] = &p->coll[i];
            }
        }
    }
    if (!most) {
        return;
    }
    p->db = pair[0]->ns->db;
    mrs_build_open(&p->b, "from", 4, MRS_DOCUMENT);
    put(p, pair[0]->ns->coll, pair[0]->ns->coll);
    put(p, pair[1]->ns->coll, pair[1]->ns->coll);
    mrs_build_close(&p->b);
    snprintf(into, sizeof into, "%.200s_new", pair[0]->ns->coll);
    put(p, "into", into);
}

/* The collection for steps on one: the first one that has what the step needs, else the largest. */
static const struct sampled *
main_coll(const struct plan_start *p, const struct sample_field **field)
{
    MRS_ASSERT(p->n <= LOOK_COLLS);
    bool parts = has_key(p, "path"), times = has_key(p, "time");
    const struct sampled *most = NULL;
    *field = NULL;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct sampled *l = &p->coll[i];
        for (uint32_t k = 0; k < l->n; k++) {
            if ((parts && l->field[k].documents) || (times && l->field[k].date)) {
                *field = &l->field[k];
                return l;
            }
        }
        most = !most || l->ns->file_bytes > most->ns->file_bytes ? l : most;
    }
    return most;
}

static void
fill_one(struct plan_start *p)
{
    const struct sample_field *field;
    char name[256];
    const struct sampled *l = main_coll(p, &field);
    const struct mrs_key *keys = p->type->keys;
    if (!l) {
        return;
    }
    p->db = l->ns->db;
    for (uint32_t i = 0; i < p->type->n_keys; i++) {
        const char *key = keys[i].name;
        if (keys[i].type == MRS_ARG_COLL && (strcmp(key, "in") == 0 || strcmp(key, "from") == 0)) {
            put(p, key, l->ns->coll);
        } else if (field && (strcmp(key, "path") == 0 || strcmp(key, "time") == 0)) {
            put(p, key, field->name);
        } else if (strcmp(key, "into") == 0 && keys[i].type == MRS_ARG_COLL && has_key(p, "from")) {
            bool parts = field && field->documents && strcmp(field->name, l->ns->coll) != 0;
            snprintf(name, sizeof name, "%.200s_new", l->ns->coll);
            put(p, key, parts ? field->name : name);
        } else if (field && strcmp(key, "parent_ref") == 0) {
            int n = (int)strlen(l->ns->coll);
            n -= n > 1 && l->ns->coll[n - 1] == 's';
            snprintf(name, sizeof name, "%.*sId", n < 70 ? n : 70, l->ns->coll);
            put(p, key, name);
        } else if (keys[i].needed && keys[i].type == MRS_ARG_PATHS && l->n) {
            put_in(p, key, MRS_ARRAY, "0", l->field[0].name);
        }
    }
}

/* ---- command ---- */
static enum mrs_status
sample_input(struct plan_start *p, const struct mrsi_cli *cli, struct mrs_err *e)
{
    struct mrs_input *in = NULL;
    struct mrs_input_opts opts = mrsi_job_input_opts(cli);
    enum mrs_status s = mrsi_job_read(cli, cli->input, &opts, &in, e);
    p->coll = s == MRS_OK ? mrs_arena_alloc(&p->arena, LOOK_COLLS * sizeof *p->coll) : NULL;
    if (s == MRS_OK && !p->coll) {
        s = mrs_err_memory(e, LOOK_COLLS * sizeof *p->coll);
    }
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(in) && p->n < LOOK_COLLS; i++) {
        p->coll[p->n] = (struct sampled){.ns = NULL};
        s = sampled(p, in, i, cli->line.mem, e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < p->n; i++) {
        s = add_line(p, &p->coll[i], cli->line.mem) ? MRS_OK : mrs_err_memory(e, 0);
    }
    if (s == MRS_OK) {
        mrs_build_init(&p->b, &p->fill);
        if (has_key(p, "match") || has_key(p, "child") || has_key(p, "references")) {
            fill_pair(p);
        } else if (has_key(p, "tag")) {
            fill_alike(p);
        } else {
            fill_one(p);
        }
        p->start.database = p->db ? mrs_arena_copy(&p->arena, p->db, strlen(p->db) + 1) : NULL;
        s = mrs_build_finish(&p->b, &p->start.fill, e);
    }
    mrs_input_close(in);
    return s;
}

static int
print(struct mrsi_cli *cli, const struct mrs_step_type *type)
{
    struct plan_start p = {.type = type};
    struct mrs_buf out;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_arena_init(&p.arena, cli->line.mem);
    mrs_buf_init(&p.fill, cli->line.mem, MRS_DOC_MAX);
    mrs_buf_init(&out, cli->line.mem, (size_t)1 << 24);
    p.start.remarks = p.lines;
    enum mrs_status s = cli->input ? sample_input(&p, cli, &e) : MRS_OK;
    if (s == MRS_OK) {
        mrs_plan_skeleton(type, &p.start, &out);
        s = mrs_buf_status(&out, &e);
    }
    if (s == MRS_OK) {
        fwrite(out.p, 1, out.n, stdout);
    } else {
        mrs_cli_report(&cli->line, &e);
    }
    mrs_buf_clear(&out);
    mrs_buf_clear(&p.fill);
    mrs_arena_clear(&p.arena);
    return s == MRS_OK ? 0 : mrs_code_exit(e.code);
}

int
mrsi_cmd_plan(struct mrs_cli *line)
{
    const struct mrs_step_type *t = line->operand ? mrs_step_type_find(line->operand) : NULL;
    const char *names[64];
    uint32_t n = 0;
    if (!line->operand) {
        return mrsi_help_topic("steps") ? 0 : mrs_code_exit(MRS_E_IO);
    }
    if (t) {
        return print((struct mrsi_cli *)line, t);
    }
    while (n < 64 && (t = mrs_step_type_at(n))) {
        names[n++] = t->name;
    }
    MRS_ASSERT(n < 64);
    const char *near = mrs_nearest(line->operand, names, n);
    return mrs_cli_misuse(line, "unknown step `%s`%s%s%s; `mongoreshape plan` lists them", line->operand,
                          near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "");
}
