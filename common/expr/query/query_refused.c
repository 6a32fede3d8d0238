/* SPDX-License-Identifier: Apache-2.0 */
/* query_refused.c - query operators of the server that no filter of a plan may use, each with the reason, and the
 * messages for unknown names in a filter. */
#include "query_build.h"
#include "expr/compile.h"

#define PLACE "it needs the geometry and the indexes of the server"
const struct mrs_op_row mrsi_query_refused[] = {
    {"$box", "refused query", PLACE},
    {"$center", "refused query", PLACE},
    {"$centerSphere", "refused query", PLACE},
    {"$geoIntersects", "refused query", PLACE},
    {"$geoWithin", "refused query", PLACE},
    {"$geometry", "refused query", PLACE},
    {"$jsonSchema", "refused query", "only a server checks documents against a schema; write the condition with $expr"},
    {"$maxDistance", "refused query", PLACE},
    {"$minDistance", "refused query", PLACE},
    {"$near", "refused query", PLACE},
    {"$nearSphere", "refused query", PLACE},
    {"$polygon", "refused query", PLACE},
    {"$rand", "refused query", "it gives another value each time, so a run could be neither repeated nor continued"},
    {"$sampleRate", "refused query",
     "it takes documents by chance, so a run could be neither repeated nor continued"},
    {"$text", "refused query", "it needs a text index of the server"},
    {"$where", "refused query", "it runs JavaScript on the server; write the condition with $expr"},
    {NULL, NULL, NULL},
};

static const char *
nearest(const struct mrs_elem *el)
{
    const char *best = NULL;
    uint32_t least = el->name_len / 2;
    for (const struct mrs_op_row *row = mrsi_query_rows; row->name; row++) {
        uint32_t d = mrs_word_distance(el->name, el->name_len, row->name, strlen(row->name));
        if (d < least) {
            least = d;
            best = row->name;
        }
    }
    return best;
}

/* Words of other query languages. */
static const char *
habit(const struct mrs_elem *el)
{
    static const char *const words[][2] = {
        {"$between", "write { $gte: from, $lte: to }"},
        {"$like", "write { $regex: \"^begin\" }"},
        {"$ilike", "write { $regex: text, $options: i }"},
        {"$contains", "write { $regex: text }, or of an array the element itself"},
        {"$startsWith", "write { $regex: \"^begin\" }"},
        {"$endsWith", "write { $regex: \"end$\" }"},
        {"$isNull", "write null, or { $exists: false } for what is missing"},
        {"$notIn", "write $nin"},
        {"$null", "write null"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (mrsi_text_is(el->name, el->name_len, words[i][0])) {
            return words[i][1];
        }
    }
    return NULL;
}

enum mrs_status
mrsi_query_unknown(const struct mrs_elem *el, bool top, struct mrs_err *e)
{
    const char *where = top ? "here" : "at a field", *near = nearest(el);
    for (const struct mrs_op_row *row = mrsi_query_refused; row->name; row++) {
        if (mrsi_text_is(el->name, el->name_len, row->name)) {
            return REFUSE(e, "%s cannot be used in a plan: %s", row->name, row->note);
        }
    }
    if (habit(el)) {
        return REFUSE(e, "there is no query operator %.60s %s: %s", el->name, where, habit(el));
    }
    if (near && !mrsi_text_is(el->name, el->name_len, near)) {
        return REFUSE(e, "there is no query operator %.60s %s: the nearest known one is %s", el->name, where, near);
    }
    if (near && top) {
        return REFUSE(e, "%.60s stands at a field, { a: { %.60s: ... } }; an expression stands in $expr, "
                      "{ $expr: { %.60s: ... } }", el->name, el->name, el->name);
    }
    return REFUSE(e, "there is no query operator %.60s %s", el->name, where);
}
