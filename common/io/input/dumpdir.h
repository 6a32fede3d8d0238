/* SPDX-License-Identifier: Apache-2.0 */
/* dumpdir.h - where a dump lies: a folder of the file system, or what was packed of one into a container. */
#ifndef MRSI_IO_DUMPDIR_H
#define MRSI_IO_DUMPDIR_H

#include "input.h"

/* input_watch.c: the files of a folder, and what it holds, as they are now. */
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
enum mrs_status mrsi_dump_is_root(struct mrs_input *in, const struct mrsi_folder_lister *offsets,
                                  const struct mrsi_item *folder, bool *root, struct mrs_err *e);
/* old_indexes.c: gives the collections of old dumps the indexes that system.indexes.bson has of them. */
enum mrs_status mrsi_old_indexes(struct mrs_input *in, struct mrs_err *e);
/* Fills the input with what lies in top: the root of a dump, or with db the folder of that database. */
enum mrs_status mrsi_dump_take(struct mrs_input *in, const struct mrsi_folder_lister *offsets,
                               const struct mrsi_item *top, const char *db, struct mrs_err *e);
#endif
