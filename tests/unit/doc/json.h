/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - documents of the tests, written as Extended JSON and read by libbson. */
#ifndef JSON_H
#define JSON_H

#include "nasty.h"

#include <bson/bson.h>

/* The bytes of a document; single quotes stand for double ones. Lives until json_free. */
static inline bson_t *
json_read(const char *text)
{
    char copy[4096];
    bson_error_t error;
    assert_true(strlen(text) < sizeof copy);
    size_t n = 0;
    for (; text[n]; n++) {
        copy[n] = text[n];
        if (copy[n] == '\'') {
            copy[n] = '"';
        }
    }
    bson_t *b = bson_new_from_json((const uint8_t *)copy, (ssize_t)n, &error);
    if (!b) {
        fail_msg("%s: %s", text, error.message);
    }
    return b;
}

static inline struct mrs_view
json_view(const bson_t *b)
{
    struct mrs_view d = {bson_get_data(b), b->len};
    return d;
}

/* Fails with both texts unless d is what `want` says. */
static inline void
json_check(struct mrs_view d, const char *want)
{
    bson_t *w = json_read(want), got;
    assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), MRS_OK);
    assert_true(bson_init_static(&got, d.p, d.n));
    if (w->len != d.n || memcmp(bson_get_data(w), d.p, d.n) != 0) {
        char *a = bson_as_canonical_extended_json(&got, NULL), *b = bson_as_canonical_extended_json(w, NULL);
        fail_msg("got  %s\nwant %s", a, b);
    }
    bson_destroy(w);
}

#endif
