/* SPDX-License-Identifier: Apache-2.0 */
/* dumpdir.h - where a dump lies: a folder of the file system, or what was packed of one into a container. */
#ifndef MRSI_IO_DUMPDIR_H
#define MRSI_IO_DUMPDIR_H

#include "internal.h"

/* A file or a folder. */
struct mrsi_item {
    const char *name;               /* the last part of its path */
    const char *path;               /* to open it, or for messages alone where there is a place */
    const struct mrsi_place *place; /* NULL: a file of that path */
    uint64_t bytes;                 /* of a file */
    bool folder;
    struct mrsi_stamp stamp; /* of a file of the file system */
    uint32_t from, to, skip; /* a container's folder: its members, and what their paths have in common */
};
struct mrsi_items {
    struct mrsi_item *at;
    uint32_t n;
};
/* What lists folders. Items are sorted by the bytes of their names and live in the arena; anything that is neither file
 * nor folder is FAIL MRS_E_FORMAT. */
struct mrsi_shelf {
    enum mrs_status (*list)(const struct mrsi_shelf *self, struct mrs_arena *a, const struct mrsi_item *folder,
                            struct mrsi_items *out, struct mrs_err *e);
};
/* tree.c: the file system. Soft links are not followed: a dump of somebody else could name any file of its reader. */
extern const struct mrsi_shelf mrsi_shelf_files;
/* "a/b" in the arena; NULL without memory. */
char *mrsi_arena_join(struct mrs_arena *a, const char *p, const char *q);

/* watch.c: the files of a folder, and what it holds, as they are now. */
enum mrs_status mrsi_watch_folder(struct mrs_input *in, const struct mrsi_item *folder, const struct mrsi_items *has,
                                  struct mrs_err *e);
/* What the input is compared with at last. */
struct mrsi_watched {
    const char *path; /* to look it up, or for messages where fd is one */
    int fd;           /* -1: none */
    bool is_folder;
    struct mrsi_stamp stamp; /* of a file */
    struct mrsi_items has;   /* of a folder */
};

/* dumpdir.c: whether a folder is the root of a dump, or else that of one database. */
enum mrs_status mrsi_dump_is_root(struct mrs_input *in, const struct mrsi_shelf *shelf, const struct mrsi_item *folder,
                                  bool *root, struct mrs_err *e);
/* old_indexes.c: gives the collections of old dumps the indexes that system.indexes.bson has of them. */
enum mrs_status mrsi_old_indexes(struct mrs_input *in, struct mrs_err *e);
/* Fills the input with what lies in top: the root of a dump, or with db the folder of that database. */
enum mrs_status mrsi_dump_take(struct mrs_input *in, const struct mrsi_shelf *shelf, const struct mrsi_item *top,
                               const char *db, struct mrs_err *e);
#endif
