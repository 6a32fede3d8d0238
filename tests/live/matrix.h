/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h - what the files of the matrix share: scenes, the world that a scene is played in, and calls of the tool.
 *
 * A scene is a small set of documents and a plan; a way is the list of commands by which it is carried out; the matrix
 * program breaks ways at every place and compares where they end. Every worker has a world of its own: two databases on
 * the one server, a folder, a proxy.
 */
#ifndef MONGORESHAPE_TESTS_MATRIX_H
#define MONGORESHAPE_TESTS_MATRIX_H

#include <mongoc/mongoc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { ROWS_MAX = 6, TEXT = 512 };

struct rows {                /* documents from `from` to `to`: '#' is the number, '@' the number in steps of `of` */
    const char *coll, *text;
    int from, to, of;
};
struct scene {
    const char *name, *steps;
    struct rows rows[ROWS_MAX];
    const char *indexes;     /* createIndexes commands, one behind the other in an array; NULL */
    const char *change;      /* what writers do between apply and verify; an array of commands, NULL: nothing */
};
extern const struct scene scenes[];

struct line {
    char *p;
    size_t n;
};
struct picture {             /* everything that is in a database, one line a thing, sorted */
    struct line *line;
    size_t n, room;
};
void picture_add(struct picture *p, const char *head, const bson_t *b);
void picture_sort(struct picture *p);
/* Adds the lines of that head which another picture has. */
void picture_take(struct picture *p, const struct picture *from, const char *head);
bool picture_same(const struct picture *a, const struct picture *b);
/* The first lines that only one of them has, for people. */
char *picture_difference(const struct picture *want, const struct picture *got);
void picture_clear(struct picture *p);

struct programs {
    const char *live, *offline, *proxy, *ctl;
    const char *uri;
    bool replicated, ours;   /* ours: may be killed */
};
struct world {
    const struct programs *use;
    const struct scene *scene;
    mongoc_client_t *client;
    char db[64], state[64], dir[256], plan[300];
    char direct[TEXT];       /* the URI with the database in it */
    char proxied[TEXT];      /* through the proxy; "": none */
    int control;             /* port of the proxy */
    pid_t proxy;
};
void world_open(struct world *w, const struct programs *use, int number);
void world_close(struct world *w);
/* Empties both databases and puts the scene's documents in. */
void world_load(struct world *w, const struct scene *scene);
void world_change(struct world *w);
void world_picture(struct world *w, struct picture *p);
/* The offline tool on what is in the database now: documents, indexes, and refused documents where they were.
 * False: it did not end well; said tells why. */
bool world_offline(struct world *w, struct picture *p, char said[TEXT]);
/* Time passes: all leases are over. */
void world_expire(struct world *w);
/* Waits until the server answers. */
void world_wait(struct world *w);
/* The phase of the run; "" where there is none. */
void world_phase(struct world *w, char out[64]);
/* Marks (~x1~) in a picture, NUL-ended one behind the other. */
char *marks_of(const struct picture *p, size_t *n);
/* The first mark of both lists that is neither in the user's collections nor in a sealed list; NULL: none. */
const char *world_lacks(struct world *w, const char *marks, size_t n, const struct picture *end);
/* Sends a line to the proxy. */
void world_rule(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
long world_asked(struct world *w, const char *question);

struct call {
    const char *act;         /* "apply --execute" */
    const char *more;        /* more options; NULL */
    const char *plan;        /* NULL: the scene's */
    const char *stop, *list; /* MRS_STOP, MRS_STOP_LIST; NULL */
    bool proxied;
    int lease_ms;            /* 0: what others need not wait for long when it is killed */
    const char *said;        /* name of the file for its words in the world's folder; NULL: said.txt */
};
/* Exit status; 128 + n: ended by a signal; -1: it did not end, and was killed. */
int tool_run(struct world *w, const struct call *c);
pid_t tool_start(struct world *w, const struct call *c);
int tool_wait(pid_t pid);
/* What the last call said, for people and for finding words. */
const char *tool_said(struct world *w, const char *file);
int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *text_file(const char *path);
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
bson_t *json(const char *text);

/* ---- trials: matrix_trial.c ---- */
enum { ACTS = 5 };
enum goal { AS_OFFLINE, AS_BEFORE };
struct way {
    const char *name;
    const char *acts[ACTS];  /* "!": the scene's writers */
    enum goal goal;
    bool quick;              /* killed everywhere by `make check`, too */
};
struct tally {               /* shared by all workers */
    atomic_int next, passed, failed, refused, kills, cuts, cases;
};
extern struct tally *tally;
struct asked {               /* of the command line */
    bool longer, no_stops, unbroken, verbose;
    const char *scene, *way;
    unsigned seed, seeds;
    int workers, share, shares;  /* shares: of several calls, each takes its own */
};
extern struct asked asked;
struct trial {               /* a scene on its way */
    struct world *w;
    const struct scene *scene;
    const struct way *way;
    bool plain;              /* without transactions */
    struct picture end;
    char *marks;
    size_t marks_n;
    int status[ACTS];        /* of the unbroken run */
    char *stops[ACTS];       /* names, one a line */
    char what[160];          /* what is being tried, for people */
};
/* Carries it out unbroken and holds that against the offline tool. False: this scene does not go this way (the tool
 * said so before it touched anything), or it does not come to its end. */
bool open_trial(struct trial *t, struct world *w, const struct scene *scene, const struct way *way, bool plain);
void close_trial(struct trial *t);
void fail(struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void now_trying(struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One act; how: stops and the like, NULL: none. Its exit status. start: without waiting for it. */
int act(struct trial *t, int k, const struct call *how);
pid_t start_act(struct trial *t, int k, const struct call *how);
/* Everything anew, up to act k. */
bool before(struct trial *t, int k);
/* Whether the run came to an end of some kind: another call of its command is an error then. */
bool run_is_over(struct trial *t, char phase[64]);
/* Act k again until it ends as it did unbroken, then those behind it. Whatever it says instead must be a refusal of the
 * server's kind. */
bool finish(struct trial *t, int k);
/* finish, and the end must be that of the unbroken run. */
void end_trial(struct trial *t, int k);
/* At this moment no mark is gone that is there at the end. */
void nothing_lost(struct trial *t);
int stops_in(const char *list);
const char *stop_name(const char *list, int n, char out[128]);

/* ---- breaking: matrix_break.c ---- */
void try_kill(struct trial *t, int k, int n);
/* Gives whether something was cut. */
bool try_cut(struct trial *t, int k, const char *rule, int n);
uint64_t roll(uint64_t *state, uint64_t below);
/* One break of a kind and at a place that the state of the random numbers decides. */
void try_random(struct trial *t, uint64_t *r);

#endif
