/* SPDX-License-Identifier: Apache-2.0 */
/* repeats_text.c - changes of text that are idempotent, alone or nested.
 *
 * Each guarantees a property of its result: no capital letter, no blank at the ends, no occurrence of a text, a maximum
 * length. All of them hold for the final result if no later change breaks the property of an earlier one. A value that
 * was no text has become one by then. */
#include "repeats.h"
#include "expr/support.h"

enum change_kind { LOWER, UPPER, TRIM, REPLACE, BEGINNING };
struct text_change {
    enum change_kind kind;
    struct mrsi_text find, with; /* of REPLACE */
};
#define CHANGES_MAX 16

static bool
text_literal(const struct mrs_expr *x, struct mrsi_text *out)
{
    bool text = x && x->kind == MRSI_LITERAL && x->lit.type == MRS_STRING;
    *out = text ? mrsi_text_of(x->lit) : (struct mrsi_text){NULL, 0};
    return text;
}

/* Number of bytes between two characters of ASCII. */
static uint32_t
between(struct mrsi_text t, char least, char most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t.n; i++) {
        n += t.p[i] >= least && t.p[i] <= most;
    }
    return n;
}

/* Whether replacing by `with` can create no occurrence of the searched text: they share no byte and, if `with` is
 * empty, the searched text is a single character, which cannot span the gap. */
static bool
makes_none(struct mrsi_text with, struct mrsi_text find)
{
    bool none = with.n || mrsi_utf8_len((uint8_t)find.p[0]) == find.n;
    for (uint32_t i = 0; i < with.n && none; i++) {
        none = !memchr(find.p, with.p[i], find.n);
    }
    return none;
}

static bool
is_zero(const struct mrs_expr *x)
{
    int64_t n;
    return x->kind == MRSI_LITERAL && mrs_val_integral(x->lit, &n) && n == 0;
}

static bool
read_change(const struct mrs_expr *x, struct text_change *c)
{
    static const char *const trims[] = {"$trim", "$ltrim", "$rtrim", NULL};
    *c = (struct text_change){.kind = LOWER};
    if (mrsi_is_call(x, "$toLower") || mrsi_is_call(x, "$toUpper")) {
        c->kind = mrsi_is_call(x, "$toLower") ? LOWER : UPPER;
        return true;
    }
    if (mrsi_is_one_of(x, trims)) {
        c->kind = TRIM;
        return !x->args[1];
    }
    if (mrsi_is_call(x, "$substrCP")) {
        c->kind = BEGINNING;
        return is_zero(x->args[1]) && x->args[2]->kind == MRSI_LITERAL;
    }
    c->kind = REPLACE;
    return mrsi_is_call(x, "$replaceAll") && text_literal(x->args[1], &c->find) && text_literal(x->args[2], &c->with) &&
           c->find.n && makes_none(c->with, c->find);
}

/* Whether a later change preserves the property that an earlier one guarantees. */
static bool
leaves(const struct text_change *later, const struct text_change *earlier)
{
    switch (earlier->kind) {
    case LOWER:
        return later->kind != UPPER && !between(later->with, 'A', 'Z');
    case UPPER:
        return later->kind != LOWER && !between(later->with, 'a', 'z');
    case TRIM: /* the replacement has no blank */
        return later->kind == REPLACE ? later->with.n && between(later->with, '!', '~') == later->with.n
                                      : later->kind != BEGINNING;
    case REPLACE:
        return later->kind == LOWER     ? !between(earlier->find, 'a', 'z')
               : later->kind == UPPER   ? !between(earlier->find, 'A', 'Z')
               : later->kind == REPLACE ? makes_none(later->with, earlier->find)
                                        : true;
    case BEGINNING:
        return later->kind != REPLACE;
    }
    return false;
}

bool
mrsi_repeats_text(const struct mrs_expr *x, const struct mrsi_expr_spot *at)
{
    struct text_change list[CHANGES_MAX]; /* the last one first */
    uint32_t n = 0;
    bool all = true;
    while (all && !mrsi_only_same(x, at, mrs_type_bit(MRS_STRING))) {
        all = n < CHANGES_MAX && x->kind == MRSI_CALL && read_change(x, &list[n]);
        for (uint32_t i = 0; i < n && all; i++) {
            all = leaves(&list[i], &list[n]);
        }
        x = all ? x->args[0] : x;
        n++;
    }
    return all;
}
