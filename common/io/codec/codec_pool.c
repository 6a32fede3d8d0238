/* SPDX-License-Identifier: Apache-2.0 */
/* codec_pool.c - threads for packing and unpacking.
 *
 * One lock and one condition for all: pieces take milliseconds, so there is no contention for the lock. If a thread
 * cannot be started there is one fewer; without any the caller does the work, one task at a time, with the same
 * result. It must not know what a task does. */
#include "codec_pool.h"
#include <pthread.h>


struct lane {
    struct mrsi_codec_pool *of;
    pthread_t id;
    struct mrsi_tools tools;
};

struct mrsi_codec_pool {
    struct mrs_mem *mem;
    const struct mrs_stop *stop_by; /* NULL: no caller waits */
    pthread_mutex_t lock, inline_lock;
    pthread_cond_t work, change;
    struct mrsi_task *head, **tail;
    struct mrsi_chunk *spare;
    uint32_t n_spare, under_way;
    uint32_t n_threads, started;
    bool tried, stop; /* tried: threads were started, or could not be */
    struct lane *lane;
    struct mrsi_tools own; /* under inline_lock */
};

/* ---- tools ---- */
void *
mrsi_tools_pack(struct mrsi_tools *t, const struct mrsi_codec *codec, int level)
{
    MRS_ASSERT(level >= codec->level_min && level <= codec->level_max);
    if (t->packs != codec || t->level != level) {
        if (t->packs) {
            t->packs->pack_close(t->pack);
        }
        t->pack = codec->pack_open(t->mem, level);
        t->packs = t->pack ? codec : NULL;
        t->level = level;
    }
    return t->packs ? t->pack : NULL;
}

void *
mrsi_tools_unpack(struct mrsi_tools *t, const struct mrsi_codec *codec)
{
    MRS_ASSERT(codec->dec_open);
    if (t->unpacks != codec) {
        mrsi_tools_spoilt(t);
        t->unpack = codec->dec_open(t->mem);
        t->unpacks = t->unpack ? codec : NULL;
    }
    return t->unpacks ? t->unpack : NULL;
}

void
mrsi_tools_spoilt(struct mrsi_tools *t)
{
    MRS_ASSERT(!t->unpacks || t->unpack);
    if (t->unpacks) {
        t->unpacks->dec_close(t->unpack);
        t->unpacks = NULL;
    }
}

static void
clear_tools(struct mrsi_tools *t)
{
    mrsi_tools_spoilt(t);
    if (t->packs) {
        t->packs->pack_close(t->pack);
        t->packs = NULL;
    }
}

/* ---- codec pool ---- */
struct mrsi_codec_pool *
mrsi_codec_pool_new(struct mrs_mem *mem, uint32_t threads)
{
    struct mrsi_codec_pool *l = mrs_zalloc(mem, sizeof *l);
    if (!l) {
        return NULL;
    }
    l->mem = l->own.mem = mem;
    l->n_threads = threads > 1 ? threads : 0;
    l->tail = &l->head;
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->inline_lock, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->change, NULL);
    return l;
}

void
mrsi_codec_pool_free(struct mrsi_codec_pool *l)
{
    MRS_ASSERT(!l || l->under_way == 0);
    if (!l) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
    for (uint32_t i = 0; i < l->started; i++) {
        pthread_join(l->lane[i].id, NULL);
        clear_tools(&l->lane[i].tools);
    }
    while (l->spare) {
        struct mrsi_chunk *c = l->spare;
        l->spare = c->next;
        mrs_free(l->mem, c);
    }
    clear_tools(&l->own);
    mrs_free(l->mem, l->lane);
    pthread_cond_destroy(&l->change);
    pthread_cond_destroy(&l->work);
    pthread_mutex_destroy(&l->inline_lock);
    pthread_mutex_destroy(&l->lock);
    mrs_free(l->mem, l);
}

void
mrsi_codec_pool_set_stop(struct mrsi_codec_pool *l, const struct mrs_stop *stop)
{
    MRS_ASSERT(!l->tried);
    l->stop_by = stop->asked ? stop : NULL;
}

bool
mrsi_codec_pool_stopped(const struct mrsi_codec_pool *l)
{
    return l->stop_by && l->stop_by->asked(l->stop_by->arg);
}

void
mrsi_codec_pool_lock(struct mrsi_codec_pool *l)
{
    pthread_mutex_lock(&l->lock);
}

void
mrsi_codec_pool_unlock(struct mrsi_codec_pool *l)
{
    pthread_mutex_unlock(&l->lock);
}

void
mrsi_codec_pool_wait(struct mrsi_codec_pool *l)
{
    pthread_cond_wait(&l->change, &l->lock);
}

void
mrsi_codec_pool_changed(struct mrsi_codec_pool *l)
{
    pthread_cond_broadcast(&l->change);
}

/* ---- tasks ---- */
static void *
lane_main(void *arg)
{
    struct lane *lane = arg;
    struct mrsi_codec_pool *l = lane->of;
    pthread_mutex_lock(&l->lock);
    while (!l->stop || l->head) {
        struct mrsi_task *t = l->head;
        if (!t) {
            pthread_cond_wait(&l->work, &l->lock);
            continue;
        }
        l->head = t->next;
        l->tail = l->head ? l->tail : &l->head;
        pthread_mutex_unlock(&l->lock);
        t->run(t, &lane->tools);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* Under the lock, once. */
static void
start_threads(struct mrsi_codec_pool *l)
{
    MRS_ASSERT(l->started == 0);
    l->tried = true;
    l->lane = l->n_threads ? mrs_alloc_array(l->mem, l->n_threads, sizeof *l->lane) : NULL;
    for (uint32_t i = 0; l->lane && i < l->n_threads; i++) {
        l->lane[i] = (struct lane){.of = l, .tools = {.mem = l->mem}};
        if (pthread_create(&l->lane[i].id, NULL, lane_main, &l->lane[i]) != 0) {
            break;
        }
        l->started++;
    }
}

uint32_t
mrsi_codec_pool_start(struct mrsi_codec_pool *l)
{
    pthread_mutex_lock(&l->lock);
    if (!l->tried) {
        start_threads(l);
    }
    uint32_t n = l->started;
    pthread_mutex_unlock(&l->lock);
    return n;
}

void
mrsi_codec_pool_add(struct mrsi_codec_pool *l, struct mrsi_task *t)
{
    MRS_ASSERT(t->run);
    pthread_mutex_lock(&l->lock);
    MRS_ASSERT(!l->stop);
    if (!l->tried) {
        start_threads(l);
    }
    bool queued = l->started > 0;
    if (queued) {
        t->next = NULL;
        *l->tail = t;
        l->tail = &t->next;
        pthread_cond_signal(&l->work);
    }
    pthread_mutex_unlock(&l->lock);
    if (!queued) {
        pthread_mutex_lock(&l->inline_lock);
        t->run(t, &l->own);
        pthread_mutex_unlock(&l->inline_lock);
    }
}

uint32_t
mrsi_codec_pool_most(uint32_t threads)
{
    return 2 * threads + 1;
}

bool
mrsi_codec_pool_enter(struct mrsi_codec_pool *l)
{
    bool room = l->under_way < mrsi_codec_pool_most(l->n_threads);
    l->under_way += room;
    return room;
}

void
mrsi_codec_pool_leave(struct mrsi_codec_pool *l)
{
    MRS_ASSERT(l->under_way > 0);
    l->under_way--;
    pthread_cond_broadcast(&l->change);
}

/* ---- chunks ---- */
struct mrsi_chunk *
mrsi_chunk_take(struct mrsi_codec_pool *l)
{
    pthread_mutex_lock(&l->lock);
    MRS_ASSERT(l->n_spare == 0 || l->spare);
    struct mrsi_chunk *c = l->spare;
    if (c) {
        l->spare = c->next;
        l->n_spare--;
    }
    pthread_mutex_unlock(&l->lock);
    c = c ? c : mrs_alloc(l->mem, sizeof *c);
    if (c) {
        c->n = 0;
    }
    return c;
}

void
mrsi_chunk_release(struct mrsi_codec_pool *l, struct mrsi_chunk *c)
{
    MRS_ASSERT(!c || c->n <= sizeof c->p);
    if (!c) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    bool keep = l->n_spare < mrsi_codec_pool_most(l->n_threads) + l->n_threads;
    if (keep) {
        c->next = l->spare;
        l->spare = c;
        l->n_spare++;
    }
    pthread_mutex_unlock(&l->lock);
    if (!keep) {
        mrs_free(l->mem, c);
    }
}
