/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - the inputs; each call makes the folder `dir`. */
#ifndef FAULT_DUMPS_H
#define FAULT_DUMPS_H

#include "fault.h"

void dump_blog(const char *dir, enum mrs_codec codec);
void dump_wide(const char *dir, enum mrs_codec codec);
void dump_heavy(const char *dir, enum mrs_codec codec);
void dump_heavy_short(const char *dir, enum mrs_codec codec); /* of short documents: what is noted of one is longer */
void dump_many(const char *dir, enum mrs_codec codec);
void dump_large(const char *dir, enum mrs_codec codec);
void dump_thick(const char *dir, enum mrs_codec codec);
void dump_series(const char *dir, enum mrs_codec codec);
void dump_single(const char *dir, enum mrs_codec codec);

#endif
