/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the summary of a run as text: the account of each step, the documents written, refused and left out, and
 * how to resume.
 *
 * Numbers are in columns; a column of zeros is not shown, except `before` and `after`, so that the account can be
 * checked by eye. */
#include "report.h"
#include "mongoreshape/inverse.h"
#include "mongoreshape/report_text.h"

#define N_COLUMNS 15
#define LONG      200 /* documents in an array; the same limit as in `inspect` */
#define LINE      (1u << 20) /* maximum length of a line */
#define LARGE     (15u << 20) /* a document to report: a new one of this size will hardly fit */

struct column {
    const char *title;
    size_t offset;
    bool always;
};
static const struct column columns[N_COLUMNS] = {
    {"before", offsetof(struct mrs_account, before), true},
    {"created", offsetof(struct mrs_account, created), false},
    {"entered", offsetof(struct mrs_account, entered), false},
    {"taken", offsetof(struct mrs_account, taken), false},
    {"dropped", offsetof(struct mrs_account, dropped), false},
    {"refused", offsetof(struct mrs_account, refused), false},
    {"after", offsetof(struct mrs_account, after), true},
    {"placed", offsetof(struct mrs_account, placed), false},
    {"failed", offsetof(struct mrs_account, failed), false},
    {"changed", offsetof(struct mrs_account, changed), false},
    {"once", offsetof(struct mrs_account, once), false},
    {"merged", offsetof(struct mrs_account, merged), false},
    {"references", offsetof(struct mrs_account, references), false},
    {"dangling", offsetof(struct mrs_account, dangling), false},
    {"groups", offsetof(struct mrs_account, groups), false},
};

static uint64_t
figure(const struct mrs_account *a, const struct column *c)
{
    uint64_t v;
    memcpy(&v, (const char *)a + c->offset, sizeof v);
    return v;
}

const struct mrs_step *
mrsi_report_step(const struct mrsi_job *job, uint32_t no)
{
    const struct mrs_plan *plan = job->plan;
    return plan && no > 0 && no <= plan->n_written ? &plan->written[no - 1] : NULL;
}

static void
account_step(FILE *f, const struct mrsi_job *job, const struct mrs_account *rows, uint32_t n)
{
    MRS_ASSERT(rows && n > 0);
    char text[32];
    int width[N_COLUMNS], names = 10;
    uint32_t no = rows->step;
    const struct mrs_step *step = mrsi_report_step(job, no);
    bool map = step && (step->desc.family == MRS_FAMILY_MAP || step->desc.family == MRS_FAMILY_WINDOW);
    for (int c = 0; c < N_COLUMNS; c++) {
        bool always = columns[c].always || (map && columns[c].offset == offsetof(struct mrs_account, changed));
        width[c] = always ? (int)strlen(columns[c].title) : 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t v = figure(&rows[i], &columns[c]);
            int digits = (int)strlen(mrs_text_count(v, text)),
                title = (int)strlen(columns[c].title);
            if (v || width[c]) {
                width[c] = width[c] > digits ? width[c] : digits;
                width[c] = width[c] > title ? width[c] : title;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        int len = (int)strlen(rows[i].ns);
        names = names > len ? names : len;
    }
    char head[64];
    snprintf(head, sizeof head, "step %u %.40s", no, step ? step->type->name : "");
    int left = (int)strlen(head) > names + 2 ? (int)strlen(head) : names + 2;
    mrs_say(f, "%-*s", left, head);
    for (int c = 0; c < N_COLUMNS; c++) {
        if (width[c]) {
            mrs_say(f, "  %*s", width[c], columns[c].title);
        }
    }
    fputc('\n', f);
    for (uint32_t i = 0; i < n; i++) {
        mrs_say(f, "  %-*s", left - 2, rows[i].ns);
        for (int c = 0; c < N_COLUMNS; c++) {
            if (width[c]) {
                mrs_say(f, "  %*s", width[c], mrs_text_count(figure(&rows[i], &columns[c]), text));
            }
        }
        fputc('\n', f);
    }
}

static void
account(FILE *f, const struct mrsi_job *job, const struct mrs_report *r)
{
    for (uint32_t i = 0, n; i < r->n_account; i += n) {
        for (n = 1; i + n < r->n_account && r->account[i + n].step == r->account[i].step; n++) {
        }
        account_step(f, job, &r->account[i], n);
    }
}

static void
written(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, bool dry)
{
    char count[32], size[32];
    uint32_t copied = 0;
    for (uint32_t i = 0; i < r->n_written; i++) {
        const struct mrs_written *w = &r->written[i];
        copied += w->copied;
        if (w->copied && !job->cli->verbose) {
            continue;
        }
        mrs_say(f, "  %s: %s document%s, %s%s%s\n", w->ns, mrs_text_count(w->docs, count),
                w->docs == 1 ? "" : "s", mrs_text_size(w->bytes, size),
                w->copied ? ", unchanged" : "",
                w->empty_now ? ", empty now: `drop_collection` would remove it" : "");
    }
    if (copied && !job->cli->verbose) {
        mrs_say(f, "  %u collection%s %s through unchanged\n", copied, copied == 1 ? "" : "s",
                dry ? "would pass" : "passed");
    }
}

static void
closing(FILE *f, const struct mrs_report *r)
{
    MRS_ASSERT(r->published);
    if (r->n_drop_first) {
        mrs_say(f, "before restoring over the old data, drop at the target:");
        for (uint32_t i = 0; i < r->n_drop_first; i++) {
            mrs_say(f, "%s %s", i ? "," : "", r->drop_first[i]);
        }
        fputc('\n', f);
    }
    if (r->restore && *r->restore) {
        mrs_say(f, "restore with:\n  %s\n", r->restore);
    }
}

static void
timing(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, bool dry)
{
    MRS_ASSERT(dry || job->cli->output);
    char in[32], out[32], wall[32], sync[32], id[33];
    mrs_text_size(r->in_bytes, in);
    mrs_text_size(r->out_bytes, out);
    mrs_text_time(r->wall_ms, wall);
    mrs_text_time(r->sync_ms, sync);
    if (dry) {
        mrs_say(f, "nothing was written; read files of %s in %s, the output would have %s of BSON\n", in, wall, out);
    } else {
        mrs_say(f, "wrote %s of BSON to %s in %s (%s of it for the sync to disk), from files of %s\n", out,
                strcmp(job->cli->output, "-") == 0 ? "standard output" : job->cli->output, wall,
                sync, in);
    }
    if (job->cli->verbose && job->plan && job->plan->id_known) {
        mrs_plan_id_text(job->plan, id);
        mrs_say(f, "plan id %s\n", id);
    }
}

/* Prints a line made by report_text.h. */
static void
print_line(FILE *f, const char *before, struct mrs_buf *line)
{
    mrs_buf_byte(line, 0);
    mrs_say(f, "%s%s\n", before, line->bad ? "no memory for this line" : (const char *)line->p);
    mrs_buf_reset(line);
}

static const struct mrs_step *
step_of(const struct mrs_plan *plan, uint32_t no)
{
    uint32_t i = 0;
    while (i < plan->n_steps && plan->steps[i].no != no) {
        i++;
    }
    return i < plan->n_steps ? &plan->steps[i] : NULL;
}

/* Documents with one `_id`: do all of them survive, or one for each? Once for each step that moves documents. */
static void
conflicts(FILE *f, const struct mrsi_job *job, const struct mrs_report *r)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->n_refusal; i++) {
        const struct mrs_refusal *k = &r->refusal[i];
        const struct mrs_step *st = step_of(job->plan, k->step);
        const struct mrs_step_type *t = st ? st->type : NULL;
        bool moves = t && t->spread && mrs_key_find(t->keys, t->n_keys, "from");
        if (!moves || k->step == last || strcmp(k->place, "conflicts") != 0) {
            continue;
        }
        last = k->step;
        mrs_say(f, "  to keep all of them, %s; to keep one of each, say `conflicts: first` or `last`\n",
                mrs_doc_get(st->body, "unique").type != MRS_MISSING
                    ? "leave out `unique` or name more fields there (of equal _ids say `id: new`)"
                : mrs_key_find(t->keys, t->n_keys, "id")
                    ? "say `id: new`"
                    : "give those of one collection other _ids in a step before this one, "
                      "`rekey: { in: COLLECTION, id: new, references: {...} }`");
    }
}

static void
refusals(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, bool dry)
{
    char count[32];
    struct mrs_buf line;
    mrs_buf_init(&line, job->cli->line.mem, LINE);
    if (r->refused) {
        mrs_say(f, "%s document%s %s refused%s%s\n", mrs_text_count(r->refused, count),
                r->refused == 1 ? "" : "s",
                dry               ? "would be"
                : r->refused == 1 ? "was"
                                  : "were",
                r->refused_file ? ": see " : "", r->refused_file ? r->refused_file : "");
    }
    uint64_t reported = 0;
    for (uint32_t i = 0; i < r->n_refusal; i++) {
        const struct mrs_refusal *k = &r->refusal[i];
        reported += k->count;
        mrs_text_refusal(k, &line);
        print_line(f, "  ", &line);
    }
    MRS_ASSERT(reported <= r->refused);
    mrs_buf_clear(&line);
    conflicts(f, job, r);
    if (reported < r->refused) {
        mrs_say(f, "  %s for other reasons\n", mrs_text_count(r->refused - reported, count));
    }
    if (r->refused_file && !mrs_file_is_stream(r->refused_file)) {
        mrs_say(f, "  (the same as text: %s.jsonl)\n", r->refused_file);
    }
}

/* What can be done about refused documents without which no output is written. */
static void
choices(FILE *f, const struct mrs_report *r)
{
    bool kept = r->refused_file && !mrs_file_is_stream(r->refused_file);
    if (r->refused) {
        mrs_say(f, "to go on, say in the plan what becomes of them (`errors`, `conflicts`, ...), or leave them out "
                "with --max-refused N%s%s%s\n",
                kept ? ", or correct them in a copy of " : "", kept ? r->refused_file : "",
                kept ? ".jsonl for --amend" : "");
    }
}

/* "order of documents, metadata" */
static void
kinds(FILE *f, unsigned bits)
{
    MRS_ASSERT(bits < 1u << MRS_LOSS_KINDS);
    const char *comma = "";
    for (uint32_t i = 0; i < MRS_LOSS_KINDS; i++) {
        if (bits & 1u << i) {
            mrs_say(f, "%s%s", comma, mrs_loss_word(i));
            comma = ", ";
        }
    }
}

static void
residue(FILE *f, const struct mrs_report *r)
{
    char size[32];
    if (!r->residue) {
        return;
    }
    mrs_say(f, "data that the inverse cannot restore are in %s, %s: ", r->residue,
            mrs_text_size(r->residue_bytes, size));
    kinds(f, r->residue_kinds);
    mrs_say(f, "%s\n", r->residue_kinds ? "" : "nothing");
    if (r->residue_unlisted) {
        mrs_say(f, "note: no loss that `invert` lists names this: ");
        kinds(f, r->residue_unlisted);
        fputc('\n', f);
    }
}

/* Problems for mongorestore. */
static void
of_result(FILE *f, const struct mrs_notice *x, struct mrs_buf *line)
{
    MRS_ASSERT(!x->step && x->index);
    char count[32];
    mrs_text_count(x->count, count);
    if (x->kind == MRS_NOTICE_UNSURE) {
        mrs_say(f, "note: only a server can say whether the result fits unique index %s of %s: %s\n", x->index, x->ns,
                x->why);
        return;
    }
    mrs_buf_printf(line, "a restore will fail: unique index %s of %s ", x->index, x->ns);
    if (x->kind == MRS_NOTICE_CLASH) {
        mrs_buf_printf(line, "has %s clash%s (", count, x->count == 1 ? "" : "es");
    } else {
        mrs_buf_printf(line, "cannot hold %s document%s with arrays in two of its fields (", count,
                       x->count == 1 ? "" : "s");
    }
    mrs_text_ids(&x->ids, x->count + (x->kind == MRS_NOTICE_CLASH), line);
    mrs_buf_printf(line, ")");
    print_line(f, "note: ", line);
}

/* check: what each name with a star matches. */
static void
patterns(FILE *f, const struct mrs_report *r)
{
    for (uint32_t i = 0; i < r->n_patterns; i++) {
        const struct mrs_pattern_fields *x = &r->patterns[i];
        mrs_say(f, "note: step %u, %s: `%s` fits", x->step, x->ns, x->pattern);
        for (uint32_t k = 0; k < x->n; k++) {
            mrs_say(f, "%s `%s`", k ? "," : "", x->path[k]);
        }
        mrs_say(f, "%s\n", x->more ? " and others" : "");
    }
}

/* check: a line for each path; else one for each step and collection. */
static void
unmet(FILE *f, const struct mrs_report *r, bool dry, struct mrs_buf *line)
{
    const struct mrs_unmet *before = NULL;
    for (uint32_t i = 0; i < r->n_unmet; i++) {
        const struct mrs_unmet *x = &r->unmet[i];
        MRS_ASSERT(x->step && (!before || before->step <= x->step));
        if (dry) {
            mrs_text_unmet(x, line);
            print_line(f, "note: ", line);
            continue;
        }
        bool same = before && before->step == x->step && strcmp(before->ns, x->ns) == 0;
        if (same) {
            mrs_say(f, ", `%s`", x->path);
        } else {
            fputs(before ? "\n" : "", f); /* not part of the message, which would be escaped */
            mrs_say(f, "note: step %u, %s: no document has `%s`", x->step, x->ns, x->path);
        }
        if (x->nearest && strcmp(x->nearest, x->path) == 0) {
            mrs_say(f, " (" MRS_TEXT_DOTTED ")");
        } else if (x->nearest) {
            mrs_say(f, " (`%s`?)", x->nearest);
        }
        before = x;
    }
    fputs(before ? "\n" : "", f);
}

static void
notices(FILE *f, const struct mrs_report *r, struct mrs_buf *line)
{
    char count[32];
    for (uint32_t i = 0; i < r->n_notice; i++) {
        const struct mrs_notice *x = &r->notice[i];
        if (!x->step) {
            of_result(f, x, line);
            continue;
        }
        mrs_text_notice(x, line);
        print_line(f, "note: ", line);
    }
    for (uint32_t i = 0; i < r->n_written; i++) {
        const struct mrs_written *w = &r->written[i];
        if (w->largest_id && w->largest > LARGE) {
            mrs_say(f, "note: %s: its largest document, _id %s, has %s of the 16 MiB that a server takes\n", w->ns,
                    *w->largest_id ? w->largest_id : "missing", mrs_text_size(w->largest, count));
        }
        if (w->longest_id && w->longest > LONG) {
            mrs_say(f, "note: %s: %s of document _id %s would hold %s documents; more than %d make a document slow to "
                       "read and write: `limit` and `overflow` of embed keep it short\n",
                    w->ns, w->longest_path, *w->longest_id ? w->longest_id : "missing",
                    mrs_text_count(w->longest, count), LONG);
        }
    }
}

/* Duplicate `_id`s in the input. */
static void
twins(FILE *f, const struct mrs_report *r, bool dry)
{
    char count[32];
    for (uint32_t i = 0; i < r->n_twins; i++) {
        const struct mrs_twins *x = &r->twins[i];
        mrs_say(f, "note: %s%s document%s of %s in the input %s the _id of an earlier one (first: %s): steps use each, "
                   "a server keeps one; `twins` decides, or a step before: set: { in: ..., fields: { _id: $_id }, "
                   "conflicts: first }\n",
                dry && x->stay ? "a restore will fail: " : "", mrs_text_count(x->count, count),
                x->count == 1 ? "" : "s", x->ns, x->count == 1 ? "has" : "have", x->id);
    }
}

/* The output and its temporary files. */
static void
disk(FILE *f, const struct mrs_report *r)
{
    char out[32], tmp[32];
    mrs_say(f, "a run needs %s of disk at OUT (less with --compress)", mrs_text_size(r->disk_bytes + r->refused_bytes,
                                                                                      out));
    if (r->temp_bytes) {
        mrs_say(f, " and up to %s for temporary files", mrs_text_size(r->temp_bytes, tmp));
    }
    fputc('\n', f);
}

void
mrsi_report_text(FILE *f, const struct mrsi_job *job, const struct mrs_report *r, bool dry)
{
    MRS_ASSERT(f && job->plan);
    struct mrs_buf line;
    mrs_buf_init(&line, job->cli->line.mem, LINE);
    account(f, job, r);
    if (r->n_written && (r->published || dry)) {
        mrs_say(f, "%s\n", dry ? "would write" : "written");
        written(f, job, r, dry);
    }
    for (uint32_t i = 0; i < r->n_notes; i++) {
        mrs_say(f, "note: %s\n", r->notes[i]);
    }
    patterns(f, r);
    unmet(f, r, dry, &line);
    notices(f, r, &line);
    mrs_buf_clear(&line);
    twins(f, r, dry);
    refusals(f, job, r, dry);
    residue(f, r);
    if (r->published || dry) {
        timing(f, job, r, dry);
        if (dry) {
            disk(f, r);
        }
    } else {
        mrs_say(f, "output not written\n");
        choices(f, r);
    }
    if (r->published && !job->cli->sample) {
        closing(f, r);
    }
}
