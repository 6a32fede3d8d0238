/* SPDX-License-Identifier: Apache-2.0 */
/* stars.h - the collection names of a step that may have stars. */
#ifndef MONGORESHAPE_STARS_H
#define MONGORESHAPE_STARS_H

/* Where collection names may have a star, which matches any name (from version 2 on): mrs_plan_fit expands the step
 * into one for each match. */
enum mrs_stars {
    MRS_STARS_NONE,
    MRS_STARS_IN,      /* `in` */
    MRS_STARS_INDEX,   /* `in`; names in `drop` must be in one of them, not in each */
    MRS_STARS_PAIR,    /* `from`; the star of `into` becomes the text that the star of `from` matched */
    MRS_STARS_GATHER,  /* as PAIR, or several go into one: `into` without a star */
    MRS_STARS_LIST,    /* in the collections of `from`, which form one step */
    MRS_STARS_VALUES   /* in `into: {"*": name}`, for a value of a document */
};

#endif
