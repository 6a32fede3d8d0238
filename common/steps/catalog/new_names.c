/* SPDX-License-Identifier: Apache-2.0 */
/* new_names.c - which names a server accepts for a new collection, and a plan can express.
 *
 * For names composed from a star or from values. Names in a plan are the author's, and names in a dump were accepted by
 * a server before. */
#include "catalog.h"
#include "mongoreshape/catalogue.h"
#include <strings.h>

const char *
mrs_catalog_check_name(const char *db, const char *coll)
{
    MRS_ASSERT(db && coll);
    size_t n = strlen(db), m = strlen(coll);
    if (m == 0) {
        return "is empty";
    }
    if (strchr(coll, '$')) {
        return "has a `$`";
    }
    if (strchr(coll, '*')) {
        return "has a star, which stands for any name in a plan"; /* a later drop of it would remove others */
    }
    if (strncmp(coll, "system.", 7) == 0) {
        return "begins with `system.`";
    }
    if (coll[0] == '.' || coll[m - 1] == '.') {
        return "has a dot at an end";
    }
    if (mrs_db_wrong(db, n)) {
        return "has no database that a server takes: 1 to 63 bytes without / \\ . \" $ and blanks";
    }
    return n + 1 + m > MRS_NS_MAX ? "is longer than 255 bytes with its database" : NULL;
}

void
mrsi_cat_note_other_case(struct mrs_catalog *c, const struct mrs_cat_coll *cc)
{
    MRS_ASSERT(cc->exists);
    for (uint32_t i = 0; cc->touched && i < mrs_catalog_count(c); i++) {
        const struct mrs_coll *other = &mrs_catalog_at(c, i)->coll;
        if (mrs_catalog_at(c, i)->exists && strcmp(other->db, cc->coll.db) != 0 &&
            strcasecmp(other->db, cc->coll.db) == 0) {
            mrs_catalog_note(c, MRS_NOTE_RESTORE_FAILS "the database %s of %s: there is %s, too, and a server takes no "
                                "two whose names differ in case alone", cc->coll.db, cc->coll.ns, other->db);
            return;
        }
    }
}
