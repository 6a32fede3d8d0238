/* SPDX-License-Identifier: Apache-2.0 */
/* t_nodes.c - places of nodes: ways up and numbers of random forests against a walk from every node, of chains of a
 * few hundred thousand nodes in both directions, and intervals against a look at every pair. */
#include "run_test.h"
#include "run/tree/tree_pass.h"

enum { ID = 5 }; /* bytes of an int32 id with its type */

/* n nodes without relations; ids are their numbers. */
static enum mrs_status
begin(struct mrsi_tree_run *t, struct bare *b, uint32_t n, unsigned needs)
{
    enum mrs_status s = MRS_OK;
    memset(t, 0, sizeof *t);
    t->en = &b->en;
    t->n = n;
    t->needs = needs;
    mrsi_file_array_init(&t->bits, &b->en, 1, 4096);
    mrsi_file_array_init(&t->id_at, &b->en, 8, 4096);
    mrsi_file_array_init(&t->ids, &b->en, 1, 4096);
    mrsi_file_array_init(&t->named, &b->en, sizeof(struct mrsi_named), 4096);
    mrsi_file_array_init(&t->twice, &b->en, sizeof(uint32_t), 4096);
    mrsi_file_array_init(&t->childless, &b->en, sizeof(struct mrsi_childless), 4096);
    mrsi_index_init(&t->index, &b->en, 4096);
    mrsi_sorter_init(&t->ends, &b->en, 8192);
    mrsi_sorter_init(&t->orders, &b->en, 8192);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        uint8_t bits = MRSI_NODE, id[ID] = {MRS_INT32};
        uint64_t at = (uint64_t)i * ID;
        mrs_put32(id + 1, i);
        s = mrsi_file_array_put(&t->bits, &bits, &b->err);
        s = s == MRS_OK ? mrsi_file_array_put(&t->id_at, &at, &b->err) : s;
        s = s == MRS_OK ? mrsi_file_array_put_n(&t->ids, id, ID, &b->err) : s;
    }
    struct mrsi_file_array *arrays[] = {&t->bits, &t->id_at, &t->ids, &t->named, &t->twice};
    for (size_t i = 0; s == MRS_OK && i < sizeof arrays / sizeof *arrays; i++) {
        s = mrsi_file_array_end(arrays[i], &b->err);
    }
    return s == MRS_OK ? mrsi_tree_parents(t, &b->err) : s;
}

static void
end(struct mrsi_tree_run *t)
{
    struct mrsi_file_array *arrays[] = {&t->bits, &t->id_at, &t->ids, &t->named, &t->twice, &t->childless};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        mrsi_file_array_clear(arrays[i]);
    }
    mrsi_index_clear(&t->index);
    mrsi_sorter_clear(&t->ends);
    mrsi_sorter_clear(&t->orders);
    mrsi_mapped_mem_clear(&t->node);
    mrsi_mapped_mem_clear(&t->shared);
    mrsi_mapped_mem_clear(&t->numbers);
}

static void
check_against_walk(const struct mrsi_tree_run *t, const uint32_t *parent, const bool *out)
{
    uint64_t last = 0, good = 0;
    const struct mrsi_numbers *numbers = t->numbers.p;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct mrsi_tree_node *n = mrsi_node(t, i);
        uint32_t at = i, depth = 0;
        while (at != MRSI_NONE && !out[at] && depth <= t->n) {
            at = parent[at];
            depth++;
        }
        assert_int_equal(n->fate == MRSI_TREE_IN, at == MRSI_NONE);
        if (n->fate == MRSI_TREE_BELOW) { /* it names one above it that has a fault of its own */
            assert_int_equal(mrsi_node(t, n->way)->fate, MRSI_TREE_OUT);
        } else if (n->fate == MRSI_TREE_IN) {
            assert_int_equal(n->parent, parent[i]);
            assert_int_equal(n->depth, depth - 1);
            assert_int_equal(n->way, (depth - 1) * 4);
            assert_true(numbers[i].left < numbers[i].right);
            good++;
            last = numbers[i].right > last ? numbers[i].right : last;
            const struct mrsi_numbers *up = parent[i] == MRSI_NONE ? NULL : &numbers[parent[i]];
            assert_true(!up || (up->left < numbers[i].left && numbers[i].right < up->right));
        }
    }
    assert_int_equal(last, 2 * good); /* every number is there once */
}

static void
random_forests(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < 300; round++) {
        uint32_t n = 1 + (uint32_t)(roll(&seed) % 60), parent[64];
        bool out[64];
        struct mrsi_tree_run t;
        struct bare b;
        bare_begin(&b, 0, round & 1 ? 4096 : 1 << 20, 1);
        assert_int_equal(begin(&t, &b, n, MRS_TREE_NUMBERS | MRS_TREE_CHILDREN), MRS_OK);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t p = (uint32_t)(roll(&seed) % (round % 3 ? n : i + 1));
            parent[i] = p == i || roll(&seed) % 5 == 0 ? MRSI_NONE : p;
            out[i] = roll(&seed) % 25 == 0;
            mrsi_node(&t, i)->parent = parent[i];
            if (out[i]) {
                mrsi_tree_fault(&t, i, MRS_FAULT_READ, MRSI_NONE);
            }
        }
        assert_int_equal(mrsi_tree_ways(&t, &b.err), MRS_OK);
        assert_int_equal(mrsi_tree_children(&t, &b.err), MRS_OK);
        check_against_walk(&t, parent, out);
        end(&t);
        bare_end(&b);
    }
}

static void
deep_chains(void **state)
{
    enum { N = 300000 };
    (void)state;
    for (int way = 0; way < 3; way++) { /* root first, root last, a circle */
        struct mrsi_tree_run t;
        struct bare b;
        bare_begin(&b, 0, 1 << 20, 1);
        assert_int_equal(begin(&t, &b, N, MRS_TREE_NUMBERS), MRS_OK);
        for (uint32_t i = 0; i < N; i++) {
            mrsi_node(&t, i)->parent = way == 0 ? i - 1 : i + 1 < N ? i + 1 : way == 2 ? 0 : MRSI_NONE;
        }
        assert_int_equal(mrsi_tree_ways(&t, &b.err), MRS_OK);
        assert_int_equal(mrsi_tree_children(&t, &b.err), MRS_OK);
        const struct mrsi_numbers *numbers = t.numbers.p;
        for (uint32_t i = 0; i < N; i++) {
            uint32_t depth = way ? N - 1 - i : i;
            const struct mrsi_tree_node *n = mrsi_node(&t, i);
            assert_int_equal(n->fate, way == 2 ? MRSI_TREE_OUT : MRSI_TREE_IN);
            assert_true(way == 2 || (n->depth == depth && n->way == depth * 4 && numbers[i].left == depth + 1u &&
                                     numbers[i].right == 2u * N - depth));
        }
        end(&t);
        bare_end(&b);
    }
}

static void
intervals(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t n = 1 + (uint32_t)(roll(&seed) % 12), l[12], r[12];
        struct mrsi_tree_run t;
        struct bare b;
        bare_begin(&b, 0, round & 1 ? 4096 : 1 << 20, 1);
        assert_int_equal(begin(&t, &b, n, 0), MRS_OK);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t payload[2] = {i, 0};
            uint8_t key[4];
            l[i] = (uint32_t)(roll(&seed) % 60);
            r[i] = l[i] + 1 + (uint32_t)(roll(&seed) % (round % 4 ? 8 : 40));
            mrsi_put_be(key, l[i], 4);
            assert_int_equal(mrsi_sorter_put(&t.ends, key, 4, payload, sizeof payload, &b.err), MRS_OK);
            mrsi_put_be(key, r[i], 4);
            payload[1] = 1;
            assert_int_equal(mrsi_sorter_put(&t.ends, key, 4, payload, sizeof payload, &b.err), MRS_OK);
        }
        assert_int_equal(mrsi_tree_nest(&t, &b.err), MRS_OK);
        assert_int_equal(mrsi_tree_ways(&t, &b.err), MRS_OK);
        for (uint32_t i = 0; i < n; i++) {
            bool inside_bad = false, bad = false;
            for (uint32_t k = 0; k < n; k++) {
                for (uint32_t m = 0; m < n && m != k; m++) { /* each pair once */
                    bool apart = r[k] < l[m] || r[m] < l[k];
                    bool in = (l[k] < l[m] && r[m] < r[k]) || (l[m] < l[k] && r[k] < r[m]);
                    bool cross = !apart && !in;
                    bad |= cross && (k == i || m == i);
                    inside_bad |= cross && ((l[k] < l[i] && r[i] < r[k]) || (l[m] < l[i] && r[i] < r[m]));
                }
            }
            assert_int_equal(mrsi_node(&t, i)->fate, bad          ? MRSI_TREE_OUT
                                                     : inside_bad ? MRSI_TREE_BELOW
                                                                  : MRSI_TREE_IN);
        }
        end(&t);
        bare_end(&b);
    }
}

static void
cancelled(void **state)
{
    struct mrsi_tree_run t;
    struct bare b;
    int stop = 1;
    (void)state;
    bare_begin(&b, 0, 1 << 20, 1);
    assert_int_equal(begin(&t, &b, 10, MRS_TREE_NUMBERS), MRS_OK);
    b.opts.cancel = &stop;
    assert_int_equal(mrsi_tree_ways(&t, &b.err), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_CANCEL);
    end(&t);
    bare_end(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_forests), cmocka_unit_test(deep_chains),
                                       cmocka_unit_test(intervals), cmocka_unit_test(cancelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
