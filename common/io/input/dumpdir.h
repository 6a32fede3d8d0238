/* SPDX-License-Identifier: Apache-2.0 */
/* dumpdir.h - the location of a dump: a folder of the file system, or a folder packed into a container. */
#ifndef MRSI_IO_DUMPDIR_H
#define MRSI_IO_DUMPDIR_H

#include "input.h"

/* input_watch.c: records the current files of a folder, and its names. */
enum mrs_status mrsi_watch_folder(struct mrs_input *in, const struct mrsi_item *folder, const struct mrsi_items *has,
                                  struct mrs_err *e);
/* A file or folder that is compared with the file system at the end. */
struct mrsi_watched {
    const char *path; /* to look it up, or only for messages if there is an fd */
    int fd;           /* -1: none */
    bool is_folder;
    struct mrsi_stamp stamp; /* of a file */
    struct mrsi_items has;   /* of a folder */
};

/* dumpdir.c: whether a folder is the root of a dump, or else that of one database. */
enum mrs_status mrsi_dump_is_root(struct mrs_input *in, const struct mrsi_folder_lister *offsets,
                                  const struct mrsi_item *folder, bool *root, struct mrs_err *e);
/* Is it a folder that other programs put into dumps? No database has such a name. */
bool mrsi_is_foreign_folder(const char *name, size_t n);
/* Files and folders of other programs, for the report. The path stays. */
enum mrs_status mrsi_note_passed(struct mrs_input *in, const char *path, struct mrs_err *e);
#define MRSI_OLD_INDEXES "system.indexes"
/* old_indexes.c: adds the indexes in system.indexes.bson to the collections of old dumps. */
enum mrs_status mrsi_old_indexes(struct mrs_input *in, struct mrs_err *e);
/* Fills the input with the contents of top: the root of a dump, or with db the folder of that database. */
enum mrs_status mrsi_dump_take(struct mrs_input *in, const struct mrsi_folder_lister *offsets,
                               const struct mrsi_item *top, const char *db, struct mrs_err *e);
#endif
