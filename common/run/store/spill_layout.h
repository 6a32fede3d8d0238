/* SPDX-License-Identifier: Apache-2.0 */
/* spill_layout.h - chooses the number of partitions and the size of pieces: arithmetic only, so that a run can be
 * estimated. docs/ARCHITECTURE.md has the rule ("Pieces and partitions"). */
#ifndef MRSI_RUN_SPILL_LAYOUT_H
#define MRSI_RUN_SPILL_LAYOUT_H

#include <stdint.h>

enum {
    MRSI_PIECE_FOLD = 64 << 10, /* a fold numbers the shared records of a piece with 16 bits */
    MRSI_PIECE_JOIN = 256 << 10
};
struct mrsi_spill_layout {
    uint32_t parts;
    uint32_t piece, piece_most; /* sizes: of a piece; of a piece in a run resumed with other memory */
    uint64_t memory;            /* maximum bytes of full pieces in memory */
};
/* Input of a join. */
struct mrsi_spill_need {
    uint64_t ordinals;    /* of into */
    uint64_t records;     /* estimated bytes of all records */
    uint64_t into_bytes;  /* estimated bytes of the documents into which partitions are spliced */
    uint64_t other_bytes; /* bytes of other data in memory meanwhile */
};
/* memory: the budget in bytes; jobs: workers, each with an open piece for every partition. */
struct mrsi_spill_layout mrsi_layout_join(uint64_t memory, uint32_t jobs, const struct mrsi_spill_need *need);
struct mrsi_spill_layout mrsi_layout_fold(uint64_t memory, uint32_t jobs, uint64_t ranges, uint64_t records);
/* The target size of partitions. As sizes are estimated and keys are skewed, a worker loads up to twice as many bytes;
 * larger partitions are split first, or sorted on disk. */
uint64_t mrsi_layout_load(uint64_t memory, uint32_t jobs);
uint64_t mrsi_layout_most(uint64_t memory, uint32_t jobs);
/* Keys of into, with so many bytes, and the records that search them, by hash: the keys of a partition become a list of
 * at most mrsi_layout_list bytes, then a table. */
struct mrsi_spill_layout mrsi_layout_by_key(uint64_t memory, uint32_t jobs, uint64_t keys);
uint64_t mrsi_layout_list(uint64_t memory);
/* A partition with so many bytes and ordinals, split by one thread. */
struct mrsi_spill_layout mrsi_layout_split(uint64_t memory, uint32_t jobs, uint64_t bytes, uint64_t ordinals);
/* Size of a piece for so many partitions. */
uint32_t mrsi_layout_piece(uint64_t memory, uint32_t jobs, uint32_t parts, uint32_t most);

#endif
