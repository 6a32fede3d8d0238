/* SPDX-License-Identifier: Apache-2.0 */
/* more_tags.c - a tag that another file has too; the name in a call is none: struct dirty_tag { */
enum dirty_tag { DIRTY };
