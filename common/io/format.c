/* format.c - what a dump is as a whole: the words for it. */
#include "internal.h"

static const struct {
    const char *word;
    enum mrs_format format;
} words[] = {{"directory", MRS_FORMAT_DIRECTORY},
             {"bson", MRS_FORMAT_BSON},
             {"archive", MRS_FORMAT_ARCHIVE},
             {"tar", MRS_FORMAT_TAR},
             {"zip", MRS_FORMAT_ZIP}};

enum mrs_status
mrs_format_parse(const char *text, enum mrs_format *out, struct mrs_err *e)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *out = words[i].format;
            return MRS_OK;
        }
    }
    return MRSI_FAIL(e, MRS_E_USAGE, "unknown format '%s': directory, bson, archive, tar or zip", text);
}
