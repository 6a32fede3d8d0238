/* tell.h - building a step's description of itself: sides, touches, losses, words.
 *
 * Everything goes into the arena; a failure is remembered and returned by mrsi_tell_end. */
#ifndef MRSI_TELL_H
#define MRSI_TELL_H

#include "args.h"

struct mrsi_tell {
    struct mrs_arena *arena;
    struct mrs_err *err;
    struct mrs_desc *d;
    struct mrs_side *side;
    struct mrs_touch *touch;
    const char **loss;
    uint32_t side_cap, touch_cap, loss_cap;
    int of;  /* side that reads are charged to while an expression is asked */
    bool bad;
};
void mrsi_tell_begin(struct mrsi_tell *t, struct mrs_arena *arena, struct mrs_desc *out, enum mrs_family family,
                     struct mrs_err *e);
/* Index of the side. what: the key of the plan that names it. */
int mrsi_tell_side(struct mrsi_tell *t, const struct mrs_coll *coll, unsigned role, const char *what);
void mrsi_tell_touch(struct mrsi_tell *t, int side, char kind, const char *path);
/* What it reads, as touches 'R' of the side; NULL: nothing. */
void mrsi_tell_expr(struct mrsi_tell *t, int side, const struct mrs_expr *x);
void mrsi_tell_query(struct mrsi_tell *t, int side, const struct mrs_query *q);
void mrsi_tell_sort(struct mrsi_tell *t, int side, const struct mrs_sort *s);
void mrsi_tell_loss(struct mrsi_tell *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the words; sentences are parted by the caller. */
void mrsi_tell_words(struct mrsi_tell *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "a, b and 7 more": the texts of paths, at most `most` of them. */
const char *mrsi_tell_paths(struct mrsi_tell *t, const struct mrs_path *path, uint32_t n, uint32_t most);
void mrsi_tell_once(struct mrsi_tell *t, const char *why); /* not repeatable, and why */
enum mrs_status mrsi_tell_end(struct mrsi_tell *t);

#endif
