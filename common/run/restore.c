/* SPDX-License-Identifier: Apache-2.0 */
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
put_single(const struct mrsi_engine *en, const char *from, struct mrs_buf *out)
{
    const char *ns = en->opts->single_ns;
    size_t db = strcspn(ns, ".");
    mrs_buf_printf(out, " --db=");
    put_quoted(out, ns, db);
    mrs_buf_printf(out, " --collection=");
    put_quoted(out, ns + db + (ns[db] != 0), strlen(ns + db + (ns[db] != 0)));
    mrs_buf_byte(out, ' ');
    put_quoted(out, from, strlen(from));
}

/* A folder in a container has to be unpacked first; it is called dump there. */
static void
put_unpacking(const struct mrsi_engine *en, const char *to, struct mrs_buf *out)
{
    bool tar = en->shape.format == MRS_FORMAT_TAR, piped = strcmp(to, "-") == 0;
    mrs_buf_printf(out, !tar ? "unzip " : piped ? "tar -x" : "tar -xf ");
    if (!piped) {
        put_quoted(out, to, strlen(to));
    }
    mrs_buf_printf(out, " && mongorestore%s --dir='dump'", has_oplog(en) ? " --oplogReplay" : "");
}

static void
put_command(const struct mrsi_engine *en, struct mrs_buf *out)
{
    const char *to = en->opts->output;
    enum mrs_format format = en->shape.format;
    bool archive = format == MRS_FORMAT_ARCHIVE, bson = format == MRS_FORMAT_BSON;
    bool zstd = en->shape.codec == MRS_CODEC_ZSTD, piped = strcmp(to, "-") == 0;
    if (format == MRS_FORMAT_TAR || format == MRS_FORMAT_ZIP) {
        put_unpacking(en, to, out);
        mrs_buf_byte(out, 0);
        return;
    }
    if (zstd && (bson || archive)) {
        mrs_buf_printf(out, "zstd -dc ");
        if (!piped) {
            put_quoted(out, to, strlen(to));
            mrs_buf_byte(out, ' ');
        }
        mrs_buf_printf(out, "| ");
    } else if (zstd) {
        mrs_buf_printf(out, "find ");
        put_quoted(out, to, strlen(to));
        mrs_buf_printf(out, " -name '*.zst' -exec zstd -d --rm {} + && ");
    }
    mrs_buf_printf(out, "mongorestore%s", en->shape.codec == MRS_CODEC_GZIP ? " --gzip" : "");
    if (bson) {
        put_single(en, zstd ? "-" : to, out);
    } else {
        mrs_buf_printf(out, "%s%s", has_oplog(en) ? " --oplogReplay" : "", archive ? " --archive" : " --dir=");
        if (!archive || !(piped || zstd)) {
            mrs_buf_printf(out, archive ? "=" : "");
            put_quoted(out, to, strlen(to));
        }
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
