/* SPDX-License-Identifier: Apache-2.0 */
/* spill_layout.h - how many partitions records are thrown into, in pieces of which size: arithmetic alone, so that a
 * run can be foretold. docs/ARCHITECTURE.md has the rule ("Pieces and partitions"). */
#ifndef MRSI_RUN_SPILL_LAYOUT_H
#define MRSI_RUN_SPILL_LAYOUT_H

#include <stdint.h>

enum {
    MRSI_PIECE_FOLD = 64 << 10, /* a fold numbers what documents of a piece have alike with 16 bits */
    MRSI_PIECE_JOIN = 256 << 10
};
struct mrsi_spill_layout {
    uint32_t parts;
    uint32_t piece, piece_most; /* bytes: of a piece; of a piece in a run resumed with other memory */
    uint64_t memory;            /* bytes of full pieces that stay in memory */
};
/* What a join throws. */
struct mrsi_spill_need {
    uint64_t ordinals;   /* of into */
    uint64_t records;    /* bytes of all records, guessed */
    uint64_t into_bytes; /* of the documents that each partition is spliced into, guessed */
    uint64_t held;       /* bytes of what lies in memory while records are thrown */
};
/* memory: bytes of the budget; jobs: workers, each with an open piece for every partition. */
struct mrsi_spill_layout mrsi_layout_join(uint64_t memory, uint32_t jobs, const struct mrsi_spill_need *need);
struct mrsi_spill_layout mrsi_layout_fold(uint64_t memory, uint32_t jobs, uint64_t ranges, uint64_t records);
/* Bytes that partitions are laid out to have at most. As records are guessed and keys are skew, a worker loads twice as
 * many; what is larger is split first, or sorted on disk. */
uint64_t mrsi_layout_load(uint64_t memory, uint32_t jobs);
uint64_t mrsi_layout_most(uint64_t memory, uint32_t jobs);
/* Keys of into, of so many bytes, and the records that look for them, by hash: the keys of a partition become a list of
 * mrsi_layout_list bytes at most, and then a table. */
struct mrsi_spill_layout mrsi_layout_by_key(uint64_t memory, uint32_t jobs, uint64_t keys);
uint64_t mrsi_layout_list(uint64_t memory);
/* A partition of so many bytes and ordinals, split by one thread. */
struct mrsi_spill_layout mrsi_layout_split(uint64_t memory, uint32_t jobs, uint64_t bytes, uint64_t ordinals);
/* Bytes of a piece where there are so many partitions. */
uint32_t mrsi_layout_piece(uint64_t memory, uint32_t jobs, uint32_t parts, uint32_t most);

#endif
