/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pool.h - a few threads that pack and unpack pieces, shared by all files of an output or an input.
 *
 * A piece of work is a task; tasks are begun in the order in which they were added. What tasks share with those who
 * wait for them is under the lock of the codec pool. No thread is started before the first task. */
#ifndef MRSI_IO_CODEC_POOL_H
#define MRSI_IO_CODEC_POOL_H

#include "codec.h"

/* What a thread packs and unpacks with, kept from piece to piece. */
struct mrsi_tools {
    struct mrs_mem *mem;
    const struct mrsi_codec *packs, *unpacks; /* NULL: none yet */
    int level;
    void *pack, *unpack;
};
/* NULL without memory. */
void *mrsi_tools_pack(struct mrsi_tools *t, const struct mrsi_codec *codec, int level);
void *mrsi_tools_unpack(struct mrsi_tools *t, const struct mrsi_codec *codec);
/* An unpacker that found damage is not used again. */
void mrsi_tools_spoilt(struct mrsi_tools *t);

struct mrsi_task {
    void (*run)(struct mrsi_task *t, struct mrsi_tools *tools); /* without the lock; t may be gone afterwards */
    struct mrsi_task *next;
};

/* Room for one piece, packed or not. */
struct mrsi_chunk {
    struct mrsi_chunk *next;
    size_t n;
    uint8_t p[MRSI_CHUNK_ROOM];
};

struct mrsi_codec_pool;
/* threads 0 or 1: none, tasks are run by who adds them. NULL without memory. */
struct mrsi_codec_pool *mrsi_codec_pool_new(struct mrs_mem *mem, uint32_t threads);
/* Before the first task: who is asked whether a piece that is being packed is wanted. It lives as long as the codec
   pool. */
void mrsi_codec_pool_ask(struct mrsi_codec_pool *l, const struct mrs_stop *stop);
bool mrsi_codec_pool_stopped(const struct mrsi_codec_pool *l);
/* No thread may use them any more; NULL: nothing. */
void mrsi_codec_pool_free(struct mrsi_codec_pool *l);
/* Starts the threads now; how many there are. */
uint32_t mrsi_codec_pool_start(struct mrsi_codec_pool *l);
void mrsi_codec_pool_lock(struct mrsi_codec_pool *l);
void mrsi_codec_pool_unlock(struct mrsi_codec_pool *l);
void mrsi_codec_pool_wait(struct mrsi_codec_pool *l); /* for mrsi_codec_pool_changed; under the lock */
void mrsi_codec_pool_changed(struct mrsi_codec_pool *l); /* under the lock */
/* Without the lock. */
void mrsi_codec_pool_add(struct mrsi_codec_pool *l, struct mrsi_task *t);
/* Room to be used again. Without the lock. */
struct mrsi_chunk *mrsi_chunk_take(struct mrsi_codec_pool *l); /* NULL without memory */
void mrsi_chunk_give(struct mrsi_codec_pool *l, struct mrsi_chunk *c);
/* How many pieces may be under way at a time, and asking for one of them: both under the lock. */
uint32_t mrsi_codec_pool_most(uint32_t threads);
bool mrsi_codec_pool_enter(struct mrsi_codec_pool *l); /* false: all are taken, wait */
void mrsi_codec_pool_leave(struct mrsi_codec_pool *l);
#endif
