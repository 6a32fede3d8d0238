/* SPDX-License-Identifier: Apache-2.0 */
/* op_hash.c - $hash, $hexHash: a digest of a text or of binary data.
 *
 * The digest of binary data ignores its subtype. A null input returns null before the algorithm is checked. */
#include "hashes.h"
#include "expr/support.h"
#include "mongoreshape/value.h"

enum { INPUT, ALGORITHM };

static void
xxh64(const uint8_t *p, size_t n, uint8_t *out)
{
    struct mrs_hash_run run;
    mrs_hash_run_begin(&run);
    mrs_hash_run_add(&run, p, n);
    uint64_t h = mrs_hash_run_end(&run);
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (uint8_t)(h >> (56 - 8 * i));
    }
}

static const struct algorithm {
    const char *name;
    void (*digest)(const uint8_t *p, size_t n, uint8_t *out);
    uint32_t bytes;
} ALGORITHMS[] = {{"md5", mrsi_md5, MRSI_MD5_BYTES}, {"sha256", mrsi_sha256, MRSI_SHA256_BYTES}, {"xxh64", xxh64, 8}};

static const struct algorithm *
algorithm_of(struct mrs_val v)
{
    for (size_t i = 0; i < sizeof ALGORITHMS / sizeof *ALGORITHMS; i++) {
        if (mrs_val_is_text(v, ALGORITHMS[i].name)) {
            return &ALGORITHMS[i];
        }
    }
    return NULL;
}

static enum mrs_status
no_algorithm(const struct mrs_expr *x, struct mrs_eval *ev)
{
    return mrsi_eval_error(x, ev, "'algorithm' must be one of md5, sha256, xxh64");
}

enum mrs_status
mrsi_hash_check(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val algorithm)
{
    return algorithm_of(algorithm) ? MRS_OK : no_algorithm(x, ev);
}

static enum mrs_status
hash(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool hex = x->op->variant;
    struct mrs_val input, name;
    uint8_t digest[MRSI_SHA256_BYTES];
    MRS_TRY(mrsi_arg(x, INPUT, ev, &input));
    if (mrsi_is_nullish(input)) {
        return mrsi_ret_null(out);
    }
    if (input.type != MRS_STRING && input.type != MRS_BINARY) {
        return mrsi_eval_error(x, ev, "input must be a string or binary data, not %s", mrs_type_name(input.type));
    }
    MRS_TRY(mrsi_arg(x, ALGORITHM, ev, &name));
    const struct algorithm *by = algorithm_of(name);
    if (!by) {
        return no_algorithm(x, ev);
    }
    uint32_t n = input.n - 5; /* four bytes of length, and a NUL or a subtype */
    MRS_TRY(mrsi_spend(ev, 1u + n / 64));
    by->digest(input.p + (input.type == MRS_STRING ? 4 : 5), n, digest);
    return hex ? mrsi_ret_hex(ev, digest, by->bytes, out) : mrsi_ret_binary(ev, digest, by->bytes, 0, out);
}

const struct mrs_op mrsi_ops_hash[] = {
    {.row = {"$hash", "string", MRSI_SINCE_8_3}, .eval = hash, .named = "input,algorithm", .since_8_3 = true},
    {.row = {"$hexHash", "string", MRSI_SINCE_8_3}, .eval = hash, .variant = true, .named = "input,algorithm",
     .since_8_3 = true},
    {.row = {NULL, NULL, NULL}},
};
