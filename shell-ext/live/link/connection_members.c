/* SPDX-License-Identifier: Apache-2.0 */
/* connection_members.c - the hello replies of all members of the set.
 *
 * The driver's own monitoring queries all members at once, without a login, and waits a second at most; so a separate
 * client uses it: a member that hangs or dies delays nothing, and is not counted as a lost connection of the writing
 * client. Only the replies of the last round are returned. */
#include "connection_driver.h"

enum { MEMBERS_WAIT_MS = 1000, MEMBERS_ROUND_MS = 500 };

static enum mrs_status
connect_members(struct live_link *l, struct mrs_err *e)
{
    MRS_ASSERT(l->client);
    static const char *const waits[] = {MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_SOCKETTIMEOUTMS,
                                        MONGOC_URI_SERVERSELECTIONTIMEOUTMS};
    bson_error_t error;
    if (l->members) {
        return MRS_OK;
    }
    mongoc_uri_t *uri = mongoc_uri_copy(mongoc_client_get_uri(l->client));
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        mongoc_uri_set_option_as_int32(uri, waits[i], MEMBERS_WAIT_MS);
    }
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_HEARTBEATFREQUENCYMS, MEMBERS_ROUND_MS);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_SERVERSELECTIONTRYONCE, true);
    l->members = mongoc_client_new_from_uri_with_error(uri, &error);
    mongoc_uri_destroy(uri);
    return l->members ? MRS_OK : live_fault_report(l, "connect to the members", &error, NULL, NULL, e);
}

enum mrs_status
live_members(struct live_link *l, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    bson_error_t error;
    size_t n = 0;
    MRS_TRY(connect_members(l, e));
    /* the selected server is not used: selecting starts the round */
    mongoc_server_description_t *any = mongoc_client_select_server(l->members, true, NULL, &error);
    if (any) {
        mongoc_server_description_destroy(any);
    }
    mongoc_server_description_t **all = mongoc_client_get_server_descriptions(l->members, &n);
    for (size_t i = 0; i < n; i++) {
        const bson_t *hello = mongoc_server_description_hello_response(all[i]);
        bool known = strcmp(mongoc_server_description_type(all[i]), "Unknown") != 0;
        if (known && hello && mrs_doc_check(bson_get_data(hello), hello->len, MRS_DEPTH_READ, NULL) == MRS_OK) {
            mrs_buf_put(out, bson_get_data(hello), hello->len);
        }
    }
    mongoc_server_descriptions_destroy_all(all, n);
    return mrs_buf_status(out, e);
}
