/* SPDX-License-Identifier: Apache-2.0 */
/* spill_layout.c - chooses the number of partitions and the size of pieces.
 *
 * A quarter of the budget is for open pieces. Small partitions stay in the processor's caches while they are sorted,
 * large pieces cost less in the system and on the disk. So partitions are as small as pieces of 256 KiB allow; pieces
 * get smaller if a partition would not fit into the share of a worker; and if they would have less than 64 KiB, there
 * are two levels: few partitions in large pieces, each of which is split when its turn comes. */
#include "spill_layout.h"
#include "store.h"

enum {
    PIECE_MIN = 16 << 10,
    PIECE_FEW = 64 << 10, /* minimum for one level */
    PIECE_FOLD_MIN = 4 << 10,
    PARTS_MAX = 1024,
    LOAD_MAX = 16 << 20,
    SMALL = 2 << 20 /* stays in the processor's caches */
};

static uint64_t
at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
open_share(uint64_t memory, uint32_t jobs) /* of one worker */
{
    MRS_ASSERT(jobs > 0);
    return memory / 4 / jobs;
}

uint64_t
mrsi_layout_load(uint64_t memory, uint32_t jobs)
{
    MRS_ASSERT(jobs > 0);
    return at_least(at_most(memory / (16ull * jobs), LOAD_MAX), 64 << 10);
}

uint64_t
mrsi_layout_most(uint64_t memory, uint32_t jobs)
{
    MRS_ASSERT(jobs > 0);
    return memory / (8ull * jobs);
}

uint32_t
mrsi_layout_piece(uint64_t memory, uint32_t jobs, uint32_t parts, uint32_t most)
{
    MRS_ASSERT(parts > 0);
    uint64_t piece = open_share(memory, jobs) / parts & ~4095ull;
    return (uint32_t)at_least(at_most(piece, most), PIECE_MIN);
}

/* Bytes for full pieces: the rest after open pieces, data held meanwhile, and data that workers load and write
 * afterwards. */
static uint64_t
memory_left(uint64_t memory, uint32_t jobs, const struct mrsi_spill_need *need, uint32_t parts, uint32_t piece)
{
    MRS_ASSERT(parts > 0);
    uint64_t part = at_most(need->records / parts, mrsi_layout_load(memory, jobs));
    uint64_t into = need->into_bytes / parts, slots = jobs * 2ull;
    uint64_t later = slots * (2 * part + 2 * into), open = (uint64_t)parts * piece * jobs;
    uint64_t taken = memory * 5 / 32 + at_least(need->other_bytes, later) + open;
    return taken < memory ? memory - taken : 0;
}

struct mrsi_spill_layout
mrsi_layout_join(uint64_t memory, uint32_t jobs, const struct mrsi_spill_need *need)
{
    uint64_t share = open_share(memory, jobs), load = mrsi_layout_load(memory, jobs);
    uint64_t small = at_least(need->records, need->into_bytes) / SMALL + 1, fit = need->records / load + 1;
    uint64_t large_pieces = at_least(share / MRSI_PIECE_JOIN, 1), some_pieces = at_least(share / PIECE_FEW, 1);
    struct mrsi_spill_layout l = {.piece_most = MRSI_PIECE_JOIN};
    uint64_t parts = at_most(small, PARTS_MAX);
    l.parts = (uint32_t)at_least(at_most(parts, need->ordinals), 1);
    l.piece = mrsi_layout_piece(memory, jobs, l.parts, PIECE_FEW);
    l.memory = memory_left(memory, jobs, need, l.parts, l.piece);
    if (l.memory >= need->records && parts * PIECE_MIN <= share) {
        return l; /* nothing will be written */
    }
    parts = fit <= large_pieces ? at_least(at_most(parts, large_pieces), fit) : fit <= some_pieces ? fit : large_pieces;
    l.parts = (uint32_t)at_least(at_most(parts, need->ordinals), 1);
    l.piece = mrsi_layout_piece(memory, jobs, l.parts, MRSI_PIECE_JOIN);
    l.memory = memory_left(memory, jobs, need, l.parts, l.piece);
    return l;
}

/* A worker needs three times the size of a partition to sort it. Partitions that no piece size makes small enough are
 * sorted on disk, and there are few of them. */
struct mrsi_spill_layout
mrsi_layout_fold(uint64_t memory, uint32_t jobs, uint64_t ranges, uint64_t records)
{
    uint64_t load = at_least(mrsi_layout_most(memory, jobs), 1), share = open_share(memory, jobs);
    uint64_t fit = records / load * 4 / 3 + 1, few = at_least(share / MRSI_PIECE_FOLD, 1);
    uint64_t parts = at_most(records / at_most(load, SMALL) + 1, at_least(share / 2 / PIECE_MIN, 1));
    struct mrsi_spill_layout l = {.piece_most = MRSI_PIECE_FOLD, .memory = memory / 8};
    if (records > l.memory) {
        l.memory = 0;
        parts = fit <= share / PIECE_FOLD_MIN ? at_least(fit, at_most(parts, few)) : few;
    }
    l.parts = (uint32_t)at_least(at_most(at_most(parts, PARTS_MAX), ranges), 1);
    l.piece = (uint32_t)at_least(at_most(share / l.parts & ~1023ull, MRSI_PIECE_FOLD), PIECE_FOLD_MIN);
    return l;
}

uint64_t
mrsi_layout_list(uint64_t memory)
{
    enum { TIMES = 3 }; /* a list and the table made from it take three times the bytes of the list */
    return at_least(memory / 8 / TIMES, 1024);
}

struct mrsi_spill_layout
mrsi_layout_by_key(uint64_t memory, uint32_t jobs, uint64_t keys)
{
    uint64_t most = at_most(at_least(open_share(memory, jobs) / PIECE_MIN, 1), PARTS_MAX);
    struct mrsi_spill_layout l = {.piece_most = MRSI_PIECE_JOIN};
    l.parts = (uint32_t)at_most(keys / mrsi_layout_list(memory) * 5 / 4 + 2, most);
    l.piece = mrsi_layout_piece(memory, jobs, l.parts, MRSI_PIECE_JOIN);
    return l;
}

struct mrsi_spill_layout
mrsi_layout_split(uint64_t memory, uint32_t jobs, uint64_t bytes, uint64_t ordinals)
{
    uint64_t most = at_most(at_least(open_share(memory, 1) / PIECE_MIN, 2), PARTS_MAX);
    uint64_t parts = at_most(at_most(bytes / mrsi_layout_load(memory, jobs) * 5 / 4 + 2, most), ordinals);
    struct mrsi_spill_layout l = {.parts = (uint32_t)at_least(parts, 1), .piece_most = MRSI_PIECE_JOIN};
    l.piece = mrsi_layout_piece(memory, 1, l.parts, MRSI_PIECE_JOIN);
    return l;
}
