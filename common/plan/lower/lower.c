/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - which steps are pipelines of a server, and those that are it with hardly a change.
 *
 * A step is given as a pipeline only where that was compared with the step, byte for byte, on the server for tests
 * (tests/live/pipeline.sh). All others say why not. */
#include "lower.h"

/* ---- building ---- */
void
mrsi_lower_begin(struct mrsi_lower *l)
{
    mrs_buf_reset(&l->buf);
    mrs_build_init(&l->b, &l->buf);
}

struct mrs_view
mrsi_lower_end(struct mrsi_lower *l)
{
    struct mrs_view d = {NULL, 0};
    if (mrs_build_finish(&l->b, &d, NULL) == MRS_OK) {
        d.p = mrs_arena_copy(l->arena, d.p, d.n);
    }
    l->buf.bad = l->buf.bad ? l->buf.bad : d.p == NULL;
    return d;
}

void
mrsi_lower_open(struct mrsi_lower *l, const char *name, uint8_t type)
{
    mrs_build_item_open(&l->b, MRS_DOCUMENT);
    mrs_build_open(&l->b, name, (uint32_t)strlen(name), type);
}

void
mrsi_lower_pipeline(struct mrsi_lower *l)
{
    struct mrs_val where = mrsi_lower_key(l, "where");
    mrsi_lower_begin(l);
    mrs_build_open(&l->b, "pipeline", 8, MRS_ARRAY);
    if (where.type == MRS_DOCUMENT) {
        mrs_build_item_open(&l->b, MRS_DOCUMENT);
        mrs_build_val(&l->b, "$match", 6, where);
        mrs_build_close(&l->b);
    }
}

void
mrsi_lower_merge(struct mrsi_lower *l, const struct mrs_coll *into, bool new)
{
    mrsi_lower_open(l, "$merge", MRS_DOCUMENT);
    mrs_build_open(&l->b, "into", 4, MRS_DOCUMENT);
    mrs_build_text(&l->b, "db", into->db, (uint32_t)strlen(into->db));
    mrs_build_text(&l->b, "coll", into->coll, (uint32_t)strlen(into->coll));
    mrs_build_close(&l->b);
    mrs_build_text(&l->b, "on", "_id", 3);
    mrs_build_text(&l->b, "whenMatched", new ? "fail" : "replace", new ? 4 : 7);
    mrs_build_text(&l->b, "whenNotMatched", new ? "insert" : "discard", new ? 6 : 7);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    mrs_build_close(&l->b);
    struct mrs_view d = mrsi_lower_end(l);
    l->out->pipeline = d.p ? mrs_val_view(mrs_doc_get(d, "pipeline")) : d;
}

void
mrsi_lower_filter(struct mrsi_lower *l)
{
    struct mrs_val where = mrsi_lower_key(l, "where");
    mrsi_lower_begin(l);
    mrs_build_open(&l->b, "$and", 4, MRS_ARRAY);
    if (where.type == MRS_DOCUMENT) {
        mrs_build_item(&l->b, where);
    }
}

void
mrsi_lower_count(struct mrsi_lower *l, const char *why)
{
    mrs_build_close(&l->b);
    l->out->count[l->out->n_counts++] = (struct mrs_lowered_count){mrsi_lower_end(l), why};
}

bool
mrsi_lower_plain(const char *name, uint32_t n)
{
    return n > 0 && name[0] != '$' && !memchr(name, '.', n) && !memchr(name, 0, n);
}

struct mrs_val
mrsi_lower_key(const struct mrsi_lower *l, const char *key)
{
    return mrs_doc_get(l->body, key);
}

/* ---- collections ---- */
static const char *
lower_move(struct mrsi_lower *l)
{
    const struct mrs_desc *d = &l->out->step->desc;
    struct mrs_val where = mrsi_lower_key(l, "where");
    if (mrsi_lower_key(l, "fields").type != MRS_MISSING || mrsi_lower_key(l, "drop").type != MRS_MISSING) {
        return "`fields` and `drop` change the documents: use the client engine";
    }
    if (d->conflicts != MRS_CONFLICTS_REFUSE) {
        return "`conflicts` other than refuse compares documents: use the client engine";
    }
    mrsi_lower_pipeline(l);
    mrsi_lower_merge(l, &d->sides[1].coll, true);
    l->out->remove = where.type == MRS_DOCUMENT ? mrs_val_view(where) : mrs_empty_doc();
    return NULL;
}

static const char *
lower_delete(struct mrsi_lower *l)
{
    if (mrsi_lower_key(l, "errors").type != MRS_MISSING) {
        return "`errors` says what becomes of a document where `where` fails: use the client engine";
    }
    struct mrs_val where = mrsi_lower_key(l, "where");
    l->out->remove = where.type == MRS_DOCUMENT ? mrs_val_view(where) : mrs_empty_doc();
    return NULL;
}

/* ---- which ---- */
#define A_COMMAND "a command of the server and no pipeline: mongoreshape-live gives it"
#define NOT_YET "not given as a pipeline by this version: use the client engine, or the stage $reshape"
#define WHOLE "it needs whole collections at once: use the client engine"
static const struct {
    const char *type;
    const char *(*lower)(struct mrsi_lower *l);
    const char *reason;
} rows[] = {
    {"set", mrsi_lower_set, NULL},
    {"unset", mrsi_lower_unset, NULL},
    {"rename", mrsi_lower_rename, NULL},
    {"order", mrsi_lower_order, NULL},
    {"cast", mrsi_lower_cast, NULL},
    {"move", lower_move, NULL},
    {"delete", lower_delete, NULL},
    {"index", NULL, A_COMMAND},
    {"options", NULL, A_COMMAND},
    {"rename_collection", NULL, A_COMMAND},
    {"drop_collection", NULL, A_COMMAND},
    {"link", NULL, WHOLE},
    {"tree", NULL, WHOLE},
    {"grid", NULL, WHOLE},
};

static bool
names_now(const struct mrsi_lower *l)
{
    return memmem(l->body.p, l->body.n, "$$NOW", 5) != NULL;
}

static const char *
lower_step(struct mrsi_lower *l)
{
    const char *type = l->out->step->type->name;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].type, type) == 0) {
            return rows[i].lower && names_now(l) ? "$$NOW would be another time for each range: write the date itself"
                   : rows[i].lower               ? rows[i].lower(l)
                                                 : rows[i].reason;
        }
    }
    return NOT_YET;
}

enum mrs_status
mrs_plan_lower(const struct mrs_plan *p, uint32_t i, struct mrs_arena *a, struct mrs_lowered *out, struct mrs_err *e)
{
    struct mrsi_lower l = {.plan = p, .arena = a, .out = out};
    const struct mrs_step *step = &p->steps[i];
    char no[12];
    mrs_index_name(no, i);
    struct mrs_val steps = mrs_doc_get(p->canonical, "steps"), entry = mrs_doc_get(mrs_val_view(steps), no);
    struct mrs_val body = mrs_doc_get(mrs_val_view(entry), step->type->name);
    *out = (struct mrs_lowered){.step = step, .on = step->desc.n_sides ? &step->desc.sides[0].coll : NULL};
    l.body = mrs_val_view(body);
    mrs_buf_init(&l.buf, p->mem, 4u * MRS_DOC_MAX);
    const char *reason = lower_step(&l);
    enum mrs_status s = l.buf.bad ? mrs_err_memory(e, l.buf.n) : MRS_OK;
    if (reason) { /* what had been built by then does not count */
        out->reason = reason;
        out->n_counts = 0;
        out->pipeline = out->remove = (struct mrs_view){NULL, 0};
    }
    mrs_buf_clear(&l.buf);
    return s;
}
