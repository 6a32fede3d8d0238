/* SPDX-License-Identifier: Apache-2.0 */
/* logical_stage.c - the stage in an execution plan: its form for a shard, its explain output, and its executing
 * stage. */
#include "stage_nodes.h"

#include "mongoreshape/build.h"

#include <stdio.h>

struct logical_stage {
    struct mdb_logical face;
    struct ext_spec *spec;
};

static struct ext_spec *
spec_of(const struct mdb_logical *l)
{
    return ((const struct logical_stage *)(const void *)l)->spec;
}

static void
logical_destroy(struct mdb_logical *l)
{
    struct ext_spec *spec = spec_of(l);
    mrs_free(spec->home->mem, l);
    ext_spec_drop(spec);
}

static struct mdb_bytes
logical_name(const struct mdb_logical *l)
{
    (void)l;
    return ext_stage_name();
}

static struct mdb_status *
logical_serialize(const struct mdb_logical *l, struct mdb_buf **out)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, spec_of(l)->home->mem, 2u * MRS_DOC_MAX);
    ext_spec_normal(spec_of(l), &buf);
    return ext_return_buf(spec_of(l)->home->mem, &buf, out);
}

/* ---- explain ---- */
static void
need(struct mrs_build *b, const char *text)
{
    struct mrs_val v = {(const uint8_t *)text, 0, MRS_STRING};
    (void)v;
    char no[12];
    mrs_index_name(no, b->index[b->depth]++);
    mrs_build_text(b, no, text, (uint32_t)strlen(text));
}

static void
explain_needs(const struct ext_spec *spec, struct mrs_build *b)
{
    MRS_ASSERT(b->depth > 0 || b->too_deep);
    char text[400];
    mrs_build_open(b, "needs", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < spec->route.n_hops; i++) {
        const struct mrs_stage_hop *h = &spec->route.hop[i];
        if (h->field) {
            snprintf(text, sizeof text, "step %u (%s): a $lookup before that brings documents of %.100s in the "
                                        "field %.100s",
                     h->step->no, h->step->type->name, h->step->desc.sides[0].coll.coll, h->field);
            need(b, text);
        } else if (h->step->desc.family == MRS_FAMILY_FOLD) {
            snprintf(text, sizeof text, "step %u (%s): a $sort before by what it groups by, its time, and _id",
                     h->step->no, h->step->type->name);
            need(b, text);
        }
    }
    need(b, "a $merge or $out after it: that finds an _id that is there");
    need(b, "no $facet, transaction, change stream or time series");
    mrs_build_close(b);
}

static struct mdb_status *
logical_explain(const struct mdb_logical *l, struct mdb_context *c, uint32_t verbosity, struct mdb_buf **out)
{
    const struct ext_spec *spec = spec_of(l);
    const struct mrs_coll *of = spec->route.coll[spec->route.of], *emit = spec->route.coll[spec->route.emit];
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    char id[33];
    (void)c;
    (void)verbosity;
    mrs_plan_id_text(spec->plan, id);
    mrs_buf_init(&buf, spec->home->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_open(&b, EXT_STAGE, sizeof EXT_STAGE - 1, MRS_DOCUMENT);
    mrs_build_text(&b, "planId", id, 32);
    const char *kind = mrs_stage_class_name(spec->route.kind);
    mrs_build_text(&b, "class", kind, (uint32_t)strlen(kind));
    mrs_build_text(&b, "of", of->ns, (uint32_t)strlen(of->ns));
    mrs_build_text(&b, "emit", emit->ns, (uint32_t)strlen(emit->ns));
    explain_needs(spec, &b);
    mrs_build_close(&b);
    (void)mrs_build_finish(&b, &doc, NULL);
    return ext_return_buf(spec->home->mem, &buf, out);
}

/* ---- executing stage ---- */
static struct mdb_status *
logical_compile(const struct mdb_logical *l, struct mdb_exec **out)
{
    return ext_exec_make(spec_of(l), out);
}

/* Each shard could do its part alone, but groups may be spread over several of them. */
static struct mdb_status *
logical_distribute(const struct mdb_logical *l, struct mdb_dpl **out)
{
    return spec_of(l)->route.grouped ? ext_dpl_make(spec_of(l), out) : ext_ok();
}

static struct mdb_status *
logical_clone(const struct mdb_logical *l, struct mdb_logical **out)
{
    return ext_logical_make(spec_of(l), out);
}

/* ---- calls without effect ---- */
static struct mdb_status *
no_vector_limit(struct mdb_logical *l, long long *limit)
{
    (void)l;
    (void)limit;
    return ext_ok();
}

static struct mdb_status *
no_rule_matches(const struct mdb_logical *l, struct mdb_bytes name, void *c, bool *out)
{
    (void)l;
    (void)name;
    (void)c;
    *out = false;
    return ext_ok();
}

static struct mdb_status *
no_rule_applies(struct mdb_logical *l, struct mdb_bytes name, void *c, bool *out)
{
    return no_rule_matches(l, name, c, out);
}

static struct mdb_status *
return_nothing(const struct mdb_logical *l, struct mdb_buf **out)
{
    (void)l;
    (void)out;
    return ext_ok();
}

static struct mdb_status *
no_dependencies(struct mdb_logical *l, const void *d)
{
    (void)l;
    (void)d; /* needs whole documents */
    return ext_ok();
}

static struct mdb_status *
no_stream_skipped(struct mdb_logical *l, uint8_t stream)
{
    (void)l;
    (void)stream;
    return ext_ok();
}

static const struct mdb_logical_calls logical_calls = {
    logical_destroy,    logical_name,  logical_serialize, logical_explain, logical_compile,
    logical_distribute, logical_clone, no_vector_limit,   no_rule_matches,   no_rule_applies,
    return_nothing,    no_dependencies, return_nothing, no_stream_skipped, return_nothing};

struct mdb_status *
ext_logical_make(struct ext_spec *spec, struct mdb_logical **out)
{
    MRS_ASSERT(spec->users > 0 && out);
    struct logical_stage *l = mrs_zalloc(spec->home->mem, sizeof *l);
    if (!l) {
        return ext_no_memory();
    }
    *l = (struct logical_stage){{&logical_calls}, ext_spec_retain(spec)};
    *out = &l->face;
    return ext_ok();
}
