/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - every limit, with its reason. Exceeding one is MRS_E_LIMIT (or the stated policy), never a crash. */
#ifndef MONGORESHAPE_LIMITS_H
#define MONGORESHAPE_LIMITS_H

#include <stddef.h>

#define MRS_DOC_MAX 16777216u      /* largest document a server stores (BSONObjMaxUserSize) */
/* largest document that is read: oplog entries may have 16 KiB more (mongo-tools 100.5.3) */
#define MRS_DOC_READ_MAX 16793600u
#define MRS_DOC_MIN 5u             /* length word and the final NUL */
/* of a bucket of a time series, including those in its documents: 50 MiB of state */
#define MRS_BUCKET_FIELDS_MAX (1u << 17)
#define MRS_DEPTH_READ 2048        /* deepest nesting of unchanged documents */
#define MRS_DEPTH_MAX 180          /* deepest nesting that a server accepts from users: limit of documents we build */
#define MRS_EVAL_BYTES_MAX (128u << 20) /* values of expressions for one document; independent of --memory */
#define MRS_EVAL_STEPS_MAX (1u << 30)   /* elements and characters that expressions read: minutes */
#define MRS_KEY_MAX (1u << 20)     /* encoded match or sort key, 1 MiB */
#define MRS_NS_MAX 255             /* bytes of "db.coll" (server 4.4 and later) */
#define MRS_DB_MAX 63              /* bytes of a database name; see mrs_db_wrong */
#define MRS_PATH_PARTS_MAX 100     /* components of a dotted path */
#define MRS_PLAN_BYTES_MAX (4u << 20)
#define MRS_PLAN_DEPTH_MAX 100
#define MRS_PLAN_STEPS_MAX 1000
#define MRS_METADATA_MAX (64u << 20) /* a metadata.json file */
#define MRS_INDEXES_MAX 1000 /* of a collection that a step uses: a server allows 64, and each is compared with all */
#define MRS_MEMORY_MIN (64ull << 20) /* minimum of --memory for any number of documents */

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong with the name of a database, or NULL. That of servers on Unix; on Windows it is narrower. */
const char *mrs_db_wrong(const char *db, size_t n);

#ifdef __cplusplus
}
#endif
#endif
