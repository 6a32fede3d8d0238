/* SPDX-License-Identifier: Apache-2.0 */
/* stage_abi.h - the part of the interface that an extension implements: its properties, its stage in each form that the
 * server requests, and the executing stage. Conventions: mongod_abi.h. */
#ifndef EXT_STAGE_ABI_H
#define EXT_STAGE_ABI_H

#include "mongod_abi.h"

struct mdb_extension {
    const struct mdb_extension_calls *calls;
    struct mdb_version version;
};
struct mdb_extension_calls {
    struct mdb_status *(*initialize)(const struct mdb_extension *, const struct mdb_portal *);
};
struct mdb_descriptor { /* lives until the process ends */
    const struct mdb_descriptor_calls *calls;
};
struct mdb_descriptor_calls {
    struct mdb_bytes (*get_name)(const struct mdb_descriptor *);
    uint32_t (*get_client_type)(const struct mdb_descriptor *); /* 0: any, 1: internal ones */
    struct mdb_status *(*parse)(const struct mdb_descriptor *, struct mdb_bytes, struct mdb_node **);
};
struct mdb_expanded;
struct mdb_node { /* a stage as written */
    const struct mdb_node_calls *calls;
};
struct mdb_node_calls {
    void (*destroy)(struct mdb_node *);
    struct mdb_bytes (*get_name)(const struct mdb_node *);
    struct mdb_status *(*get_query_shape)(const struct mdb_node *, const struct mdb_shape_opts *, struct mdb_buf **);
    struct mdb_status *(*expand)(const struct mdb_node *, struct mdb_expanded **);
    struct mdb_status *(*clone)(const struct mdb_node *, struct mdb_node **);
    struct mdb_status *(*for_log)(const struct mdb_node *, struct mdb_buf **);
};
struct mdb_element {
    uint32_t type; /* 0: node, 1: ast */
    void *object;
};
struct mdb_elements { /* owned by the caller */
    size_t n;
    struct mdb_element *element;
};
struct mdb_expanded { /* expansion of a node */
    const struct mdb_expanded_calls *calls;
};
struct mdb_expanded_calls {
    void (*destroy)(struct mdb_expanded *);
    size_t (*size)(const struct mdb_expanded *);
    struct mdb_status *(*transfer)(struct mdb_expanded *, struct mdb_elements *); /* moves ownership */
};
struct mdb_logical;
struct mdb_ast {
    const struct mdb_ast_calls *calls;
};
struct mdb_ast_calls {
    void (*destroy)(struct mdb_ast *);
    struct mdb_bytes (*get_name)(const struct mdb_ast *);
    struct mdb_status *(*get_properties)(const struct mdb_ast *, struct mdb_buf **);
    struct mdb_status *(*promote)(const struct mdb_ast *, const struct mdb_catalog_context *, struct mdb_logical **);
    struct mdb_status *(*clone)(const struct mdb_ast *, struct mdb_ast **);
    struct mdb_status *(*get_view_policy)(const struct mdb_ast *, uint32_t *); /* 0: the view's stages go before */
    struct mdb_status *(*bind_namespace)(struct mdb_ast *, const struct mdb_resolved_ns *);
};
struct mdb_dpl;
struct mdb_logical { /* a stage of an execution plan */
    const struct mdb_logical_calls *calls;
};
struct mdb_logical_calls {
    void (*destroy)(struct mdb_logical *);
    struct mdb_bytes (*get_name)(const struct mdb_logical *);
    struct mdb_status *(*serialize)(const struct mdb_logical *, struct mdb_buf **);
    struct mdb_status *(*explain)(const struct mdb_logical *, struct mdb_context *, uint32_t, struct mdb_buf **);
    struct mdb_status *(*compile)(const struct mdb_logical *, struct mdb_exec **);
    struct mdb_status *(*get_distributed_plan)(const struct mdb_logical *, struct mdb_dpl **);
    struct mdb_status *(*clone)(const struct mdb_logical *, struct mdb_logical **);
    struct mdb_status *(*set_vector_limit)(struct mdb_logical *, long long *); /* may be NULL */
    struct mdb_status *(*rule_holds)(const struct mdb_logical *, struct mdb_bytes, void *, bool *);
    struct mdb_status *(*apply_rule)(struct mdb_logical *, struct mdb_bytes, void *, bool *);
    struct mdb_status *(*get_filter)(const struct mdb_logical *, struct mdb_buf **);
    struct mdb_status *(*apply_dependencies)(struct mdb_logical *, const void *);
    struct mdb_status *(*get_sort_pattern)(const struct mdb_logical *, struct mdb_buf **);
    struct mdb_status *(*skip_stream)(struct mdb_logical *, uint8_t);
    struct mdb_status *(*get_docs_needed)(const struct mdb_logical *, struct mdb_buf **);
};
struct mdb_dpl_part {
    uint32_t type; /* 0: node, 1: logical */
    void *object;
};
struct mdb_dpl_parts { /* owned by the caller */
    size_t n;
    struct mdb_dpl_part *part;
};
struct mdb_dpl_list { /* one half of a distributed plan */
    const struct mdb_dpl_list_calls *calls;
};
struct mdb_dpl_list_calls {
    void (*destroy)(struct mdb_dpl_list *);
    size_t (*size)(const struct mdb_dpl_list *);
    struct mdb_status *(*transfer)(struct mdb_dpl_list *, struct mdb_dpl_parts *);
};
struct mdb_dpl { /* the work on shards, and the work where their results are merged */
    const struct mdb_dpl_calls *calls;
};
struct mdb_dpl_calls {
    void (*destroy)(struct mdb_dpl *);
    struct mdb_status *(*extract_shards)(struct mdb_dpl *, struct mdb_dpl_list **);
    struct mdb_status *(*extract_merging)(struct mdb_dpl *, struct mdb_dpl_list **);
    struct mdb_status *(*get_sort_pattern)(const struct mdb_dpl *, struct mdb_buf **);
};
struct mdb_exec { /* an executing stage: ours, and the one before it */
    const struct mdb_exec_calls *calls;
};
struct mdb_exec_calls {
    void (*destroy)(struct mdb_exec *);
    struct mdb_status *(*get_next)(struct mdb_exec *, struct mdb_context *, struct mdb_next *);
    struct mdb_bytes (*get_name)(const struct mdb_exec *);
    struct mdb_status *(*create_metrics)(const struct mdb_exec *, struct mdb_metrics **);
    struct mdb_status *(*set_source)(struct mdb_exec *, struct mdb_exec *); /* NULL: no source any more */
    struct mdb_status *(*open)(struct mdb_exec *);
    struct mdb_status *(*reopen)(struct mdb_exec *);
    struct mdb_status *(*close)(struct mdb_exec *);
    struct mdb_status *(*explain)(const struct mdb_exec *, struct mdb_context *, uint32_t, struct mdb_buf **);
};
struct mdb_metrics { /* for an operation, shared by stages of one name */
    const struct mdb_metrics_calls *calls;
};
struct mdb_metrics_calls {
    void (*destroy)(struct mdb_metrics *);
    struct mdb_status *(*serialize)(const struct mdb_metrics *, struct mdb_buf **);
    struct mdb_status *(*update)(struct mdb_metrics *, struct mdb_bytes);
};

#endif
