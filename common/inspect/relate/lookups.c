/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.c - references into a collection of which only a sample was read: looks up some values in all of it.
 *
 * A value may be stored there in another form (an ObjectId as its digits, a number as text), so the query has all forms
 * that count as equal. Results are compared as everywhere: by canonical hashes. */
#include "lookups.h"

#include <stdio.h>

enum { FIRST = 32, FORM_BYTES = 48 };

/* ---- the values ---- */
/* The position of a hash, existing or new. */
static uint32_t
place(const struct mrsi_probes *p, uint64_t hash)
{
    MRS_ASSERT(p->at || p->n == 0);
    uint32_t lo = 0, hi = p->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->at[mid].hash < hash) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

bool
mrsi_probes_add(struct mrsi_probes *p, struct mrs_mem *mem, uint64_t hash, uint64_t count, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v) && count > 0);
    if (v.n > MRSI_PROBE_BYTES || (p->n == MRSI_PROBES && hash > p->at[p->n - 1].hash)) {
        return true;
    }
    if (!p->at && !(p->at = mrs_alloc_array(mem, MRSI_PROBES, sizeof *p->at))) {
        return false;
    }
    uint32_t i = place(p, hash);
    if (i < p->n && p->at[i].hash == hash) {
        p->at[i].count += count;
        return true;
    }
    p->n -= p->n == MRSI_PROBES;
    memmove(p->at + i + 1, p->at + i, (p->n - i) * sizeof *p->at);
    p->at[i] = (struct mrsi_probe){.hash = hash, .count = count, .type = v.type, .n = (uint8_t)v.n};
    memcpy(p->at[i].value, v.n ? v.p : (const uint8_t *)"", v.n);
    p->n++;
    return true;
}

bool
mrsi_probes_merge(struct mrsi_probes *to, struct mrs_mem *mem, const struct mrsi_probes *from)
{
    MRS_ASSERT(to != from);
    bool ok = true;
    for (uint32_t i = 0; ok && i < from->n; i++) {
        const struct mrsi_probe *x = &from->at[i];
        ok = mrsi_probes_add(to, mem, x->hash, x->count, (struct mrs_val){x->value, x->n, x->type});
    }
    return ok;
}

/* ---- the index ---- */
static const char *
index_of(const struct mrsi_path *key)
{
    MRS_ASSERT(key->in);
    for (uint32_t i = 0; i < key->in->indexes; i++) {
        const struct mrsi_seen_index *x = &key->in->index[i];
        if (x->plain && mrsi_index_starts_with(x, &key, 1)) {
            return x->name;
        }
    }
    return NULL;
}

bool
mrsi_can_look_up(const struct mrsi_relating *x, const struct mrsi_path *key)
{
    return mrsi_is_sampled(key->in) && !key->lists && x->source->look_up && (mrsi_path_is_id(key) || index_of(key));
}

/* ---- the forms of a value ---- */
static void
put_hex(const uint8_t *raw, uint32_t n, bool dashes, struct mrs_build *b)
{
    MRS_ASSERT(raw || n == 0);
    static const char digits[] = "0123456789abcdef";
    uint8_t room[FORM_BYTES];
    uint32_t k = 4;
    for (uint32_t i = 0; i < n; i++) {
        if (dashes && (i == 4 || i == 6 || i == 8 || i == 10)) {
            room[k++] = '-';
        }
        room[k++] = (uint8_t)digits[raw[i] >> 4];
        room[k++] = (uint8_t)digits[raw[i] & 15];
    }
    room[k++] = 0;
    mrs_put32(room, k - 4);
    mrs_build_item(b, (struct mrs_val){room, k, MRS_STRING});
}

static void
put_uuid(const uint8_t *raw, uint8_t kind, struct mrs_build *b)
{
    uint8_t room[21];
    mrs_put32(room, 16);
    room[4] = kind;
    memcpy(room + 5, raw, 16);
    mrs_build_item(b, (struct mrs_val){room, sizeof room, MRS_BINARY});
}

static void
put_number(int64_t number, struct mrs_build *b)
{
    uint8_t room[FORM_BYTES], binary[8];
    uint32_t n = (uint32_t)snprintf((char *)room + 4, sizeof room - 4, "%lld", (long long)number) + 1;
    mrs_put32(room, n);
    mrs_put64(binary, (uint64_t)number);
    mrs_build_item(b, (struct mrs_val){room, n + 4, MRS_STRING});
    mrs_build_item(b, (struct mrs_val){binary, 8, MRS_INT64});
}

static void
put_forms(const struct mrsi_probe *p, bool as_number, struct mrs_build *b)
{
    MRS_ASSERT(p->n <= MRSI_PROBE_BYTES);
    struct mrs_val v = {p->value, p->n, p->type};
    struct mrsi_canon c;
    uint8_t raw[16];
    mrsi_canon(&v, &c);
    if (as_number && (c.digits || c.is == MRSI_NUMBER)) {
        put_number(c.number, b);
        return;
    }
    mrs_build_item(b, v);
    if (!mrsi_canon_raw(v, &c, raw)) {
        return;
    }
    if (c.is == MRSI_OID && c.from_text) {
        mrs_build_item(b, (struct mrs_val){raw, 12, MRS_OBJECTID});
    } else if (c.is == MRSI_OID) {
        put_hex(raw, 12, false, b);
    } else {
        put_uuid(raw, 3, b);
        put_uuid(raw, 4, b);
        put_hex(raw, 16, true, b);
    }
}

/* ---- lookup ---- */
struct lookup {
    struct mrsi_probes *probes;
    uint64_t *hash; /* of each probe, in the form of the key */
    uint32_t n; /* probes looked up so far */
    bool as_number;
};

static uint64_t
hash_as(struct mrs_val v, bool as_number)
{
    struct mrsi_canon c;
    mrsi_canon(&v, &c);
    return as_number && (c.digits || c.is == MRSI_NUMBER) ? mrsi_number_hash(c.number) : c.hash;
}

static void
hit(void *arg, struct mrs_val v)
{
    struct lookup *k = arg;
    uint64_t hash = hash_as(v, k->as_number);
    for (uint32_t i = 0; i < k->n; i++) {
        if (k->hash[i] == hash) {
            k->probes->at[i].found = true;
        }
    }
}

static enum mrs_status
probe(struct mrsi_relating *x, struct lookup *k, const struct mrsi_path *key, uint32_t upto, struct mrs_err *e)
{
    MRS_ASSERT(k->n <= upto);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_inspect_question q = {.path = key->text,
                                     .index = mrsi_path_is_id(key) ? NULL : index_of(key),
                                     .hit = hit,
                                     .arg = k};
    mrs_buf_init(&buf, x->x->mem, SIZE_MAX);
    mrs_build_init(&b, &buf);
    for (; k->n < upto; k->n++) {
        struct mrsi_probe *p = &k->probes->at[k->n];
        p->found = false;
        k->hash[k->n] = hash_as((struct mrs_val){p->value, p->n, p->type}, k->as_number);
        put_forms(p, k->as_number, &b);
    }
    enum mrs_status s = mrs_build_finish(&b, &q.values, e);
    MRS_THEN(s, x->source->look_up(x->source->arg, key->in->no, &q, e));
    mrs_buf_clear(&buf);
    return s;
}

/* Extrapolates from the looked-up values to all of the path's. */
static void
conclude(struct mrsi_reference *r, const struct lookup *k)
{
    MRS_ASSERT(k->probes);
    r->probed = r->found = r->probed_values = r->found_values = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct mrsi_probe *p = &k->probes->at[i];
        r->probed++;
        r->probed_values += p->count;
        r->found += p->found;
        r->found_values += p->found ? p->count : 0;
    }
    double part = r->probed ? (double)r->found / (double)r->probed : 0;
    double of_values = r->probed ? (double)r->found_values / (double)r->probed_values : 0;
    uint64_t distinct = (uint64_t)((double)r->distinct * part + .5);
    uint64_t matched = (uint64_t)((double)r->values * of_values + .5);
    r->matched_distinct = distinct > r->matched_distinct ? distinct : r->matched_distinct;
    r->matched = matched > r->matched ? matched : r->matched;
    r->orphans = r->values - r->matched;
    r->orphan_distinct = r->distinct - r->matched_distinct;
    r->keys = (uint64_t)((double)r->keys / r->to[0]->in->share + .5);
    r->keys = r->keys > r->matched_distinct ? r->keys : r->matched_distinct;
    r->contained = part;
    r->cover = r->keys ? (double)r->matched_distinct / (double)r->keys : 0;
    if (!mrsi_is_sampled(r->from[0]->in)) {
        r->parents = r->matched_distinct;
        r->none = r->keys - r->matched_distinct;
    }
}

enum mrs_status
mrsi_look_up(struct mrsi_relating *x, struct mrsi_reference *r, struct mrsi_probes *p, struct mrs_err *e)
{
    MRS_ASSERT(r->parts == 1);
    struct lookup k = {.probes = p, .as_number = r->as_number};
    uint32_t first = p->n < FIRST ? p->n : FIRST, some = 0;
    k.hash = mrs_alloc_array(x->x->mem, MRSI_PROBES, sizeof *k.hash);
    enum mrs_status s = k.hash ? probe(x, &k, r->to[0], first, e) : mrs_err_memory(e, MRSI_PROBES * sizeof *k.hash);
    for (uint32_t i = 0; i < k.n; i++) {
        some += p->at[i].found;
    }
    if (s == MRS_OK && some && k.n < p->n) { /* else few of the others exist */
        s = probe(x, &k, r->to[0], p->n, e);
    }
    if (s == MRS_OK) {
        conclude(r, &k);
    }
    mrs_free(x->x->mem, k.hash);
    return s;
}
