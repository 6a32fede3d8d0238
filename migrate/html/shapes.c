/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c - the fields of a run's collections before and after it: paths and types of the first documents on each
 * side, in two columns on the page of a run. */
#include "shapes.h"
#include "mongoreshape/walk.h"

/* DEEP levels of documents and arrays, FIELDS paths: readable on a page. */
enum { DOCUMENTS = 100, FIELDS = 400, DEEP = 4, PATH = 240, TYPES = 24, COLLECTIONS = 200 };

struct shape_field {
    char path[PATH];
    uint32_t types; /* bits by index in fields_seen.type */
};
struct fields_seen {
    struct shape_field field[FIELDS];
    uint32_t n;
    uint8_t type[TYPES]; /* types found so far */
    uint32_t types;
};

static uint32_t
type_bit(struct fields_seen *s, uint8_t type)
{
    MRS_ASSERT(s->types <= TYPES);
    uint32_t i = 0;
    while (i < s->types && s->type[i] != type) {
        i++;
    }
    if (i == s->types && i < TYPES) {
        s->type[s->types++] = type;
    }
    return i < TYPES ? 1u << i : 0;
}

static void
meet(struct fields_seen *s, const char *path, uint8_t type)
{
    MRS_ASSERT(s->n <= FIELDS);
    uint32_t i = 0;
    while (i < s->n && strcmp(s->field[i].path, path) != 0) {
        i++;
    }
    if (i == FIELDS) {
        return;
    }
    if (i == s->n) {
        snprintf(s->field[s->n++].path, PATH, "%s", path);
    }
    s->field[i].types |= type_bit(s, type);
}

/* Collects the fields of a document in their order; elements of an array are one path, `tags[]`. */
static void
count_fields(struct fields_seen *s, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct {
        struct mrs_walk walk;
        size_t n; /* length of its path */
        bool array;
    } level[DEEP];
    char path[PATH] = "";
    struct mrs_elem e;
    int depth = 0;
    mrs_walk_init(&level[0].walk, doc);
    level[0].n = 0;
    level[0].array = false;
    while (depth >= 0) {
        size_t n = level[depth].n;
        if (mrs_walk_next(&level[depth].walk, &e) <= 0) {
            depth--;
            continue;
        }
        if (level[depth].array) {
            snprintf(path + n, PATH - n, "[]");
        } else {
            snprintf(path + n, PATH - n, "%s%.*s", n ? "." : "", (int)e.name_len, e.name);
        }
        meet(s, path, e.v.type);
        bool inner = e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY;
        if (inner && depth + 1 < DEEP && strlen(path) + 2 < PATH) {
            depth++;
            mrs_walk_init(&level[depth].walk, mrs_val_view(e.v));
            level[depth].n = strlen(path);
            level[depth].array = e.v.type == MRS_ARRAY;
        }
    }
}

static void
read_fields(struct mrs_mem *mem, struct fields_seen *s, struct mrs_input *in, const char *ns)
{
    struct mrs_block b;
    struct mrs_reader *r = NULL;
    uint32_t seen = 0;
    mrs_block_init(&b, mem);
    for (uint32_t i = 0; in && i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *at = mrs_input_at(in, i);
        if (at->kind != MRS_INPUT_DATA || !at->data_path || strcmp(at->ns, ns) != 0) {
            continue;
        }
        if (mrs_reader_open(in, i, 0, &r, NULL) == MRS_OK && mrs_reader_next(r, &b, NULL) == MRS_OK) {
            for (size_t off = 0; off < b.n && seen < DOCUMENTS; off += mrs_le32(b.p + off)) {
                struct mrs_view doc = {b.p + off, mrs_le32(b.p + off)};
                if (mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL) == MRS_OK) {
                    count_fields(s, doc);
                    seen++;
                }
            }
        }
        mrs_reader_close(r);
        break;
    }
    mrs_block_clear(&b);
}

static void
put_types(struct mrs_cli_json *j, const struct fields_seen *s, const struct shape_field *f)
{
    char text[TYPES * 24] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < s->types; i++) {
        if (f->types & 1u << i) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", mrs_type_name(s->type[i]));
        }
    }
    mrs_cli_json_text(j, "types", text);
}

static void
put_side(struct mrs_cli_json *j, const char *name, const struct fields_seen *s)
{
    mrs_cli_json_open(j, name, MRS_ARRAY);
    for (uint32_t i = 0; i < s->n; i++) {
        mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
        mrs_cli_json_text(j, "path", s->field[i].path);
        put_types(j, s, &s->field[i]);
        mrs_cli_json_close(j);
    }
    mrs_cli_json_close(j);
}

/* side: 0 before, 1 after. */
static void
put_collection(struct mrs_cli_json *j, struct mrs_input *const in[2], const char *ns)
{
    struct mrs_mem *mem = j->buf.mem;
    struct fields_seen *s = mrs_zalloc(mem, 2 * sizeof *s);
    if (!s) {
        j->buf.bad = 1;
        return;
    }
    read_fields(mem, &s[0], in[0], ns);
    read_fields(mem, &s[1], in[1], ns);
    mrs_cli_json_open(j, NULL, MRS_DOCUMENT);
    mrs_cli_json_text(j, "ns", ns);
    put_side(j, "before", &s[0]);
    put_side(j, "after", &s[1]);
    mrs_cli_json_close(j);
    mrs_free(mem, s);
}

void
mrsi_shapes(struct mrs_cli_json *j, struct mrs_input *before, struct mrs_input *after,
            const struct mrs_report *report)
{
    struct mrs_input *const in[2] = {before, after};
    uint32_t put = 0;
    mrs_cli_json_open(j, "shapes", MRS_ARRAY);
    for (uint32_t i = 0; i < report->n_account && put < COLLECTIONS; i++) {
        uint32_t k = 0;
        while (strcmp(report->account[k].ns, report->account[i].ns) != 0) {
            k++;
        }
        if (k == i) {
            put_collection(j, in, report->account[i].ns);
            put++;
        }
    }
    mrs_cli_json_close(j);
}
