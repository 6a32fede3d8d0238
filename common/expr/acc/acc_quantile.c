/* SPDX-License-Identifier: Apache-2.0 */
/* acc_quantile.c - $median and $percentile.
 *
 * All numbers are kept as doubles, and the answer is exact: the value of rank ceil(p * n). A server does the same for
 * small groups and approximates large ones. */
#include "acc.h"
#include <math.h>

enum { SIZE = 8 };

static double
number_at(const struct mrs_acc_state *s, size_t i)
{
    double d;
    memcpy(&d, s->bytes.p + i * SIZE, SIZE);
    return d;
}

static void
put_at(const struct mrs_acc_state *s, size_t i, double d)
{
    memcpy(s->bytes.p + i * SIZE, &d, SIZE);
}

enum mrs_status
mrsi_acc_feed_quantile(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    double d = mrs_is_number(v) ? mrsi_to_double(v) : NAN;
    if (isnan(d)) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_acc_reserve(s, (s->bytes.n + SIZE) / 8, e)); /* numbers: none of them is written to the document */
    if (s->bytes.n + SIZE > s->ceiling) {
        return mrsi_acc_over(s, e);
    }
    mrs_buf_put(&s->bytes, &d, SIZE);
    return mrs_buf_status(&s->bytes, e);
}

static bool
before(double a, double b) /* -0.0 before 0.0, so that the result does not depend on the order of arrival */
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static void
settle(const struct mrs_acc_state *s, size_t at, size_t n)
{
    MRS_ASSERT(at <= n);
    double d = number_at(s, at);
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && before(number_at(s, child), number_at(s, child + 1))) {
            child++;
        }
        if (!before(d, number_at(s, child))) {
            break;
        }
        put_at(s, at, number_at(s, child));
        at = child;
    }
    put_at(s, at, d);
}

/* In place: the order of the stored numbers has no meaning. */
static void
sort_numbers(const struct mrs_acc_state *s, size_t n)
{
    size_t sorted = 1;
    while (sorted < n && !before(number_at(s, sorted), number_at(s, sorted - 1))) {
        sorted++;
    }
    if (sorted >= n) {
        return;
    }
    for (size_t i = n / 2; i-- > 0;) {
        settle(s, i, n);
    }
    for (size_t left = n; left-- > 1;) {
        double last = number_at(s, left);
        put_at(s, left, number_at(s, 0));
        put_at(s, 0, last);
        settle(s, 0, left);
    }
}

static enum mrs_status
at_rank(const struct mrs_acc_state *s, struct mrs_eval *ev, double p, struct mrs_val *out)
{
    size_t n = s->bytes.n / SIZE;
    if (!n) {
        return mrsi_ret_null(out);
    }
    return mrsi_ret_double(ev, number_at(s, mrsi_percentile_rank(n, p)), out);
}

enum mrs_status
mrsi_acc_value_quantile(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_list found = {0};
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_val p;
    sort_numbers(s, s->bytes.n / SIZE);
    if (!s->x->p) {
        return at_rank(s, ev, 0.5, out);
    }
    mrs_expr_constant(s->x->p, &p);
    mrs_walk_init(&w, mrs_val_view(p));
    while (mrs_walk_next(&w, &el) == 1) {
        struct mrs_val v;
        MRS_TRY(at_rank(s, ev, mrsi_to_double(el.v), &v));
        MRS_TRY(mrsi_list_add(ev, &found, v));
    }
    return mrsi_ret_array(ev, found.v, found.n, out);
}

void
mrsi_acc_save_quantile(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrs_build_text(b, "numbers", s->bytes.n ? (const char *)s->bytes.p : "", (uint32_t)s->bytes.n);
}

enum mrs_status
mrsi_acc_load_quantile(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_val v = mrs_doc_get(saved, "numbers");
    uint32_t n;
    if (v.type != MRS_STRING || (v.n - 5) % SIZE) {
        return mrsi_acc_damaged(s, e);
    }
    const char *bytes = mrs_val_text(v, &n);
    if (n > s->ceiling) {
        return mrsi_acc_over(s, e);
    }
    mrs_buf_put(&s->bytes, bytes, n);
    return mrs_buf_status(&s->bytes, e);
}
