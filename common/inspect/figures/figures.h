/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - the figures of each path from one pass over a collection, in memory that does not grow with the data.
 *
 * Workers count separately and are merged at the end; all stored figures (sums, extremes, the smallest hashes, the
 * registers of HyperLogLog) are the same for any order of documents, so they do not depend on the number of workers. A
 * sketch belongs to one thread. */
#ifndef MRSI_INSPECT_FIGURES_H
#define MRSI_INSPECT_FIGURES_H

#include "mongoreshape/doc.h"
#include "mongoreshape/number_table.h"
#include "mongoreshape/value.h"

/* ---- a value, normalized for references ---- */
enum mrsi_class {
    MRSI_NUMBER, /* integral, of any of the four types */
    MRSI_OID, /* an ObjectId, or its 24 hexadecimal digits as text */
    MRSI_UUID, /* binary 3 or 4 of 16 bytes, or its text */
    MRSI_TEXT,
    MRSI_BINARY,
    MRSI_FRACTION,
    MRSI_DATE,
    MRSI_BOOLEAN,
    MRSI_OBJECT,
    MRSI_LIST,
    MRSI_NOTHING, /* null and undefined */
    MRSI_OTHER,
    MRSI_CLASSES
};
struct mrsi_canon {
    uint64_t hash; /* equal values have equal ones, whatever their type; never 0. Not for documents and arrays */
    enum mrsi_class is;
    bool from_text; /* the OID or UUID is text */
    bool digits; /* text of an integer without leading zeros: hashed as text */
    int64_t number; /* of NUMBER, and of digits */
};
/* v by its address: passing the struct by value costs more than its use. */
void mrsi_canon(const struct mrs_val *v, struct mrsi_canon *out);
/* A bijection, except for one pair of numbers (the end of SplitMix: Steele et al. 2014). */
static inline uint64_t
mrsi_number_hash(int64_t number)
{
    uint64_t x = (uint64_t)number + 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return x ? x : 1;
}
/* A name as a string value, in memory of the caller. n <= MRSI_NAME_MAX. */
enum { MRSI_NAME_MAX = 200 };
static inline struct mrs_val
mrsi_name_value(const char *name, uint32_t n, uint8_t room[MRSI_NAME_MAX + 5])
{
    mrs_put32(room, n + 1);
    memcpy(room + 4, name, n);
    room[4 + n] = 0;
    return (struct mrs_val){room, n + 5, MRS_STRING};
}
/* The bytes of v if it is an ObjectId or UUID; c belongs to v; false: it is neither. */
bool mrsi_canon_raw(struct mrs_val v, const struct mrsi_canon *c, uint8_t raw[16]);
enum { MRSI_TEXT_MAX = 128 }; /* maximum length of text that may be a reference */

/* ---- number of different values, frequent values, and a sample to compare paths ---- */
/* The MRSI_SAMPLE different values with the smallest hashes: all values if there are no more. A value in it has been
 * there since its first occurrence, so its count is exact. */
enum { MRSI_SAMPLE = 1024, MRSI_SAMPLE_FEW = 128, MRSI_SHOWN = 96, MRSI_REGISTERS = 4096 };
struct mrsi_sketch_slot {
    uint64_t hash, count;
    uint32_t shown; /* 1 + offset of its bytes in `text`; 0: none */
};
struct mrsi_sketch {
    struct mrsi_sketch_slot *slot;
    uint32_t cap, n;
    uint64_t limit; /* larger hashes are not stored; UINT64_MAX: the sample is complete */
    uint8_t *registers; /* of HyperLogLog, once a value is not stored */
    uint8_t *text; /* type, length, bytes of values, shortened to MRSI_SHOWN */
    uint32_t text_n, text_cap;
};
static inline uint32_t
mrsi_sketch_start(const struct mrsi_sketch *s, uint64_t hash) /* start of the search for a hash */
{
    return (uint32_t)(hash * 0x9E3779B97F4A7C15u >> 32) & (s->cap - 1);
}
/* size: maximum number of stored values. v: the value for display; missing: none. False: no memory. */
bool mrsi_sketch_add(struct mrsi_sketch *s, struct mrs_mem *mem, uint32_t size, uint64_t hash, struct mrs_val v);
/* Prefetches the memory that an add of that hash will read. */
static inline void
mrsi_sketch_fetch(const struct mrsi_sketch *s, uint64_t hash)
{
    if (s->registers) {
        __builtin_prefetch(&s->registers[hash >> 52], 1);
    }
    if (s->slot && hash <= s->limit) {
        __builtin_prefetch(&s->slot[mrsi_sketch_start(s, hash)], 1);
    }
}
bool mrsi_sketch_merge(struct mrsi_sketch *to, struct mrs_mem *mem, uint32_t size, const struct mrsi_sketch *from);
bool mrsi_sketch_shrink(struct mrsi_sketch *s, struct mrs_mem *mem, uint32_t size);
void mrsi_sketch_clear(struct mrsi_sketch *s, struct mrs_mem *mem);
static inline bool
mrsi_sketch_is_whole(const struct mrsi_sketch *s)
{
    return s->registers == NULL;
}
int mrsi_by_hash(const void *a, const void *b); /* for qsort, of uint64_t */
uint64_t mrsi_sketch_distinct(const struct mrsi_sketch *s);
/* The value of a slot for display (shortened); missing: not stored. */
struct mrs_val mrsi_sketch_value(const struct mrsi_sketch *s, const struct mrsi_sketch_slot *slot);

/* ---- many small numbers: extremes, average, quantiles ---- */
enum { MRSI_TALLY_EXACT = 1024, MRSI_OCTAVES = 64, MRSI_OCTAVE = 64 };
struct mrsi_tally_slot {
    uint64_t value, count;
};
struct mrsi_tally {
    uint64_t n, sum, min, max;
    struct mrs_number_table exact; /* counts by value + 1; up to MRSI_TALLY_EXACT different values */
    uint64_t *octave[MRSI_OCTAVES]; /* later counts of parts of octaves, 1/64 wide */
    bool wide;
};
bool mrsi_tally_add(struct mrsi_tally *t, struct mrs_mem *mem, uint64_t value, uint64_t times);
bool mrsi_tally_merge(struct mrsi_tally *to, struct mrs_mem *mem, const struct mrsi_tally *from);
void mrsi_tally_clear(struct mrsi_tally *t, struct mrs_mem *mem);
/* A summary of a tally. Quantiles: the value at rank ceil(p n); pillar[i]: the count in (2^(i-1), 2^i]; pillar[0]: of 0
 * and 1. */
struct mrsi_quantiles {
    uint64_t n, sum, min, max, p50, p99;
    uint64_t *pillar;
    uint32_t pillars;
};
bool mrsi_tally_spread(const struct mrsi_tally *t, struct mrs_mem *mem, struct mrs_arena *a,
                       struct mrsi_quantiles *out);
uint64_t mrsi_tally_rank(const struct mrsi_tally *t, struct mrs_mem *mem, uint64_t rank);

/* ---- a path ---- */
enum mrsi_path_kind {
    MRSI_FIELD,
    MRSI_EACH, /* `[]`: the elements of an array */
    MRSI_ANY /* `*`: fields whose names are data */
};
struct mrsi_extent { /* the values of one BSON type */
    struct mrsi_extent *next;
    uint64_t n;
    uint8_t type, min_n, max_n;
    uint64_t low, high; /* of min and max: a number that mostly decides their order (spots.c) */
    uint8_t min[40], max[40]; /* bytes of values; text and binary shortened */
};
struct mrsi_counted { /* the counts of a set of values */
    uint64_t n[MRSI_CLASSES], all;
    uint64_t from_text, digits, too_long;
    uint64_t text_bytes; /* of TEXT */
    int64_t least, most; /* of NUMBER and digits, if there are any */
    uint64_t step; /* the greatest that divides all distances from `least`: 10 for 10, 20, 40; 0: one value */
    struct mrsi_sketch sketch, numbers; /* numbers: the digits by value; unused as long as there are none */
};
struct mrsi_trie {
    struct mrsi_trie *parent, *first, *last, *next; /* children in the order of their first occurrence */
    const char *name;
    uint32_t name_len, depth, children;
    enum mrsi_path_kind kind;
    struct mrsi_trie *expect; /* the probable next child, if documents are similar */
    uint64_t bytes; /* of values */
    uint64_t first_at; /* document, and position in it, of the first occurrence */
    uint64_t last_object; /* number of the object of the last occurrence */
    struct mrsi_extent *extent;
    struct mrsi_counted values;
    struct mrsi_counted *names; /* of ANY: the names as values */
    struct mrsi_tally *lengths; /* of arrays */
};

/* ---- a collection ---- */
struct mrsi_limit { /* of the largest document: the array with most bytes, and its growth */
    uint64_t size, ordinal;
    uint64_t id_n;
    uint8_t id[64]; /* type, bytes; shortened */
    char path[128]; /* "": there is no array */
    bool timed;
    int64_t newest; /* ms */
    double bytes_a_day;
};
/* A hash waiting for its sketch, while the needed cache lines are fetched. */
enum { MRSI_WAITING = 32, MRSI_SHAPE = 64 };
struct mrsi_waiting {
    struct mrsi_sketch *to;
    uint64_t hash;
    struct mrs_val v;
};
enum { MRSI_DAYS = 24856, MRSI_PATHS = 4096, MRSI_MANY_PATHS = 256, MRSI_NAMES = 256, MRSI_DEPTH = 100 };
struct mrsi_figures {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct mrsi_trie *root;
    struct mrsi_trie **index; /* by parent, kind and name */
    uint32_t index_cap, spots;
    struct mrsi_tally sizes;
    struct mrsi_sketch shapes;
    uint64_t objects, twice; /* objects so far; documents with duplicate names */
    uint64_t name_bytes, deep; /* deep: nested documents below MRSI_DEPTH, which were not read */
    uint32_t *days; /* documents by the day of their ObjectId, since 1970 */
    uint32_t first_day, last_day;
    struct mrsi_limit limit;
    struct mrs_buf scratch; /* the names of the last document's root */
    const struct mrsi_trie *names[MRSI_SHAPE]; /* the first of them as tree nodes */
    uint64_t shape; /* their hash; 0: incomplete */
    uint32_t n_names;
    struct mrsi_waiting waiting[MRSI_WAITING];
    uint32_t waits;
    bool dead; /* an allocation failed */
};
enum mrs_status mrsi_figures_begin(struct mrsi_figures *f, struct mrs_mem *mem, struct mrs_err *e);
enum mrs_status mrsi_figures_add(struct mrsi_figures *f, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e);
enum mrs_status mrsi_figures_merge(struct mrsi_figures *to, const struct mrsi_figures *from, struct mrs_err *e);
/* After the last document: children in document order; names that are data become `*`. */
enum mrs_status mrsi_figures_settle(struct mrsi_figures *f, struct mrs_err *e);
void mrsi_figures_end(struct mrsi_figures *f);
uint32_t mrsi_figures_sample(const struct mrsi_figures *f); /* size of sketches */

/* internal functions */
struct mrsi_trie *mrsi_trie_child(struct mrsi_figures *f, struct mrsi_trie *parent, enum mrsi_path_kind kind,
                                  const char *name, uint32_t n);
bool mrsi_name_is_data(const char *name, uint32_t n);
void mrsi_trie_count(struct mrsi_figures *f, struct mrsi_trie *at, const struct mrs_val *v);
/* The value must live until mrsi_figures_drain. */
void mrsi_counted_add(struct mrsi_figures *f, struct mrsi_counted *c, const struct mrs_val *v);
/* Adds all waiting hashes to their sketches. */
void mrsi_figures_drain(struct mrsi_figures *f);
void mrsi_trie_merge(struct mrsi_figures *f, struct mrsi_trie *to, const struct mrsi_trie *from);
void mrsi_trie_clear(struct mrsi_trie *root, struct mrs_mem *mem);
void mrsi_limit_see(struct mrsi_limit *l, struct mrs_view doc, uint64_t ordinal);
/* The path of a node, `lines[].productId`; false: no memory. */
bool mrsi_trie_path(const struct mrsi_trie *at, struct mrs_buf *out);
/* Iterates over all nodes below root, each before its children: NULL after the last. */
struct mrsi_trie *mrsi_trie_after(const struct mrsi_trie *root, const struct mrsi_trie *at);

#endif
