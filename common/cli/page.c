/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - a report as one HTML page: our template with the report inside, as data.
 *
 * The page is self-contained. No name in the data can end the element that holds them: `<` is written as an escape of
 * JSON, and so are the two line ends that JSON allows and JavaScript did not. */
#include "page_parts.h"
#include "mongoreshape/ejson.h"

static void
put_text(struct mrs_buf *out, const char *text)
{
    struct mrs_arena a;
    mrs_arena_init(&a, out->mem);
    struct mrs_val v = mrs_make_text(&a, text, (uint32_t)strlen(text));
    if (v.type == MRS_MISSING) {
        out->bad = 1;
    } else {
        mrs_ejson_write_val(v, false, out);
    }
    mrs_arena_clear(&a);
}

/* JSON in a form that is safe inside an element <script>. */
static void
put_escaped(struct mrs_buf *out, const uint8_t *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        bool line_end = p[i] == 0xE2 && i + 2 < n && p[i + 1] == 0x80 && (p[i + 2] == 0xA8 || p[i + 2] == 0xA9);
        if (p[i] != '<' && !line_end) {
            continue;
        }
        mrs_buf_put(out, p + from, i - from);
        mrs_buf_printf(out, "\\u%s", !line_end ? "003c" : p[i + 2] == 0xA8 ? "2028" : "2029");
        i += line_end ? 2 : 0;
        from = i + 1;
    }
    mrs_buf_put(out, p + from, n - from);
}

void
mrsi_page_put(struct mrs_buf *out, const struct mrsi_page *page)
{
    MRS_ASSERT(page->kind && mrs_buf_is_sound(out));
    struct mrs_buf data;
    mrs_buf_init(&data, out->mem, SIZE_MAX);
    mrs_buf_printf(&data, "{\"kind\":\"%s\",\"plan\":", page->kind);
    if (page->plan) {
        put_text(&data, page->plan);
    } else {
        mrs_buf_printf(&data, "null");
    }
    mrs_buf_printf(&data, ",\"report\":");
    mrs_buf_put(&data, page->report, page->n);
    mrs_buf_byte(&data, '}');
    out->bad |= data.bad;
    mrs_buf_put(out, mrsi_page_head, mrsi_page_head_n);
    put_escaped(out, data.p, data.n);
    mrs_buf_put(out, mrsi_page_tail, mrsi_page_tail_n);
    mrs_buf_clear(&data);
}
