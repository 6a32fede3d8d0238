/* SPDX-License-Identifier: Apache-2.0 */
/* ast_node.c - the stage in a pipeline: its properties for the server, and the binding to a database. */
#include "stage_nodes.h"

#include "mongoreshape/build.h"

struct ast_node {
    struct mdb_ast face;
    struct ext_spec *spec;
};

static struct ast_node *
node(const struct mdb_ast *a)
{
    return (struct ast_node *)(uintptr_t)a;
}

static void
ast_destroy(struct mdb_ast *a)
{
    struct ext_spec *spec = node(a)->spec;
    mrs_free(spec->home->mem, a);
    ext_spec_drop(spec);
}

static struct mdb_bytes
ast_name(const struct mdb_ast *a)
{
    (void)a;
    return ext_stage_name();
}

static struct mdb_status *
ast_properties(const struct mdb_ast *a, struct mdb_buf **out)
{
    const struct ext_spec *spec = node(a)->spec;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, spec->home->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_text(&b, "position", "none", 4);
    mrs_build_text(&b, "hostType", "none", 4);
    mrs_build_text(&b, "streamType", "streaming", 9);
    mrs_build_bool(&b, "requiresInputDocSource", true);
    mrs_build_bool(&b, "allowedInUnionWith", true);
    mrs_build_bool(&b, "allowedInLookup", true);
    mrs_build_bool(&b, "allowedInFacet", false);
    mrs_build_bool(&b, "preservesUpstreamMetadata", spec->route.kind == MRS_STAGE_ONE);
    (void)mrs_build_finish(&b, &doc, NULL);
    return ext_return_buf(spec->home->mem, &buf, out);
}

static struct mdb_status *
ast_promote(const struct mdb_ast *a, const struct mdb_catalog_context *c, struct mdb_logical **out)
{
    struct ext_spec *bound = NULL;
    struct mdb_status *s = ext_spec_bind(node(a)->spec, c->ns.db, &bound);
    if (!bound) {
        return s;
    }
    s = ext_logical_make(bound, out);
    ext_spec_drop(bound);
    return s;
}

static struct mdb_status *
ast_clone(const struct mdb_ast *a, struct mdb_ast **out)
{
    return ext_ast_make(node(a)->spec, out);
}

static struct mdb_status *
ast_view_policy(const struct mdb_ast *a, uint32_t *out)
{
    (void)a;
    *out = 0;
    return ext_ok();
}

static struct mdb_status *
ast_bind(struct mdb_ast *a, const struct mdb_resolved_ns *ns)
{
    (void)a;
    (void)ns; /* the collection of the documents is not needed: it is `of` */
    return ext_ok();
}

static const struct mdb_ast_calls ast_calls = {ast_destroy, ast_name,        ast_properties, ast_promote,
                                               ast_clone,   ast_view_policy, ast_bind};

struct mdb_status *
ext_ast_make(struct ext_spec *spec, struct mdb_ast **out)
{
    MRS_ASSERT(spec->users > 0 && out);
    struct ast_node *a = mrs_zalloc(spec->home->mem, sizeof *a);
    if (!a) {
        return ext_no_memory();
    }
    *a = (struct ast_node){{&ast_calls}, ext_spec_retain(spec)};
    *out = &a->face;
    return ext_ok();
}
