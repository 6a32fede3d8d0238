/* SPDX-License-Identifier: Apache-2.0 */
/* derive.h - shared by the files behind unit.h: unit.c, unit_filter.c, unit_from.c, unit_join.c. */
#ifndef LIVE_DERIVE_H
#define LIVE_DERIVE_H

#include "claimed.h"
#include "unit.h"
#include "value_filter.h"

#include "mongoreshape/path.h"
#include "mongoreshape/join_ops.h"

#define LIVE_LOAD_BYTES (64u << 20) /* maximum size of one load of several units */
#define LIVE_ONE_BYTES (256u << 20) /* of one unit: opts.memory, or this */

struct live_from;

struct live_units {
    struct live_job *job;
    const struct mrs_live_group *group;
    const struct mrs_step *step;  /* the first of the group */
    const struct mrs_step *chain; /* its one-document steps, and those that prepare documents for it */
    uint32_t n_steps;             /* from chain on: all of them */
    enum live_purpose purpose;
    struct live_product *main;    /* collections and sides of the units; no documents */
    uint32_t n_mains;
    struct live_claimed *left;    /* for each of them: fields outside the base */
    struct live_claimed *later;   /* those of them claimed by later groups, if the purpose is contract */
    char *reads;                  /* NULL: whole documents */
    size_t reads_n;
    void **work;                  /* memory of the kernels, one for each of n_steps */
    struct mrs_ctx ctx;
    struct mrs_err err;           /* of the kernels */
    struct mrs_arena life;        /* of this struct; the next two: until the next load, until the next document */
    struct mrs_arena load_arena, scratch;
    struct mrs_buf out, base, kept; /* documents being made; kept: as a server stores it */
    struct mrs_buf products;      /* struct live_product of this load */
    uint64_t load_bytes;          /* bytes in load_arena */
    uint32_t n;                   /* units of this load */
    struct live_from *from;       /* for a join; else NULL */
};

/* ---- unit.c ---- */
/* doc without claimed fields, if the group claims some in this collection: doc itself if it has none, else bytes of
 * u->base until the next call. */
enum mrs_status live_unit_base(struct live_units *u, uint32_t main, struct mrs_view doc, struct mrs_view *base,
                               struct mrs_err *e);
/* Fills unit->result: the document if the steps make `after` from its base. */
enum mrs_status live_unit_result(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_view after,
                                 struct mrs_err *e);
/* A copy that lives until the next load. FAIL MRS_E_LIMIT if the load becomes too large. */
enum mrs_status live_unit_copy(struct live_units *u, struct mrs_view doc, struct mrs_view *out, struct mrs_err *e);
/* Refuses the unit with the error of the kernels (u->err). */
void live_unit_refuse(struct live_units *u, struct live_unit *unit, uint32_t step);
/* Maps the status of a kernel: SKIP stays SKIP, any other error goes to e. */
enum mrs_status live_unit_failed(const struct live_units *u, enum mrs_status s, struct mrs_err *e);

/* ---- unit_from.c: the documents of `from` for the units of a load ---- */
struct live_rec { /* one of these documents */
    struct mrs_val id;
    struct mrs_view payload, sort; /* sort: the bytes of its sort key */
    uint32_t first_key, n_keys;    /* in live_from.keys */
    bool failed, unsorted;         /* payload, order failed */
    const char *why, *why_where;
    struct mrs_view doc;          /* if unsorted: for the record of its refusal, if it has a match */
};
struct live_entry { /* of the key table */
    uint64_t hash;
    uint32_t rec, span, next;     /* next: from 1; 0: none */
};
struct live_from {
    bool by_path;                  /* queried by index; else the whole collection is read */
    bool claimed;                  /* it is also the collection of the units: claims are removed there too */
    bool lacking;                  /* some key of `needed` cannot be queried; its span has pair 1 */
    bool nulls;                    /* null is queried */
    struct mrs_path path[2];       /* of the first pair, by side */
    struct mrs_keys needed;        /* keys of the units: sorted, without duplicates */
    struct mrs_keys queried;       /* bytes of the queried values */
    struct mrs_buf queried_values; /* struct queried_value: those values */
    struct mrs_keys keys;          /* of recs */
    struct mrs_buf recs;           /* struct live_rec by `_id` */
    struct mrs_buf entries, heads; /* the key table */
    struct mrs_buf payload, sort; /* being made */
    struct mrs_buf bases;         /* struct mrs_view, one for each unit */
    struct mrs_keys unit_keys;    /* of the current unit */
    struct mrs_buf same, order, matches; /* of the current unit */
};
enum mrs_status live_from_open(struct live_units *u, struct mrs_err *e);
void live_from_close(struct live_units *u);
/* Discards the last load, records the keys of the units (refuses units with keys that cannot be queried), and reads
 * their documents. OK, END, FAIL, DEAD. */
enum mrs_status live_from_load(struct live_units *u, uint32_t main, struct live_unit *units, uint32_t n,
                               struct mrs_err *e);

/* Position of a key in a sorted list of keys; UINT32_MAX: not found. */
uint32_t live_keys_find(const struct mrs_keys *k, const uint8_t *p, uint32_t n, uint8_t kind);
/* Records the refusal of a document of `from`, with the error of the kernels (u->err). */
enum mrs_status live_from_refuse(struct live_units *u, struct mrs_view doc, struct mrs_err *e);

/* ---- unit_join.c ---- */
enum mrs_status live_join_derive(struct live_units *u, uint32_t main, struct live_unit *units, uint32_t n,
                                 struct mrs_err *e);

#endif
