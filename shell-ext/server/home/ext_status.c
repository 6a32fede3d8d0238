/* SPDX-License-Identifier: Apache-2.0 */
/* ext_status.c - the statuses that our calls return.
 *
 * Statuses with memory are objects that the server may write; statuses that must work without memory are constants, for
 * which destroying and writing have no effect. */
#include "ext_home.h"

struct own_status {
    struct mdb_status face;
    struct mrs_mem *mem;
    int32_t code;
    char *text; /* NULL: none */
    size_t n;
};
struct fixed_status {
    struct mdb_status face;
    int32_t code;
    const char *text;
};

/* ---- constants ---- */
static void
fixed_destroy(struct mdb_status *s)
{
    (void)s;
}

static int32_t
fixed_code(const struct mdb_status *s)
{
    return ((const struct fixed_status *)(const void *)s)->code;
}

static struct mdb_bytes
fixed_reason(const struct mdb_status *s)
{
    return ext_text(((const struct fixed_status *)(const void *)s)->text);
}

static void
fixed_set_code(struct mdb_status *s, int32_t code)
{
    (void)s;
    (void)code;
}

static struct mdb_status *
fixed_set_reason(struct mdb_status *s, struct mdb_bytes reason)
{
    (void)s;
    (void)reason;
    return ext_ok();
}

static struct mdb_status *
fixed_clone(const struct mdb_status *s, struct mdb_status **out)
{
    *out = (struct mdb_status *)(uintptr_t)s;
    return ext_ok();
}

static const struct mdb_status_calls fixed_calls = {fixed_destroy,  fixed_code,       fixed_reason,
                                                    fixed_set_code, fixed_set_reason, fixed_clone};
static const struct fixed_status all_well = {{&fixed_calls}, 0, ""};
static const struct fixed_status no_memory = {
    {&fixed_calls}, EXT_CODE_MEMORY, EXT_STAGE ": out of memory: give the stage more `memory`, or the server"};
static const struct fixed_status misuses[] = {
    [EXT_NO_SOURCE] = {{&fixed_calls}, EXT_CODE_BASE + MRS_E_USAGE, EXT_STAGE ": there is no stage before it to take "
                                                                              "documents from"},
    [EXT_BAD_VERSION] = {{&fixed_calls}, EXT_CODE_BASE + MRS_E_USAGE,
                         "mongoreshape: the extension speaks version 1.0 of the extension interface only"},
    [EXT_WRONG_SIZE] = {{&fixed_calls}, EXT_CODE_BASE + MRS_E_USAGE,
                        EXT_STAGE ": the list to fill has not the size that was told"},
    [EXT_BAD_ANSWER] = {{&fixed_calls}, EXT_CODE_BASE + MRS_E_USAGE,
                        EXT_STAGE ": the stage before it gave neither a document nor an end"},
};
_Static_assert(sizeof misuses / sizeof *misuses == EXT_N_MISUSES, "a text for each");

static struct mdb_status *
constant(const struct fixed_status *s)
{
    return (struct mdb_status *)(uintptr_t)s; /* nothing writes to it */
}

struct mdb_status *
ext_ok(void)
{
    return constant(&all_well);
}

struct mdb_status *
ext_no_memory(void)
{
    return constant(&no_memory);
}

struct mdb_status *
ext_misused(enum ext_misuse what)
{
    return constant(&misuses[what]);
}

/* ---- with memory ---- */
static struct own_status *
own(struct mdb_status *s)
{
    return (struct own_status *)(void *)s;
}

static const struct own_status *
own_const(const struct mdb_status *s)
{
    return (const struct own_status *)(const void *)s;
}

static void
own_destroy(struct mdb_status *s)
{
    mrs_free(own(s)->mem, own(s)->text);
    mrs_free(own(s)->mem, s);
}

static int32_t
own_code(const struct mdb_status *s)
{
    return own_const(s)->code;
}

static struct mdb_bytes
own_reason(const struct mdb_status *s)
{
    return (struct mdb_bytes){(const uint8_t *)own_const(s)->text, own_const(s)->n};
}

static void
own_set_code(struct mdb_status *s, int32_t code)
{
    own(s)->code = code;
}

static struct mdb_status *
own_set_reason(struct mdb_status *s, struct mdb_bytes reason)
{
    MRS_ASSERT(reason.data || reason.len == 0);
    char *text = reason.len < SIZE_MAX / 2 ? mrs_strndup(own(s)->mem, reason.len ? (const char *)reason.data : "",
                                                        reason.len)
                                           : NULL;
    if (!text) {
        return ext_no_memory();
    }
    mrs_free(own(s)->mem, own(s)->text);
    own(s)->text = text;
    own(s)->n = reason.len;
    return ext_ok();
}

static struct mdb_status *
own_clone(const struct mdb_status *s, struct mdb_status **out)
{
    const struct own_status *o = own_const(s);
    *out = ext_error(o->mem, o->code, o->text ? o->text : "", o->n);
    return ext_ok();
}

static const struct mdb_status_calls own_calls = {own_destroy,  own_code,       own_reason,
                                                  own_set_code, own_set_reason, own_clone};

struct mdb_status *
ext_error(struct mrs_mem *mem, int32_t code, const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    struct own_status *s = mrs_zalloc(mem, sizeof *s);
    if (!s) {
        return ext_no_memory();
    }
    *s = (struct own_status){{&own_calls}, mem, code, mrs_strndup(mem, text, n), n};
    if (!s->text) {
        mrs_free(mem, s);
        return ext_no_memory();
    }
    return &s->face;
}

struct mdb_status *
ext_fresh(struct mrs_mem *mem)
{
    struct own_status *s = mrs_zalloc(mem, sizeof *s);
    if (!s) {
        return NULL;
    }
    *s = (struct own_status){.face = {&own_calls}, .mem = mem};
    return &s->face;
}

int32_t
ext_code(enum mrs_code code)
{
    return code == MRS_E_MEMORY ? EXT_CODE_MEMORY : EXT_CODE_BASE + (int32_t)code;
}

struct mdb_status *
ext_error_of(struct mrs_mem *mem, const struct mrs_err *e, const char *before)
{
    MRS_ASSERT(mem);
    char why[sizeof e->msg + sizeof e->where + sizeof e->ns + 64];
    struct mrs_buf text;
    mrs_buf_init(&text, mem, 1u << 20);
    mrs_buf_printf(&text, EXT_STAGE ": %s%s", before, mrs_err_text(e, why, sizeof why));
    struct mdb_status *s = text.bad ? ext_no_memory() : ext_error(mem, ext_code(e->code), (const char *)text.p, text.n);
    mrs_buf_clear(&text);
    return s;
}

bool
ext_is_ok(struct mdb_status *s)
{
    if (s && s->calls->get_code(s) != 0) {
        return false;
    }
    if (s) {
        s->calls->destroy(s);
    }
    return true;
}
