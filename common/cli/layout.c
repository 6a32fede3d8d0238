/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - folding, sizes, counts and times for people. Knows nothing of the text it prints. */
#include "mongoreshape/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A message on its way to a file: one write each, since the error stream has no buffer and others may write there. */
struct message {
    FILE *to;
    size_t n;
    char text[1024];
};

static void
put_message(void *arg, const char *p, size_t n)
{
    struct message *m = arg;
    if (n > sizeof m->text - m->n) {
        fwrite(m->text, 1, m->n, m->to);
        m->n = 0;
    }
    if (n > sizeof m->text) {
        fwrite(p, 1, n, m->to);
    } else {
        memcpy(m->text + m->n, p, n);
        m->n += n;
    }
}

void
mrs_say(FILE *f, const char *fmt, ...)
{
    MRS_ASSERT(f && fmt);
    struct message m = {.to = f};
    struct mrs_say to = {put_message, &m};
    va_list args;
    va_start(args, fmt);
    mrs_say_args(&to, fmt, &args);
    va_end(args);
    fwrite(m.text, 1, m.n, f);
}

int
mrs_text_width(FILE *f)
{
    struct winsize w;
    if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &w) != 0 || w.ws_col == 0) {
        return MRS_TEXT_WIDTH;
    }
    return w.ws_col < 40 ? 40 : w.ws_col > 200 ? 200 : w.ws_col;
}

void
mrs_text_fold(FILE *f, const char *text, int indent, int col)
{
    MRS_ASSERT(f && text && indent >= 0);
    bool first = true;
    int width = mrs_text_width(f);
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!first && col + 1 + n > width) {
            fprintf(f, "\n%*s", indent, "");
            col = indent;
        } else if (!first) {
            fputc(' ', f);
            col++;
        }
        mrs_say(f, "%.*s", n, text);
        col += n;
        text += n;
        text += strspn(text, " ");
        first = false;
    }
    fputc('\n', f);
}

const char *
mrs_text_size(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    size_t unit = 0;
    while (v >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        v /= 1024;
        unit++;
    }
    snprintf(text, 32, unit && v < 100 ? "%.1f %s" : "%.0f %s", v, units[unit]);
    return text;
}

const char *
mrs_text_time(uint64_t ms, char text[32])
{
    uint64_t s = ms / 1000;
    if (s < 60) {
        snprintf(text, 32, "%.2f s", (double)ms / 1000);
    } else if (s < 3600) {
        snprintf(text, 32, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
    } else {
        snprintf(text, 32, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
    }
    return text;
}

bool
mrs_text_colour(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(fileno(f));
}
