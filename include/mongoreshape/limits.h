/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - every ceiling, with its reason. Passing one is MRS_E_LIMIT (or the stated policy), never a crash. */
#ifndef MONGORESHAPE_LIMITS_H
#define MONGORESHAPE_LIMITS_H

#define MRS_DOC_MAX 16777216u      /* largest document a server stores (BSONObjMaxUserSize) */
#define MRS_DOC_READ_MAX 16793600u /* largest read: oplog entries may have 16 KiB more (mongo-tools 100.5.3) */
#define MRS_DOC_MIN 5u             /* length word and the final NUL */
#define MRS_BUCKET_FIELDS_MAX (1u << 17) /* of a bucket of a time series, those in its documents too: 50 MiB of state */
#define MRS_DEPTH_READ 2048        /* deepest nesting that passes through untouched */
#define MRS_DEPTH_MAX 180          /* deepest nesting a server stores from users: limit of documents we build */
#define MRS_EVAL_BYTES_MAX (128u << 20) /* values that expressions make for one document; the same for any --memory */
#define MRS_EVAL_STEPS_MAX (1u << 30)   /* elements and characters that they read: minutes */
#define MRS_KEY_MAX (1u << 20)     /* encoded match or sort key, 1 MiB */
#define MRS_NS_MAX 255             /* bytes of "db.coll" (server 4.4 and later) */
#define MRS_DB_MAX 63              /* bytes of a database name */
#define MRS_PATH_PARTS_MAX 100     /* components of a dotted path */
#define MRS_PLAN_BYTES_MAX (4u << 20)
#define MRS_PLAN_DEPTH_MAX 100
#define MRS_PLAN_STEPS_MAX 1000
#define MRS_METADATA_MAX (64u << 20) /* a metadata.json file */
#define MRS_INDEXES_MAX 1000 /* of a collection that a step names: a server has 64, and each is held against all */
#define MRS_MEMORY_MIN (64ull << 20) /* least --memory that works for any number of documents */

#endif
