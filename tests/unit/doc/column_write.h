/* SPDX-License-Identifier: Apache-2.0 */
/* column_write.h - columns of time series written at random, by a second reading of their format: any values, cut into
 * words in any way that holds them. Values of documents come from streams of their own, by the order in which a reader
 * wants them. */
#ifndef COLUMN_WRITE_H
#define COLUMN_WRITE_H

#include "nasty.h"
#include <math.h>

typedef unsigned __int128 wide;
enum { ROWS_MOST = 2000, WRITE_FIELDS = 6 };

/* A piece of a stream: one element, or a control byte and words; of so many values. */
struct write_piece {
    uint32_t at, n, values;
};
struct write_stream {
    struct mrs_buf bytes;
    struct write_piece piece[ROWS_MOST];
    uint32_t n;
};

static inline wide
write_zigzag(wide delta, bool is_wide)
{
    unsigned top = is_wide ? 127 : 63;
    wide all = is_wide ? ~(wide)0 : (wide)UINT64_MAX;
    return ((delta << 1) ^ (delta >> top & 1 ? all : 0)) & all;
}

/* The value as a number; false: only its repetition can be written. scale: of doubles, 0 to 4, or 5 for their bits. */
static inline bool
write_number(struct mrs_val v, unsigned scale, wide *n)
{
    static const double power[] = {1, 10, 100, 10000, 100000000};
    static const uint8_t order[] = {0, 1, 9, 2, 10, 3, 11}; /* of an ObjectId, highest first */
    const uint8_t *p = v.p;
    uint32_t len = v.n;
    *n = 0;
    if (v.type == MRS_DOUBLE && scale < 5) {
        double d = mrs_val_double(v), x = d * power[scale];
        if (!(fabs(x) <= 9007199254740992.0)) {
            return false;
        }
        double back = (double)llround(x) / power[scale];
        *n = (uint64_t)llround(x);
        return memcmp(&back, &d, 8) == 0;
    }
    if (v.type == MRS_OBJECTID) {
        for (int i = 0; i < 7; i++) {
            *n = *n << 8 | p[order[i]];
        }
        return true;
    }
    if (v.type == MRS_INT32) {
        *n = (uint64_t)(int64_t)mrs_val_i32(v);
        return true;
    }
    bool text = v.type == MRS_STRING || v.type == MRS_CODE;
    if (text) {
        p += 4;
        len -= 5;
    } else if (v.type == MRS_BINARY) {
        p += 5;
        len -= 5;
    }
    for (uint32_t i = 0; i < len && i < 16; i++) {
        *n = *n << 8 | p[text ? i : len - 1 - i];
    }
    return len <= 16 && !(text && len && !*p) &&
           (text || v.type == MRS_BINARY || v.type == MRS_DOUBLE || v.type == MRS_BOOL || v.type == MRS_DATE ||
            v.type == MRS_INT64 || v.type == MRS_TIMESTAMP || v.type == MRS_DECIMAL128);
}

/* ---- words ---- */
struct write_slot {
    bool missing;
    wide n; /* signed put into its lowest bit */
};

/* One slot's bits for a cut of `value` bits and `zeros` bits of units of `unit`; false: it does not fit. */
static inline bool
write_slot(struct write_slot s, unsigned value, unsigned zeros, unsigned unit, uint64_t *bits)
{
    uint64_t ones = (1ull << (value + zeros)) - 1;
    *bits = ones;
    if (s.missing) {
        return true;
    }
    unsigned z = 0;
    while (zeros && s.n && z + 1 < (1u << zeros) && s.n % ((wide)1 << unit) == 0) {
        s.n >>= unit;
        z++;
    }
    *bits = (uint64_t)s.n << zeros | z;
    return s.n < (wide)1 << value && *bits != ones;
}

/* A word of the next slots, with this selector; how many it took, 0: it does not hold them. */
static inline uint32_t
write_word(const struct write_slot *s, uint32_t n, unsigned selector, unsigned over, uint64_t *word)
{
    static const uint8_t base[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60};
    static const uint8_t seven[] = {7, 2, 3, 4, 5, 7, 10, 14, 24, 52};
    static const uint8_t eight[] = {8, 4, 5, 7, 10, 14, 24, 52, 4, 6, 9, 13, 23, 51};
    bool more = selector == 7 || selector == 8;
    unsigned value = selector == 7 ? seven[over] : selector == 8 ? eight[over] : base[selector];
    unsigned zeros = !more || !over ? 0 : selector == 8 && over > 7 ? 5 : 4, at = more ? 8 : 4;
    uint32_t slots = (64 - at) / (value + zeros);
    *word = selector | (more ? over << 4 : 0);
    for (uint32_t i = 0; i < slots; i++) {
        uint64_t bits;
        if (i >= n || !write_slot(s[i], value, zeros, selector == 7 ? 1 : 4, &bits)) {
            return 0;
        }
        *word |= bits << at;
        at += value + zeros;
    }
    return slots;
}

/* Any word that holds the next slots; before: the slot before them. 0: none does. */
static inline uint32_t
write_any_word(const struct write_slot *s, uint32_t n, struct write_slot before, uint64_t *word)
{
    uint32_t same = 0;
    while (same < n && s[same].missing == before.missing && (before.missing || s[same].n == before.n)) {
        same++;
    }
    if (same >= 120) {
        uint32_t times = same / 120 > 16 ? 16 : same / 120;
        *word = 15 | (uint64_t)(times - 1) << 4;
        return times * 120;
    }
    for (int i = 0; i < 40; i++) {
        unsigned selector = 1 + nasty_below(14);
        uint32_t took = write_word(s, n, selector, selector == 7 ? nasty_below(10) : nasty_below(14), word);
        if (took) {
            return took;
        }
    }
    for (unsigned over = 0; over < 14; over++) {
        unsigned selector = over == 0 ? 14 : 8;
        uint32_t took = write_word(s, n, selector, over, word);
        if (took) {
            return took;
        }
    }
    return write_word(s, n, 7, 9, word);
}

/* ---- a stream ---- */
static inline void
write_piece(struct write_stream *w, uint32_t at, uint32_t values)
{
    w->piece[w->n++] = (struct write_piece){at, (uint32_t)w->bytes.n - at, values};
}

static inline void
write_literal(struct write_stream *w, struct mrs_val v)
{
    uint32_t at = (uint32_t)w->bytes.n;
    mrs_buf_byte(&w->bytes, v.type);
    mrs_buf_byte(&w->bytes, 0);
    mrs_buf_put(&w->bytes, v.p, v.n);
    write_piece(w, at, 1);
}

/* As many of the slots as words hold, at most most[]; how many. */
static inline uint32_t
write_deltas(struct write_stream *w, const struct write_slot *s, uint32_t n, struct write_slot *before, unsigned scale)
{
    uint32_t at = (uint32_t)w->bytes.n, done = 0, words = 0, most = 1 + nasty_below(16);
    uint64_t word;
    uint8_t bytes[8];
    mrs_buf_byte(&w->bytes, 0);
    while (done < n && words < most) {
        uint32_t took = write_any_word(s + done, n - done, *before, &word);
        if (!took) {
            break;
        }
        mrs_put64(bytes, word);
        mrs_buf_put(&w->bytes, bytes, 8);
        done += took;
        *before = s[done - 1];
        words++;
    }
    if (words) {
        w->bytes.p[at] = (uint8_t)((scale == 5 ? 0x80 : 0x90 + 0x10 * scale) | (words - 1));
        write_piece(w, at, done);
    } else {
        w->bytes.n = at;
    }
    return done;
}

/* The state of a stream between two values. */
struct write_state {
    struct mrs_val last;
    wide number, step;
    struct write_slot before;
};

/* Slots for the values from v on, up to the first that must be a literal. */
static inline uint32_t
write_slots(struct write_state st, const struct mrs_val *v, uint32_t n, unsigned scale, struct write_slot *s)
{
    bool steps = st.last.type == MRS_DATE || st.last.type == MRS_OBJECTID || st.last.type == MRS_TIMESTAMP;
    bool is_wide = st.last.type == MRS_STRING || st.last.type == MRS_CODE || st.last.type == MRS_BINARY ||
                   st.last.type == MRS_DECIMAL128;
    bool able = write_number(st.last, scale, &st.number);
    uint32_t i = 0;
    for (; i < n; i++) {
        wide number, delta = 0;
        s[i].n = 0;
        s[i].missing = v[i].type == MRS_MISSING;
        if (s[i].missing) {
            continue;
        }
        bool same = mrs_identical(v[i], st.last) && !steps;
        if (!same) {
            if (v[i].type != st.last.type || !able || !write_number(v[i], scale, &number) ||
                (v[i].type == MRS_BINARY && (v[i].n != st.last.n || memcmp(v[i].p, st.last.p, 5) != 0)) ||
                (v[i].type == MRS_OBJECTID && memcmp(v[i].p + 4, st.last.p + 4, 5) != 0)) {
                break;
            }
            delta = number - st.number;
            st.number = number;
            if (steps) {
                wide step = delta;
                delta = step - st.step;
                st.step = step;
            }
            st.last = v[i];
        }
        s[i].n = write_zigzag(is_wide ? delta : (uint64_t)delta, is_wide);
    }
    return i;
}

/* The values of a stream that begins at `last` (missing: with nothing). */
static inline void
write_values(struct write_stream *w, struct mrs_val last, const struct mrs_val *v, uint32_t n)
{
    static struct write_slot slot[ROWS_MOST];
    struct write_state st = {.last = last};
    uint32_t at = 0;
    while (at < n) {
        unsigned scale = 5;
        wide number;
        if (st.last.type == MRS_DOUBLE) {
            scale = nasty_below(6);
            scale = write_number(st.last, scale, &number) ? scale : 5;
        }
        uint32_t able = nasty_below(10) ? write_slots(st, v + at, n - at, scale, slot) : 0;
        able = able ? write_deltas(w, slot, able, &st.before, scale) : 0;
        if (!able && v[at].type == MRS_MISSING) {
            able = write_deltas(w, &(struct write_slot){.missing = true}, 1, &st.before, scale);
        } else if (!able) {
            write_literal(w, v[at]);
            st = (struct write_state){.last = v[at++]};
            continue;
        }
        for (; able; able--, at++) { /* the state behind them */
            if (v[at].type != MRS_MISSING) {
                wide from, to;
                write_number(st.last, 5, &from);
                write_number(v[at], 5, &to);
                st.step = to - from;
                st.last = v[at];
            }
        }
    }
}

static inline void
write_stream_init(struct write_stream *w, struct mrs_mem *mem)
{
    mrs_buf_init(&w->bytes, mem, SIZE_MAX);
    w->n = 0;
}

#endif
