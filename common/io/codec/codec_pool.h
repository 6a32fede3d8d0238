/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pool.h - a few threads that pack and unpack pieces, shared by all files of an output or an input.
 *
 * A piece of work is a task; tasks start in the order in which they were added. The lock of the codec pool protects
 * data that tasks share with waiting callers. The first task starts the threads. */
#ifndef MRSI_IO_CODEC_POOL_H
#define MRSI_IO_CODEC_POOL_H

#include "codec.h"

/* The packer and unpacker of a thread, reused for each piece. */
struct mrsi_tools {
    struct mrs_mem *mem;
    const struct mrsi_codec *packs, *unpacks; /* NULL: none yet */
    int level;
    void *pack, *unpack;
};
/* NULL without memory. */
void *mrsi_tools_pack(struct mrsi_tools *t, const struct mrsi_codec *codec, int level);
void *mrsi_tools_unpack(struct mrsi_tools *t, const struct mrsi_codec *codec);
/* Discards the unpacker after it found damage. */
void mrsi_tools_spoilt(struct mrsi_tools *t);

struct mrsi_task {
    void (*run)(struct mrsi_task *t, struct mrsi_tools *tools); /* without the lock; t may be freed afterwards */
    struct mrsi_task *next;
};

/* Buffer for one piece, packed or not. */
struct mrsi_chunk {
    struct mrsi_chunk *next;
    size_t n;
    uint8_t p[MRSI_CHUNK_ROOM];
};

struct mrsi_codec_pool;
/* threads 0 or 1: none, the caller that adds a task runs it. NULL without memory. */
struct mrsi_codec_pool *mrsi_codec_pool_new(struct mrs_mem *mem, uint32_t threads);
/* Before the first task: sets the callback that says whether a piece is still needed. It lives as long as the codec
 * pool. */
void mrsi_codec_pool_set_stop(struct mrsi_codec_pool *l, const struct mrs_stop *stop);
bool mrsi_codec_pool_stopped(const struct mrsi_codec_pool *l);
/* No thread may use them any more; NULL: no effect. */
void mrsi_codec_pool_free(struct mrsi_codec_pool *l);
/* Starts the threads now; returns their number. */
uint32_t mrsi_codec_pool_start(struct mrsi_codec_pool *l);
void mrsi_codec_pool_lock(struct mrsi_codec_pool *l);
void mrsi_codec_pool_unlock(struct mrsi_codec_pool *l);
void mrsi_codec_pool_wait(struct mrsi_codec_pool *l); /* for mrsi_codec_pool_changed; under the lock */
void mrsi_codec_pool_changed(struct mrsi_codec_pool *l); /* under the lock */
/* Without the lock. */
void mrsi_codec_pool_add(struct mrsi_codec_pool *l, struct mrsi_task *t);
/* A reusable chunk. Without the lock. */
struct mrsi_chunk *mrsi_chunk_take(struct mrsi_codec_pool *l); /* NULL without memory */
void mrsi_chunk_release(struct mrsi_codec_pool *l, struct mrsi_chunk *c);
/* The maximum of pieces in progress, and a request for one of them: both under the lock. */
uint32_t mrsi_codec_pool_most(uint32_t threads);
bool mrsi_codec_pool_enter(struct mrsi_codec_pool *l); /* false: none is free, wait */
void mrsi_codec_pool_leave(struct mrsi_codec_pool *l);
#endif
