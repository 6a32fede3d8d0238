/* SPDX-License-Identifier: Apache-2.0 */
/* mongod_abi.h - the binary interface between MongoDB 9.0 and an extension (version 1.0), declared independently.
 *
 * These are facts about layout: the calls of an object, their order, and ownership. An object begins with a pointer to
 * its calls; its maker frees it, through `destroy`. The caller of a call that returns a struct mdb_status owns the
 * status and destroys it, whatever its code; if a call fails, its out-pointer stays NULL. Bytes are BSON, or text
 * without a NUL. Enumerations have a fixed width, so they are integers here. LP64 only; tests/host checks the sizes. */
#ifndef EXT_MONGOD_ABI_H
#define EXT_MONGOD_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mdb_bytes { /* borrowed */
    const uint8_t *data;
    uint64_t len;
};
struct mdb_version {
    uint32_t major, minor;
};
struct mdb_versions {
    uint64_t n;
    const struct mdb_version *version;
};

struct mdb_status {
    const struct mdb_status_calls *calls;
};
struct mdb_status_calls {
    void (*destroy)(struct mdb_status *);
    int32_t (*get_code)(const struct mdb_status *); /* 0: success */
    struct mdb_bytes (*get_reason)(const struct mdb_status *);
    void (*set_code)(struct mdb_status *, int32_t);
    struct mdb_status *(*set_reason)(struct mdb_status *, struct mdb_bytes);
    struct mdb_status *(*clone)(const struct mdb_status *, struct mdb_status **);
};

struct mdb_buf { /* owned by the receiver */
    const struct mdb_buf_calls *calls;
};
struct mdb_buf_calls {
    void (*destroy)(struct mdb_buf *);
    struct mdb_bytes (*get_view)(const struct mdb_buf *);
};
enum { MDB_LENT = 0, MDB_GIVEN = 1 };
struct mdb_container { /* bytes of either kind */
    uint8_t type;
    union {
        struct mdb_bytes lent;
        struct mdb_buf *given;
    } u;
};
enum { MDB_ADVANCED = 0, MDB_EOF = 1, MDB_PAUSE = 2 };
struct mdb_next {
    uint8_t code;
    struct mdb_container doc, meta;
};

struct mdb_ns {
    struct mdb_bytes db, coll;
};
struct mdb_catalog_context {
    struct mdb_ns ns;
    struct mdb_bytes uuid;
    uint8_t in_router;
    uint32_t verbosity;
    struct mdb_bytes shard_id; /* not confirmed for 9.0: never read */
};
struct mdb_resolved_ns {
    struct mdb_ns ns;
    size_t n_stages;
    const struct mdb_bytes *stage;
};

/* ---- objects of the server ---- */
struct mdb_log_attribute {
    struct mdb_bytes name, value;
};
struct mdb_log_attributes {
    uint64_t n;
    struct mdb_log_attribute *attribute;
};
struct mdb_log_message {
    uint32_t code;
    struct mdb_bytes text;
    uint32_t type; /* 0: for the log, by severity; 1: for debugging, by level */
    struct mdb_log_attributes attributes;
    uint32_t severity; /* 0 error, 1 warning, 2 information; or a level */
};
struct mdb_logger {
    const struct mdb_logger_calls *calls;
};
struct mdb_logger_calls { /* no object */
    struct mdb_status *(*log)(const struct mdb_log_message *);
    struct mdb_status *(*should_log)(uint32_t severity, uint32_t type, bool *);
};
struct mdb_services {
    const struct mdb_service_calls *calls;
};
struct mdb_node;
struct mdb_ast;
struct mdb_service_calls { /* no object; calls not confirmed for 9.0 are omitted at the end */
    struct mdb_logger *(*get_logger)(void);
    struct mdb_status *(*user_asserted)(struct mdb_bytes); /* {message, errorCode} -> a status of the server */
    struct mdb_status *(*tripwire_asserted)(struct mdb_bytes);
    struct mdb_status *(*mark_idle)(void **, const char *);
    struct mdb_status *(*create_host_node)(struct mdb_bytes, struct mdb_node **);
    struct mdb_status *(*create_id_lookup)(struct mdb_bytes, struct mdb_ast **);
};
struct mdb_descriptor;
struct mdb_portal { /* valid during `initialize` */
    const struct mdb_portal_calls *calls;
    struct mdb_version version;
    int32_t max_wire_version;
};
struct mdb_portal_calls {
    struct mdb_status *(*register_stage)(const struct mdb_portal *, const struct mdb_descriptor *);
    struct mdb_bytes (*get_options)(const struct mdb_portal *); /* YAML */
    struct mdb_status *(*register_rules)(const struct mdb_portal *, struct mdb_bytes, const void *, size_t);
};
struct mdb_exec;
struct mdb_metrics;
struct mdb_context { /* valid during one call */
    const struct mdb_context_calls *calls;
};
struct mdb_context_calls {
    /* The returned status is the result of the call; whether the operation was killed is written into ours. */
    struct mdb_status *(*check_for_interrupt)(const struct mdb_context *, struct mdb_status *ours);
    struct mdb_status *(*get_metrics)(const struct mdb_context *, struct mdb_exec *, struct mdb_metrics **);
    struct mdb_status *(*get_deadline)(const struct mdb_context *, int64_t *);
};
struct mdb_shape_opts { /* valid during one call */
    const struct mdb_shape_calls *calls;
};
struct mdb_shape_calls {
    struct mdb_status *(*identifier)(const struct mdb_shape_opts *, struct mdb_bytes, struct mdb_buf **);
    struct mdb_status *(*field_path)(const struct mdb_shape_opts *, struct mdb_bytes, struct mdb_buf **);
    /* One BSON element -> {"": its replacement}. */
    struct mdb_status *(*literal)(const struct mdb_shape_opts *, struct mdb_bytes, struct mdb_buf **);
};

#endif
