/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.c - the vectors for new ids of the contract, to check the twin itself. */
#include "gen.h"

#include <bson/bson.h>
#include <stdio.h>
#include <string.h>

static const char *const vectors[] = {
    "{\"ns\":\"blog.comments\",\"from\":\"blog.posts\",\"key\":1,\"path\":\"comments\",\"pos\":[2],\"id\":"
    "\"00000000ae3004621cd6bf9d\"}",
    "{\"ns\":\"blog.comments\",\"from\":\"blog.posts\",\"key\":1.0,\"path\":\"comments\",\"pos\":[2],\"id\":"
    "\"00000000ae3004621cd6bf9d\"}",
    "{\"ns\":\"blog.comments\",\"from\":\"blog.posts\",\"key\":{\"$numberDecimal\":\"1.00\"},\"path\":\"comments\","
    "\"pos\":[2],"
    "\"id\":\"00000000ae3004621cd6bf9d\"}",
    "{\"ns\":\"shop.payments\",\"from\":\"shop.customers\",\"key\":{\"$oid\":\"5f5e1000a1b2c3d4e5f60718\"},"
    "\"path\":\"Rentals.Payments\",\"pos\":[3,0],\"id\":\"5f5e1000d1b052635703f9ea\"}",
    "{\"ns\":\"school.courses\",\"from\":\"school.courses\",\"key\":[\"Math\",\"Science\"],\"path\":\"courses\","
    "\"pos\":[],"
    "\"id\":\"000000005d351f82d8d42504\"}",
    "{\"ns\":\"iot.packs\",\"from\":\"iot.readings\",\"key\":{\"sensorId\":7},\"path\":null,\"pos\":[1],"
    "\"id\":\"000000009e75669491fc7f93\"}",
    "{\"ns\":\"blog.comments_more\",\"from\":\"blog.posts\",\"key\":{\"$oid\":\"5f5e1000a1b2c3d4e5f60718\"},"
    "\"path\":\"comments\",\"pos\":[2],\"id\":\"5f5e10000f5c75d7dd28a975\"}",
    "{\"ns\":\"cinema.seats\",\"from\":\"cinema.seats\",\"key\":{\"hall\":\"A\",\"row\":1},\"path\":null,\"pos\":[],"
    "\"id\":\"00000000c772783f84b8e7a2\"}",
    "{\"ns\":\"w.stations\",\"from\":\"w.data\",\"key\":1,\"path\":[\"Airport\",\"State\"],\"pos\":[],"
    "\"id\":\"00000000440ce8a0321d8f5e\"}",
};

bool
gen_check_vectors(void)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        bson_t *b = bson_new_from_json((const uint8_t *)vectors[i], -1, NULL);
        struct val *d = b ? tw_parse(bson_get_data(b), b->len) : NULL, *pos = tw_array();
        if (!d)
            return false;
        for (uint32_t k = 0; k < tw_get(d, "pos")->n; k++)
            tw_append(pos, tw_int64(tw_num_int64(tw_get(d, "pos")->f[k].v)));
        struct val *id = tw_new_id(tw_str(tw_get(d, "ns")), tw_str(tw_get(d, "from")), tw_get(d, "key"),
                                   tw_get(d, "path"), pos, true);
        char hex[25];
        for (int k = 0; k < 12; k++)
            snprintf(hex + 2 * k, 3, "%02x", id->raw[k]);
        const char *want = tw_str(tw_get(d, "id"));
        if (strcmp(hex, want)) {
            printf("new id of vector %zu: want %s, got %s\n", i, want, hex);
            ok = false;
        }
        bson_destroy(b);
    }
    tw_free_all();
    return ok;
}
