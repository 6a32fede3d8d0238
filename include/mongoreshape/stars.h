/* SPDX-License-Identifier: Apache-2.0 */
/* stars.h - in which names of collections a step may have stars. */
#ifndef MONGORESHAPE_STARS_H
#define MONGORESHAPE_STARS_H

/* Where names of collections may have a star, which stands for all that fit (from version 2 on): the plan becomes one
 * step for each (mrs_plan_fit). */
enum mrs_stars {
    MRS_STARS_NONE,
    MRS_STARS_IN,      /* `in` */
    MRS_STARS_INDEX,   /* the same; names in `drop` must be in one of them, not in each */
    MRS_STARS_PAIR,    /* `from`; the star of `into` gets what its star stood for */
    MRS_STARS_GATHER,  /* the same, or several go into one: `into` without a star */
    MRS_STARS_LIST,    /* in the collections of `from`, which become one step */
    MRS_STARS_VALUES   /* in `into: {"*": name}`, where it is a value of a document */
};

#endif
