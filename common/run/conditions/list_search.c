/* SPDX-License-Identifier: Apache-2.0 */
/* list_search.c - answers the conditions of kernels on other collections, and counts the results.
 *
 * Each worker has its own. Counts go into a row of the list, so a pass that restarts begins with the counts from before
 * it, like the account. */
#include "condition_lists.h"
#include "run/account/account.h"
#include "mongoreshape/condition.h"
#include "mongoreshape/lists.h"
#include "mongoreshape/words.h"
#include <stdio.h>

struct mrsi_list_search {
    struct mrs_lists lists; /* first */
    struct mrsi_worker *worker;
    struct mrs_buf key;
};

/* The types of values that can equal values of these types. */
static uint64_t
alike(uint64_t types)
{
    uint64_t numbers = mrsi_kind_bit(MRS_INT32) | mrsi_kind_bit(MRS_INT64) | mrsi_kind_bit(MRS_DOUBLE) |
                       mrsi_kind_bit(MRS_DECIMAL128);
    uint64_t texts = mrsi_kind_bit(MRS_STRING) | mrsi_kind_bit(MRS_SYMBOL);
    return types | (types & numbers ? numbers : 0) | (types & texts ? texts : 0);
}

/* Of the types that were searched, those that the list does not have; of an array its elements count. */
static uint64_t
unlike(uint64_t searched, const struct mrsi_row *list)
{
    uint64_t none = mrsi_kind_bit(MRS_ARRAY) | mrsi_kind_bit(MRS_NULL) | mrsi_kind_bit(MRS_UNDEFINED);
    return list->seen ? searched & ~(alike(list->seen) | none) : 0;
}

/* Has the list the text in small letters and without blanks around it? The other way round is not searched. */
static bool
has_folded(struct mrsi_list_search *a, uint32_t no, struct mrs_val v)
{
    char room[4 + MRSI_FOLDED + 1];
    uint32_t whole = 0, n = mrsi_fold_text(v, room + 4);
    const char *text = n ? mrs_val_text(v, &whole) : NULL;
    if (!text || (whole == n && memcmp(text, room + 4, n) == 0)) {
        return false;
    }
    mrs_put32((uint8_t *)room, n + 1);
    room[4 + n] = 0;
    mrs_buf_reset(&a->key);
    mrs_key_append(&a->key, (struct mrs_val){(const uint8_t *)room, 4 + n + 1, MRS_STRING}, false);
    return !a->key.bad && mrsi_value_list_has(&a->worker->en->list[no], a->key.p, a->key.n);
}

static enum mrs_status
has(struct mrs_lists *lists, uint32_t no, struct mrs_val v, bool *yes, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrsi_list_search *a = (struct mrsi_list_search *)lists;
    const struct mrsi_engine *en = a->worker->en;
    bool lacks = v.type == MRS_MISSING;
    mrs_buf_reset(&a->key);
    mrs_key_append(&a->key, lacks || v.type == MRS_UNDEFINED ? mrs_null() : v, false);
    if (a->key.bad) {
        return mrs_buf_status(&a->key, e);
    }
    *yes = mrsi_value_list_has(&en->list[no], a->key.p, a->key.n);
    if (a->worker->first_read) {
        struct mrsi_row *row = &a->worker->rows[en->list_row + no];
        row->found += *yes;
        row->searched_types |= lacks ? 0 : mrsi_kind_bit(mrsi_value_kind(v));
        row->lacking += lacks && *yes;
        row->outside += lacks && !*yes;
        row->unlike += !lacks && unlike(mrsi_kind_bit(mrsi_value_kind(v)), &en->rows[en->list_row + no]) != 0;
        row->nearly += !*yes && has_folded(a, no, v);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_conditions_new(struct mrsi_engine *en, struct mrs_err *e)
{
    if (!en->plan->n_lists) {
        return MRS_OK;
    }
    en->list = mrs_zalloc(en->mem, en->plan->n_lists * sizeof *en->list);
    en->search = mrs_zalloc(en->mem, en->jobs * sizeof *en->search);
    if (!en->list || !en->search) {
        return mrs_err_memory(e, en->plan->n_lists * sizeof *en->list);
    }
    for (uint32_t i = 0; i < en->jobs; i++) {
        en->search[i] = (struct mrsi_list_search){.lists = {has}, .worker = &en->worker[i]};
        mrs_buf_init(&en->search[i].key, en->mem, SIZE_MAX);
        en->worker[i].ctx.lists = &en->search[i].lists;
    }
    return MRS_OK;
}

void
mrsi_conditions_free(struct mrsi_engine *en)
{
    for (uint32_t i = 0; en->list && i < en->plan->n_lists; i++) {
        mrsi_value_list_clear(&en->list[i]);
    }
    for (uint32_t i = 0; en->search && i < en->jobs; i++) {
        mrs_buf_clear(&en->search[i].key);
    }
    mrs_free(en->mem, en->list);
    mrs_free(en->mem, en->search);
}

static const char *
of(const struct mrs_step *st, const struct mrs_condition *c)
{
    return c->of ? c->of : st->desc.sides[0].coll.ns;
}

/* "string, int" */
static void
type_names(uint64_t types, char *text, size_t size)
{
    MRS_ASSERT(size > 0);
    size_t at = 0;
    text[0] = 0;
    for (int bit = 0; bit < 64 && at < size; bit++) {
        uint8_t type = bit < 62 ? (uint8_t)bit : bit == 62 ? (uint8_t)MRS_MAXKEY : (uint8_t)MRS_MINKEY;
        if (types >> bit & 1) {
            int n = snprintf(text + at, size - at, "%s%s", at ? ", " : "", mrsi_kind_name(type));
            at += n > 0 ? (size_t)n : 0;
        }
    }
}

static bool
lacking_line(const struct mrs_step *st, const struct mrs_condition *c, const struct mrsi_row *row, char *line,
             size_t size)
{
    uint64_t n = c->not_in ? row->outside : row->lacking;
    if (n) {
        snprintf(line, size, "step %u, %s: %llu document%s of %.255s without %.200s fit%s `%s`: %s null among %.200s "
                 "of %.255s", st->no, st->type->name, (unsigned long long)n, n == 1 ? "" : "s",
                 of(st, c), c->path, n == 1 ? "s" : "", c->not_in ? "$nin" : "$in",
                 c->not_in ? "there is no" : "there is", c->field.text, c->from.ns);
    }
    return n != 0;
}

/* Nothing was found, or some values have types that the list does not have. */
static bool
types_line(const struct mrs_step *st, const struct mrs_condition *c, const struct mrsi_row *row, char *line,
           size_t size)
{
    MRS_ASSERT(size > 0);
    char here[160], there[160];
    unsigned long long n = row->unlike;
    if (!row->searched_types || !row->seen || (row->found && !n)) {
        return false;
    }
    type_names(row->found ? unlike(row->searched_types, row) : row->searched_types & ~mrsi_kind_bit(MRS_ARRAY), here,
               sizeof here);
    type_names(row->seen, there, sizeof there);
    if (row->found) {
        snprintf(line, size, "step %u, %s: %llu value%s of %.200s in %.255s %s of type %s, which no value of %.200s in "
                 "%.255s is: there %s; `cast` first if they mean the same", st->no, st->type->name, n,
                 n == 1 ? "" : "s", c->path, of(st, c), n == 1 ? "is" : "are", here, c->field.text, c->from.ns, there);
    } else {
        snprintf(line, size, "step %u, %s: no value of %.200s in %.255s is among %.200s of %.255s: here they are of "
                 "type %s, there %s", st->no, st->type->name, c->path, of(st, c), c->field.text, c->from.ns,
                 *here ? here : "array", there);
    }
    return true;
}

static bool
nearly_line(const struct mrs_step *st, const struct mrs_condition *c, const struct mrsi_row *row, char *line,
            size_t size)
{
    MRS_ASSERT(size > 0);
    if (row->nearly) {
        snprintf(line, size, "step %u, %s: %llu text%s of %.200s in %.255s would be among %.200s of %.255s in small "
                 "letters and without blanks around: `set` it so first if they mean the same", st->no, st->type->name,
                 (unsigned long long)row->nearly, row->nearly == 1 ? "" : "s", c->path, of(st, c), c->field.text,
                 c->from.ns);
    }
    return row->nearly != 0;
}

bool
mrsi_condition_line(const struct mrsi_engine *en, uint32_t step, uint32_t i, uint32_t no, char *line, size_t size)
{
    const struct mrs_step *st = &en->plan->steps[step];
    const struct mrs_condition *c = &st->desc.conditions[i];
    const struct mrsi_row *row = &en->rows[en->list_row + st->desc.first_list + i];
    return no == 0   ? lacking_line(st, c, row, line, size)
           : no == 1 ? types_line(st, c, row, line, size)
                     : nearly_line(st, c, row, line, size);
}
