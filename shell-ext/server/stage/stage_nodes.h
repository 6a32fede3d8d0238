/* SPDX-License-Identifier: Apache-2.0 */
/* stage_nodes.h - the forms of one stage inside the server: each is made from the one before, and all of them share the
 * specification. */
#ifndef EXT_STAGE_NODES_H
#define EXT_STAGE_NODES_H

#include "server/spec/stage_spec.h"

/* Each makes a new object that holds a reference to the specification; OK or out of memory. */
struct mdb_status *ext_node_make(struct ext_spec *spec, struct mdb_node **out);          /* parse_node.c */
struct mdb_status *ext_ast_make(struct ext_spec *spec, struct mdb_ast **out);            /* ast_node.c */
struct mdb_status *ext_logical_make(struct ext_spec *spec, struct mdb_logical **out);    /* logical_stage.c */
struct mdb_status *ext_dpl_make(struct ext_spec *spec, struct mdb_dpl **out);            /* merge_plan.c */
struct mdb_status *ext_exec_make(struct ext_spec *spec, struct mdb_exec **out);          /* exec_stage.c */

/* The work of an operation; input of a metrics update. */
struct ext_counts {
    uint64_t docs_in, docs_out, refused, bytes_in, bytes_out, peak;
};
struct mdb_status *ext_metrics_make(struct ext_home *home, struct mdb_metrics **out);    /* stage_metrics.c */
struct mdb_status *ext_counts_return(struct ext_home *home, const struct ext_counts *c, struct mdb_buf **out);

static inline struct mdb_bytes
ext_stage_name(void)
{
    return (struct mdb_bytes){(const uint8_t *)EXT_STAGE, sizeof EXT_STAGE - 1};
}

#endif
