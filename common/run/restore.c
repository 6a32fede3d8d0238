/* restore.c - the mongorestore command for what a run has written.
 *
 * People copy this line into a shell, so names are quoted for one, and what mongorestore needs to be told is in it:
 * gzip, an oplog that came through, a collection's name. It reads no zstd: there the line unpacks first. */
#include "internal.h"

/* Between single quotes everything but the quote itself is literal. */
static void
put_quoted(struct mrs_buf *out, const char *text, size_t n)
{
    mrs_buf_byte(out, '\'');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'') {
            mrs_buf_printf(out, "'\\''");
        } else {
            mrs_buf_byte(out, (uint8_t)text[i]);
        }
    }
    mrs_buf_byte(out, '\'');
}

static bool
has_codec(const struct mrsi_engine *en, enum mrs_codec codec)
{
    if (en->opts->compress.codec != MRS_CODEC_AS_INPUT) {
        return en->opts->compress.codec == codec;
    }
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        if (mrs_input_at(en->in, i)->codec == codec) {
            return true;
        }
    }
    return false;
}

static bool
has_oplog(const struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < mrs_input_count(en->in) && !en->drop_oplog; i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        if (in->kind == MRS_INPUT_EXTRA && strcmp(in->rel_path, "oplog.bson") == 0 && !in->empty_oplog) {
            return true;
        }
    }
    return false;
}

static void
put_command(const struct mrsi_engine *en, struct mrs_buf *out)
{
    const char *to = en->opts->output, *ns = en->opts->single_ns;
    bool zstd = has_codec(en, MRS_CODEC_ZSTD);
    if (zstd && ns) {
        mrs_buf_printf(out, "zstd -dc ");
        put_quoted(out, to, strlen(to));
        mrs_buf_printf(out, " | ");
    } else if (zstd) {
        mrs_buf_printf(out, "find ");
        put_quoted(out, to, strlen(to));
        mrs_buf_printf(out, " -name '*.zst' -exec zstd -d --rm {} + && ");
    }
    mrs_buf_printf(out, "mongorestore%s", has_codec(en, MRS_CODEC_GZIP) ? " --gzip" : "");
    if (ns) {
        size_t db = strcspn(ns, ".");
        mrs_buf_printf(out, " --db=");
        put_quoted(out, ns, db);
        mrs_buf_printf(out, " --collection=");
        put_quoted(out, ns + db + (ns[db] != 0), strlen(ns + db + (ns[db] != 0)));
        mrs_buf_byte(out, ' ');
        put_quoted(out, zstd ? "-" : to, strlen(zstd ? "-" : to));
    } else {
        mrs_buf_printf(out, "%s --dir=", has_oplog(en) ? " --oplogReplay" : "");
        put_quoted(out, to, strlen(to));
    }
    mrs_buf_byte(out, 0);
}

enum mrs_status
mrsi_put_restore(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_buf line;
    if (!en->opts->output) {
        return MRS_OK;
    }
    mrs_buf_init(&line, en->mem, MRS_DOC_MAX);
    put_command(en, &line);
    enum mrs_status s = mrs_buf_status(&line, e);
    if (s == MRS_OK) {
        en->report->restore = mrs_arena_copy(&en->report->arena, line.p, line.n);
        s = en->report->restore ? MRS_OK : mrs_err_memory(e, line.n);
    }
    mrs_buf_clear(&line);
    return s;
}
