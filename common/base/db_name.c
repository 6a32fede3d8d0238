/* SPDX-License-Identifier: Apache-2.0 */
/* db_name.c - the names that a server takes for a database. */
#include "mongoreshape/assert.h"
#include "mongoreshape/limits.h"
#include <string.h>

const char *
mrs_db_wrong(const char *db, size_t n)
{
    MRS_ASSERT(db || n == 0);
    if (n == 0) {
        return "a database needs a name";
    }
    if (n > MRS_DB_MAX) {
        return "names of databases have at most 63 bytes";
    }
    for (size_t i = 0; i < n; i++) {
        if (db[i] == 0 || strchr("/\\. \"$", db[i])) {
            return "names of databases hold none of / \\ . \" $, no space and no NUL";
        }
    }
    return NULL;
}
