/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - collections whose documents have a schema version: the differences between versions. */
#include "gather.h"

enum { VERSIONS = 20 };

struct version_counts { /* of a worker */
    uint64_t documents[VERSIONS];
    uint64_t *present; /* [version][path] */
};
struct versioning {
    const struct mrsi_collection *c;
    const struct mrsi_path *path;
    uint64_t hash[VERSIONS];
    uint32_t n;
    struct version_counts *of;
};

static const struct mrsi_path *
version_path(const struct mrsi_collection *c)
{
    for (uint32_t i = 0; i < c->paths; i++) {
        const struct mrsi_path *p = &c->path[i];
        if (p->ways == 1 && mrsi_name_is_version(p->last) && p->exact && p->distinct >= 2 && p->distinct <= VERSIONS &&
            p->n_frequent == p->distinct &&
            p->count.n[MRSI_NUMBER] + p->count.n[MRSI_TEXT] + p->count.n[MRSI_FRACTION] > 0) {
            return p;
        }
    }
    return NULL;
}

static enum mrs_status
see(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct versioning *v = arg;
    struct version_counts *k = &v->of[worker];
    uint64_t h = mrsi_row_hash(mrsi_pick_one(mrs_view_val(doc), v->path->way, v->path->ways), false);
    uint32_t at = 0;
    (void)ordinal;
    (void)e;
    while (at < v->n && v->hash[at] != h) {
        at++;
    }
    if (at == v->n) {
        return MRS_OK;
    }
    k->documents[at]++;
    for (uint32_t i = 0; i < v->c->paths; i++) {
        const struct mrsi_path *p = &v->c->path[i];
        if (p->ways == 1 && mrs_doc_get(doc, p->last).type != MRS_MISSING) {
            k->present[(size_t)at * v->c->paths + i]++;
        }
    }
    return MRS_OK;
}

static void
judge(const struct versioning *v, uint32_t workers, struct mrsi_collection *c)
{
    MRS_ASSERT(workers > 0 && v->n <= VERSIONS);
    double widest = .5;
    for (uint32_t i = 0; i < c->paths; i++) {
        double least = 1, most = 0;
        for (uint32_t k = 0; k < v->n; k++) {
            uint64_t with = 0, of = 0;
            for (uint32_t w = 0; w < workers; w++) {
                with += v->of[w].present[(size_t)k * c->paths + i];
                of += v->of[w].documents[k];
            }
            double part = of ? (double)with / (double)of : 0;
            least = of && part < least ? part : least;
            most = of && part > most ? part : most;
        }
        if (c->path[i].ways == 1 && most - least >= widest) {
            widest = most - least + 1e-9;
            c->versions.differs = &c->path[i];
        }
    }
}

static enum mrs_status
one_collection(struct mrsi_relating *x, struct mrsi_collection *c, const struct mrsi_path *p, struct mrs_err *e)
{
    MRS_ASSERT(p->in == c);
    struct mrs_mem *mem = x->x->mem;
    uint32_t workers = x->source->workers;
    struct versioning v = {.c = c, .path = p, .of = mrs_zalloc(mem, workers * sizeof *v.of)};
    enum mrs_status s = mrs_allocated(v.of, workers * sizeof *v.of, e);
    for (uint32_t i = 0; i < p->n_frequent; i++) {
        v.hash[v.n++] = mrsi_row_hash(p->frequent[i].value, false);
    }
    for (uint32_t w = 0; s == MRS_OK && w < workers; w++) {
        v.of[w].present = mrs_zalloc(mem, (size_t)v.n * c->paths * sizeof(uint64_t));
        s = v.of[w].present ? MRS_OK : mrs_err_memory(e, c->paths * sizeof(uint64_t));
    }
    MRS_THEN(s, mrsi_scan(x, c, false, see, &v, e));
    if (s == MRS_OK) {
        c->versions.path = p;
        c->versions.n = v.n;
        judge(&v, workers, c);
    }
    for (uint32_t w = 0; v.of && w < workers; w++) {
        mrs_free(mem, v.of[w].present);
    }
    mrs_free(mem, v.of);
    return s;
}

enum mrs_status
mrsi_versions(struct mrsi_relating *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < x->x->colls; i++) {
        const struct mrsi_path *p = version_path(&x->x->coll[i]);
        s = p ? one_collection(x, &x->x->coll[i], p, e) : MRS_OK;
    }
    return s;
}
