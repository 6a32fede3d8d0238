/* optable.c - all operators in one enumeration.
 *
 * Each family of operators is a const table in its own file; here they are searched by name, walked for the
 * documentation, and asked for the name nearest to one that is not there, since most unknown operators of a
 * plan are misspelt known ones. Looked up while a plan is read only, so a linear search will do. */
#include "compile.h"

static const struct mrs_op *const FAMILIES[] = {
    mrsi_ops_arithmetic, mrsi_ops_power, mrsi_ops_total, mrsi_ops_compare, mrsi_ops_logic,
    mrsi_ops_string,     mrsi_ops_regex, mrsi_ops_array, mrsi_ops_set,     mrsi_ops_object,
    mrsi_ops_type,       mrsi_ops_date,  mrsi_ops_variable,
};
#define N_FAMILIES (sizeof FAMILIES / sizeof *FAMILIES)

const struct mrs_op *
mrsi_op_find(const char *name, uint32_t n)
{
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (const struct mrs_op *op = FAMILIES[f]; op->row.name; op++) {
            if (strlen(op->row.name) == n && memcmp(op->row.name, name, n) == 0) {
                return op;
            }
        }
    }
    return NULL;
}

const struct mrs_op_row *
mrs_op_rows(uint32_t i)
{
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (const struct mrs_op *op = FAMILIES[f]; op->row.name; op++) {
            if (i-- == 0) {
                return &op->row;
            }
        }
    }
    for (const struct mrs_op_row *row = mrsi_query_rows; row->name; row++) {
        if (i-- == 0) {
            return row;
        }
    }
    return NULL;
}

#define NAME_MAX_COMPARED 40

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Edits (insert, delete, replace, swap of neighbours) between two short names; letter case counts as nothing. */
static uint32_t
distance(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    uint32_t row[3][NAME_MAX_COMPARED + 1];
    for (uint32_t j = 0; j <= nb; j++) {
        row[0][j] = j;
    }
    for (uint32_t i = 1; i <= na; i++) {
        uint32_t *now = row[i % 3], *before = row[(i - 1) % 3], *older = row[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            uint32_t same = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            uint32_t best = before[j - 1] + same;
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) &&
                older[j - 2] + 1 < best) {
                best = older[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *
mrsi_op_nearest(const char *name, uint32_t n)
{
    const char *nearest = NULL;
    uint32_t least = n / 2;
    if (n > NAME_MAX_COMPARED) {
        return NULL;
    }
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (const struct mrs_op *op = FAMILIES[f]; op->row.name; op++) {
            uint32_t d = distance(name, n, op->row.name, (uint32_t)strlen(op->row.name));
            if (d < least) {
                least = d;
                nearest = op->row.name;
            }
        }
    }
    return nearest;
}
