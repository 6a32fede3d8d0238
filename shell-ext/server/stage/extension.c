/* SPDX-License-Identifier: Apache-2.0 */
/* extension.c - the two entry points through which a server loads the extension, and its options.
 *
 * Nothing of the server is used before the versions agree. Objects made here live until the process ends: a server
 * never unloads an extension. */
#include "server/home/ext_home.h"

#include "mongoreshape/build.h"
#include "mongoreshape/plan.h"
#include "mongoreshape/version.h"

#include <stdio.h>

#define EXT_ENTRY __attribute__((visibility("default")))
EXT_ENTRY void get_mongodb_extension_versions(struct mdb_versions *out);
EXT_ENTRY struct mdb_status *get_mongodb_extension(struct mdb_version chosen, const struct mdb_services *services,
                                                   const struct mdb_extension **out);

static const struct mdb_version versions[] = {{1, 0}};

static struct ext_home *
home_of(const struct mdb_extension *x)
{
    return (struct ext_home *)(uintptr_t)x; /* its first member */
}

/* ---- options: { plans: [plan, ...], memory: bytes } ---- */
static enum mrs_status
add_plan(struct ext_home *home, struct mrs_build *b, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_plan_opts opts = {.file = "plans", .any_db = true};
    struct mrs_plan *plan = NULL;
    struct mrs_buf text;
    char id[33];
    if (v.type != MRS_DOCUMENT) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "`plans` is a list of plans, each with `database` and `steps`");
    }
    mrs_buf_init(&text, home->mem, MRS_PLAN_BYTES_MAX);
    enum mrs_status s = mrs_plan_text(mrs_val_view(v), &text, e);
    MRS_THEN(s, mrs_plan_load(home->mem, (const char *)text.p, text.n, &opts, &plan, e));
    if (s == MRS_OK && !plan->id_known) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "plan `%.100s` needs a `database`: its id hangs on it", plan->name);
    }
    if (s == MRS_OK) {
        mrs_plan_id_text(plan, id);
        mrs_build_val(b, id, 32, v);
    }
    mrs_plan_free(plan);
    mrs_buf_clear(&text);
    return s;
}

static enum mrs_status
read_plans(struct ext_home *home, struct mrs_val list, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_build b;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    if (list.type != MRS_ARRAY) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "`plans` must be a list");
    }
    mrs_buf_reset(&home->options);
    mrs_build_init(&b, &home->options);
    mrs_walk_init(&w, mrs_val_view(list));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        s = add_plan(home, &b, el.v, e);
    }
    MRS_THEN(s, mrs_build_finish(&b, &doc, e));
    return s;
}

static enum mrs_status
read_option(struct ext_home *home, const struct mrs_elem *el, struct mrs_err *e)
{
    MRS_ASSERT(el->name);
    static const char *const known[] = {"plans", "memory"};
    if (strcmp(el->name, "plans") == 0) {
        return read_plans(home, el->v, e);
    }
    if (strcmp(el->name, "memory") != 0) {
        const char *near = mrs_nearest(el->name, known, 2);
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "unknown key `%.80s`%s%s%s", el->name, near ? " (did you mean `"
            : "",
                           near ? near : "; there are `plans` and `memory`", near ? "`?)" : "");
    }
    int64_t memory;
    if (!mrs_val_integral(el->v, &memory) || memory < EXT_MEMORY_MIN || memory > EXT_MEMORY_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "`memory` must be a number of bytes from %lld to %lld",
                           EXT_MEMORY_MIN,
                           EXT_MEMORY_MAX);
    }
    home->memory = memory;
    return MRS_OK;
}

static enum mrs_status
read_options(struct ext_home *home, struct mdb_bytes yaml, struct mrs_err *e)
{
    MRS_ASSERT(yaml.data || yaml.len == 0);
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_buf bson;
    enum mrs_status s = MRS_OK;
    if (yaml.len == 0) {
        return MRS_OK;
    }
    mrs_buf_init(&bson, home->mem, 2u * MRS_DOC_MAX);
    s = mrs_yaml_doc(home->mem, (const char *)yaml.data, yaml.len, &bson, e);
    if (s == MRS_OK) {
        mrs_walk_init(&w, (struct mrs_view){bson.p, (uint32_t)bson.n});
        while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
            s = read_option(home, &el, e);
        }
    }
    mrs_buf_clear(&bson);
    return s;
}

/* ---- the extension ---- */
static void
log_start(const struct ext_home *home)
{
    struct mdb_logger *logger = home->services ? home->services->calls->get_logger() : NULL;
    struct mdb_log_message m = {.code = EXT_CODE_BASE, .text = ext_text("mongoreshape " MRS_VERSION ": stage " EXT_STAGE
                                                                        " is there"), .severity = 2};
    struct mdb_status *s = logger ? logger->calls->log(&m) : NULL;
    if (s) {
        s->calls->destroy(s); /* a failing log must not prevent the start */
    }
}

static struct mdb_status *
initialize(const struct mdb_extension *x, const struct mdb_portal *portal)
{
    struct ext_home *home = home_of(x);
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status s = read_options(home, portal->calls->get_options(portal), &e);
    if (s != MRS_OK) {
        return s == MRS_DEAD ? ext_no_memory() : ext_error_of(home->mem, &e, "extensionOptions: ");
    }
    struct mdb_status *status = portal->calls->register_stage(portal, &home->descriptor);
    if (!ext_is_ok(status)) {
        return status;
    }
    log_start(home);
    return ext_ok();
}

static const struct mdb_extension_calls extension_calls = {initialize};

void
get_mongodb_extension_versions(struct mdb_versions *out)
{
    out->n = sizeof versions / sizeof *versions;
    out->version = versions;
}

struct mdb_status *
get_mongodb_extension(struct mdb_version chosen, const struct mdb_services *services, const struct mdb_extension **out)
{
    if (chosen.major != versions[0].major || chosen.minor != versions[0].minor) {
        return ext_misused(EXT_BAD_VERSION);
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct ext_home *home = mem ? mrs_zalloc(mem, sizeof *home) : NULL;
    if (!home) {
        mrs_mem_close(mem);
        return ext_no_memory();
    }
    *home = (struct ext_home){{&extension_calls, chosen}, {&ext_descriptor_calls}, services, mem, {0},
                              EXT_MEMORY_DEFAULT};
    mrs_buf_init(&home->options, mem, 2u * MRS_DOC_MAX);
    *out = &home->extension;
    return ext_ok();
}
