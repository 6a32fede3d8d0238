/* SPDX-License-Identifier: Apache-2.0 */
/* field_names.c - the words in names, and how well a field name matches a collection. */
#include "field_names.h"
#include "field_words.h"
#include <ctype.h>
#include <strings.h>

static bool
among(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(word, *list) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- words ---- */
static bool
ends(const char *w, size_t n, const char *tail)
{
    size_t k = strlen(tail);
    return n > k && memcmp(w + n - k, tail, k) == 0;
}

static void
put(char *to, size_t size, const char *word)
{
    size_t n = strlen(word);
    n = n < size ? n : size - 1;
    memcpy(to, word, n);
    to[n] = 0;
}

static void
singular(char *w)
{
    static const char *const odd[][2] = {
        {"people", "person"}, {"children", "child"}, {"men", "man"},      {"women", "woman"},    {"indices", "index"},
        {"series", "series"}, {"news", "news"},      {"movies", "movie"}, {"cookies", "cookie"}, {"data", "data"}};
    size_t n = strlen(w);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        if (strcmp(w, odd[i][0]) == 0) {
            put(w, n + 1, odd[i][1]); /* no longer one exists */
            return;
        }
    }
    if (n < 4 || !ends(w, n, "s") || ends(w, n, "ss") || ends(w, n, "us") || ends(w, n, "is")) {
        if (strcmp(w, "ids") == 0) {
            w[2] = 0;
        }
        return;
    }
    if (ends(w, n, "ies") && n > 4) {
        put(w + n - 3, 2, "y");
    } else if (ends(w, n, "sses") || ends(w, n, "xes") || ends(w, n, "ches") || ends(w, n, "shes") ||
               ends(w, n, "uses")) {
        w[n - 2] = 0;
    } else {
        w[n - 1] = 0;
    }
}

static bool
begins_a_title(const struct mrsi_vocabulary *v, const char *w, size_t n)
{
    for (uint32_t i = 0; v && i < v->n; i++) {
        for (uint32_t k = 0; k < v->title[i].n; k++) {
            if (strncmp(v->title[i].word[k], w, n) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* "custkey": removes the id word at the end of a word, if the rest begins the name of a collection. */
static bool
cut_id(const struct mrsi_vocabulary *v, char *w)
{
    static const char *const tails[] = {"id", "key", "no", "code", "ref", "nr", "num", "number", "ids", "sk"};
    size_t n = strlen(w);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t k = strlen(tails[i]);
        if (n < k + 3 || strcmp(w + n - k, tails[i]) != 0) {
            continue;
        }
        bool title = begins_a_title(v, w, n - k);
        char last = w[n - k];
        w[n - k] = 0;
        if (title || (v && (among(w, roles) || among(w, persons) || among(w, own_words)))) {
            return true;
        }
        w[n - k] = last;
    }
    return false;
}

/* "createdby", "modifiedby": removes the suffix. */
static bool
cut_by(char *w)
{
    size_t n = strlen(w);
    if (n < 6 || strcmp(w + n - 2, "by") != 0 || (w[n - 3] != 'd' && w[n - 3] != 'n')) {
        return false;
    }
    put(w, 3, "by");
    return true;
}

static void
word(struct mrsi_name *out, const struct mrsi_vocabulary *v, bool whole, char **at, const char *p, size_t n)
{
    MRS_ASSERT(out->n <= MRSI_NAME_WORDS && (p || n == 0));
    if (n == 0 || n > 40 || out->n == MRSI_NAME_WORDS || (size_t)(out->room + sizeof out->room - *at) < n + 2) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        (*at)[i] = (char)tolower((unsigned char)p[i]);
    }
    (*at)[n] = 0;
    if (!whole && among(*at, id_words)) {
        out->id = true;
        return;
    }
    singular(*at);
    if (!whole && !cut_by(*at) && cut_id(v, *at)) {
        out->id = true;
    }
    out->word[out->n++] = *at;
    *at += strlen(*at) + 1;
}

void
mrsi_name_split(const char *text, const struct mrsi_vocabulary *v, bool whole, struct mrsi_name *out)
{
    MRS_ASSERT(text && out);
    char *at = out->room;
    const char *begin = text;
    out->n = 0;
    out->id = false;
    for (const char *p = text;; p++) {
        unsigned char c = (unsigned char)*p;
        bool letter = isalnum(c) || c >= 0x80;
        bool cut = !letter ||
                   (p > begin && isupper(c) && (islower((unsigned char)p[-1]) || isdigit((unsigned char)p[-1]))) ||
                   (p > begin && isupper(c) && isupper((unsigned char)p[-1]) && islower((unsigned char)p[1]));
        if (cut) {
            word(out, v, whole, &at, begin, (size_t)(p - begin));
            begin = letter ? p : p + 1;
        }
        if (!c) {
            return;
        }
    }
}

/* ---- statistics of all names of the input ---- */
static bool
has_word(const struct mrsi_name *n, const char *w)
{
    for (uint32_t i = 0; i < n->n; i++) {
        if (strcmp(n->word[i], w) == 0) {
            return true;
        }
    }
    return false;
}

static void
drop_word(struct mrsi_name *n, uint32_t at)
{
    memmove(&n->word[at], &n->word[at + 1], (n->n - at - 1) * sizeof(char *));
    n->n--;
}

static void
drop_fillers(struct mrsi_name *n)
{
    for (uint32_t i = 0; i < n->n && n->n > 1;) {
        if (among(n->word[i], fillers)) {
            drop_word(n, i);
        } else {
            i++;
        }
    }
}

/* Removes words that are in the names of all collections. */
static void
drop_common(struct mrsi_vocabulary *v)
{
    struct mrsi_name first;
    if (v->n < 3) {
        return;
    }
    first = v->title[0]; /* its words still point into v->title[0], which keeps them */
    for (uint32_t k = 0; k < first.n; k++) {
        bool all = true;
        for (uint32_t i = 1; i < v->n; i++) {
            all = all && has_word(&v->title[i], first.word[k]) && v->title[i].n > 1;
        }
        for (uint32_t i = v->n; all && first.n > 1 && i-- > 0;) {
            for (uint32_t j = 0; j < v->title[i].n; j++) {
                if (strcmp(v->title[i].word[j], first.word[k]) == 0) {
                    drop_word(&v->title[i], j);
                    break;
                }
            }
        }
    }
}

/* The first word of nine tenths of the fields. */
static void
prefix(const struct mrsi_collection *c, struct mrsi_name *out)
{
    struct mrsi_name first, name;
    uint32_t with = 0, of = 0;
    out->n = 0;
    for (uint32_t i = 0; i < c->paths; i++) {
        const struct mrsi_path *p = &c->path[i];
        if (p->ways != 1 || strcmp(p->text, "_id") == 0) {
            continue;
        }
        mrsi_name_split(p->last, NULL, true, &name);
        if (of++ == 0) {
            mrsi_name_split(p->last, NULL, true, &first);
        }
        with += name.n > 1 && first.n > 1 && strcmp(name.word[0], first.word[0]) == 0;
    }
    if (of >= 3 && with * 10 >= of * 9) {
        put(out->room, sizeof out->room, first.word[0]);
        out->word[0] = out->room;
        out->n = 1;
    }
}

/* ---- the name of a path ---- */
static const struct mrsi_name *
title(const struct mrsi_path *p, const struct mrsi_vocabulary *v)
{
    return &v->title[p->in->no];
}

static void
split_field(const struct mrsi_path *p, const char *field, const struct mrsi_vocabulary *v, struct mrsi_name *out)
{
    mrsi_name_split(field, v, false, out);
    const struct mrsi_name *pre = &v->prefix[p->in->no];
    if (pre->n && p->ways == 1 && out->n && strcmp(out->word[0], pre->word[0]) == 0 && (out->n > 1 || out->id)) {
        drop_word(out, 0);
    }
}

static void
split_path(const struct mrsi_path *p, const struct mrsi_vocabulary *v, struct mrsi_name *out)
{
    split_field(p, p->last, v, out);
    bool id = out->id || strcmp(p->last, "_id") == 0 || strcmp(p->last, "$id") == 0;
    for (const struct mrsi_path *up = p->parent; out->n == 0 && up; up = up->parent) {
        if (up->kind == MRSI_FIELD && strcmp(up->last, p->last) != 0) {
            split_field(up, up->last, v, out);
        }
    }
    out->id = id;
}

/* The words of a path: those of its last field, else those of its container. */
static void
name_of_path(const struct mrsi_path *p, const struct mrsi_vocabulary *v, struct mrsi_name *out)
{
    if (p->words) {
        *out = *p->words;
    } else {
        split_path(p, v, out);
    }
}

/* ---- similarity ---- */
/* Equal, or "especie" and "especy": the singular of a plural in -ies may be either. */
static bool
equal_words(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    return strcmp(a, b) == 0 || (n == m + 1 && n > 4 && strncmp(a, b, m - 1) == 0 && strcmp(a + n - 2, "ie") == 0 &&
                                 b[m - 1] == 'y') ||
           (m == n + 1 && equal_words(b, a));
}

static bool
ends_with(const struct mrsi_name *n, const struct mrsi_name *tail)
{
    MRS_ASSERT(n->n <= MRSI_NAME_WORDS && tail->n <= MRSI_NAME_WORDS);
    if (tail->n == 0 || n->n < tail->n) {
        return false;
    }
    for (uint32_t i = 0; i < tail->n; i++) {
        if (!equal_words(n->word[n->n - tail->n + i], tail->word[i])) {
            return false;
        }
    }
    return true;
}

static void
joined(const struct mrsi_name *n, char *out)
{
    size_t k = 0; /* the words fit: they are contiguous in a buffer of this size */
    for (uint32_t i = 0; i < n->n; i++) {
        size_t len = strlen(n->word[i]);
        memcpy(out + k, n->word[i], len);
        k += len;
    }
    out[k] = 0;
}

/* "cdemo" for customer_demographics: prefixes of all its words, in order. Tries all lengths of the first prefix. */
static bool
chains(const char *text, const struct mrsi_name *t)
{
    size_t took[MRSI_NAME_WORDS] = {0}, at = 0;
    uint32_t k = 0;
    if (t->n < 2 || strlen(text) < 3) {
        return false;
    }
    for (;;) {
        size_t n = took[k] + 1;
        if (k < t->n && text[at] && strncmp(text + at, t->word[k], n) == 0 && strlen(t->word[k]) >= n) {
            took[k] = n;
            if (k + 1 == t->n && !text[at + n]) {
                return true;
            }
            if (k + 1 < t->n) {
                at += n;
                took[++k] = 0;
            }
            continue;
        }
        if (k == 0) {
            return false;
        }
        k--;
        at -= took[k];
    }
}

/* "drv" for driver: its letters in order, beginning with the first. */
static bool
abbreviates(const char *w, const char *of)
{
    if (strlen(w) < 2 || strlen(w) >= strlen(of) || w[0] != of[0]) {
        return false;
    }
    for (; *w; w++, of++) {
        of = strchr(of, *w);
        if (!of) {
            return false;
        }
    }
    return true;
}

/* "haus" of "parkhaus": the last part of a compound is what it is. */
static bool
is_head_of(const char *w, const char *compound)
{
    size_t k = strlen(w);
    return k >= 4 && strlen(compound) >= k + 3 && ends(compound, strlen(compound), w);
}

static bool
has_any(const struct mrsi_name *n, const char *const *list)
{
    for (uint32_t i = 0; i < n->n; i++) {
        if (among(n->word[i], list)) {
            return true;
        }
    }
    return false;
}

static bool
has_same_word(const struct mrsi_name *a, const struct mrsi_name *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        if (strlen(a->word[i]) > 2 && has_word(b, a->word[i])) {
            return true;
        }
    }
    for (uint32_t i = 0; i < a->n && b->n; i++) { /* ship_via for shippers */
        size_t k = strlen(a->word[i]);
        if (k >= 4 && strncmp(b->word[b->n - 1], a->word[i], k) == 0) {
            return true;
        }
    }
    return a->n && b->n && (abbreviates(a->word[a->n - 1], b->word[b->n - 1]) ||
                            is_head_of(a->word[a->n - 1], b->word[b->n - 1]));
}

/* "taxon", "taxa"; "shelf", "shelve(s)"; "sessao", "sessoe(s)". */
static bool
is_other_plural(const char *a, const char *b)
{
    MRS_ASSERT(a && b);
    static const char *const endings[][2] = {{"on", "a"}, {"um", "a"},  {"us", "i"},  {"is", "e"},  {"ix", "ice"},
                                             {"a", "ae"}, {"f", "ve"},  {"fe", "ve"}, {"o", "oe"},  {"z", "zze"},
                                             {"ao", "oe"}, {"ao", "ae"}};
    size_t n = strlen(a), m = strlen(b);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t stem = n - strlen(endings[i][0]); /* if it has this ending */
        if (ends(a, n, endings[i][0]) && ends(b, m, endings[i][1]) && stem >= 3 && m - strlen(endings[i][1]) == stem &&
            memcmp(a, b, stem) == 0) {
            return true;
        }
    }
    return false;
}

/* "schaden", "schaeden": equal but for one umlaut, written with an e. */
static bool
is_umlaut_plural(const char *a, const char *b)
{
    MRS_ASSERT(a && b);
    size_t k = 0;
    while (a[k] && a[k] == b[k]) {
        k++;
    }
    return k > 0 && b[k] == 'e' && strchr("aou", b[k - 1]) && strlen(a) >= 4 && strcmp(a + k, b + k + 1) == 0;
}

/* Equal except for the last letter: a plural of another language (causale, causali). */
static bool
same_word(const char *a, const char *b)
{
    size_t n = strlen(a);
    return strcmp(a, b) == 0 || (n >= 5 && n == strlen(b) && memcmp(a, b, n - 1) == 0) ||
           is_other_plural(a, b) || is_umlaut_plural(a, b);
}

static bool
begins_other(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
    return least >= 3 && memcmp(a, b, least) == 0;
}

/* The number of common words in the names of two collections. */
uint32_t
mrsi_name_shared(const struct mrsi_collection *a, const struct mrsi_collection *b, const struct mrsi_vocabulary *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->title[a->no].n; i++) {
        n += has_word(&v->title[b->no], v->title[a->no].word[i]);
    }
    return n;
}

/* "adjuster", "interviewer": an agent noun, except for things with such names. */
static bool
does_something(const char *w)
{
    static const char *const things[] = {
        "order",     "number",  "center", "folder",     "server",    "letter",   "chapter",  "sensor",   "filter",
        "counter",   "tracker", "header", "paper",      "router",    "printer",  "scanner",  "register", "ledger",
        "error",     "color",   "floor",  "layer",      "offer",     "voucher",  "transfer", "poster",   "banner",
        "parameter", "factor",  "vector", "newsletter", "container", "trailer",  "quarter",  "cluster",  "semester",
        "monitor",   "meter",   "timer",  "trigger",    "pointer",   "computer", "sector",   "cover",    "manor",
        "master",    "matter",  "answer", "flower",     NULL};
    size_t n = strlen(w);
    return n >= 6 && (strcmp(w + n - 2, "er") == 0 || strcmp(w + n - 2, "or") == 0 || strcmp(w + n - 2, "ee") == 0) &&
           !among(w, things);
}

static bool
names_person(const char *w)
{
    for (const char *const *p = persons; *p; p++) {
        if (same_word(w, *p)) {
            return true;
        }
    }
    return false;
}

/* "autor", "autores", "autorzy": the word and an ending. */
static bool
has_form_of(const struct mrsi_name *n, const char *const *list)
{
    for (uint32_t i = 0; i < n->n; i++) {
        for (const char *const *r = list; *r; r++) {
            size_t k = strlen(*r);
            if (strncmp(n->word[i], *r, k) == 0 && strlen(n->word[i]) <= k + 5) {
                return true;
            }
        }
    }
    return false;
}

static bool
has_foreign_role(const struct mrsi_name *n)
{
    return has_form_of(n, foreign_roles) || (n->n > 1 && among(n->word[n->n - 1], foreign_by));
}

static bool
are_persons(const struct mrsi_name *t)
{
    return t->n && (names_person(t->word[t->n - 1]) || does_something(t->word[t->n - 1]));
}

static bool
is_id_name(const char *field)
{
    struct mrsi_name n;
    mrsi_name_split(field, NULL, true, &n);
    size_t len = strlen(field);
    return n.n == 0 || has_any(&n, id_words) || strcmp(field, "$id") == 0 ||
           (len > 2 && (strcmp(field + len - 2, "id") == 0 || strcmp(field + len - 2, "ID") == 0)) ||
           (len > 3 && strcmp(field + len - 3, "key") == 0);
}

static bool
is_measure_name(const char *field)
{
    struct mrsi_name n;
    mrsi_name_split(field, NULL, true, &n);
    size_t k = n.n ? strlen(n.word[n.n - 1]) : 0; /* "coursecount" */
    return n.n && (among(n.word[n.n - 1], measures) || (k > 5 && strcmp(n.word[n.n - 1] + k - 5, "count") == 0));
}

/* Each is compared with many others: splits them once. */
static bool
split_paths(struct mrsi_inspection *x, const struct mrsi_collection *c, const struct mrsi_vocabulary *v)
{
    for (uint32_t i = 0; i < c->paths; i++) {
        struct mrsi_path *p = &c->path[i];
        bool in_array = p->lists && p->kind == MRSI_FIELD;
        struct mrsi_name *names = p->hash ? mrs_arena_alloc(&x->arena, (in_array ? 3 : 2) * sizeof *names) : NULL;
        if (p->hash && !names) {
            return false;
        }
        if (names) {
            mrsi_name_split(p->last, v, false, &names[0]);
            split_path(p, v, &names[1]);
            p->named_id = is_id_name(p->last);
            p->named_measure = is_measure_name(p->last);
            p->last_words = &names[0];
            p->words = &names[1];
            if (in_array) {
                mrsi_name_split(p->parent->last, NULL, true, &names[2]);
                p->array_words = &names[2];
                p->of_persons = are_persons(&names[2]);
            }
        }
    }
    return true;
}

bool
mrsi_vocabulary_make(struct mrsi_inspection *x, struct mrsi_vocabulary *out)
{
    out->n = x->colls;
    out->title = mrs_arena_alloc(&x->arena, (x->colls + 1) * sizeof *out->title);
    out->prefix = mrs_arena_alloc(&x->arena, (x->colls + 1) * sizeof *out->prefix);
    out->persons = mrs_arena_alloc(&x->arena, (x->colls + 1) * sizeof *out->persons);
    if (!out->title || !out->prefix || !out->persons) {
        return false;
    }
    for (uint32_t i = 0; i < x->colls; i++) {
        mrsi_name_split(x->coll[i].name, NULL, true, &out->title[i]);
        drop_fillers(&out->title[i]);
        prefix(&x->coll[i], &out->prefix[i]);
    }
    drop_common(out);
    bool ok = true;
    for (uint32_t i = 0; ok && i < x->colls; i++) {
        out->persons[i] = are_persons(&out->title[i]);
        ok = split_paths(x, &x->coll[i], out);
    }
    return ok;
}

/* "PUlocationID" matches LocationID, however the words are split. */
static bool
ends_like(const char *name, const char *key)
{
    size_t n = strlen(name), k = strlen(key);
    return k >= 6 && n > k && strcasecmp(name + n - k, key) == 0 && !islower((unsigned char)name[n - k - 1]);
}

/* "BUKRS_VF" for BUKRS: the key's name and a suffix. */
static bool
begins_like(const char *name, const char *key)
{
    size_t k = strlen(key);
    return k >= 5 && strncmp(name, key, k) == 0 && name[k] == '_';
}

bool
mrsi_name_is_kind(const struct mrsi_name *value, const struct mrsi_name *t)
{
    MRS_ASSERT(value->n <= MRSI_NAME_WORDS && t->n <= MRSI_NAME_WORDS);
    if (value->n == 0 || t->n == 0) {
        return false;
    }
    const char *a = value->word[value->n - 1], *b = t->word[t->n - 1];
    size_t n = strlen(a), m = strlen(b);
    return equal_words(a, b) || same_word(a, b) || (n >= 5 && m > n && m <= n + 3 && memcmp(a, b, n) == 0);
}

bool
mrsi_name_is_own(const struct mrsi_path *p, const struct mrsi_vocabulary *v)
{
    struct mrsi_name n;
    char a[MRSI_NAME_ROOM], b[MRSI_NAME_ROOM];
    name_of_path(p, v, &n);
    joined(&n, a);
    joined(title(p, v), b);
    return p->ways == 1 && (strcmp(a, b) == 0 || (n.n == 0 && n.id));
}

/* "categoriaPai", "bovenliggende_categorie": the collection's name and a further word, in any language and position.
 * Only for text: numbers with such names may count or order something. */
static bool
names_own_kind(const struct mrsi_path *from, const struct mrsi_name *t, const struct mrsi_vocabulary *v)
{
    struct mrsi_name n;
    mrsi_name_split(from->last, v, false, &n);
    return from->count.n[MRSI_TEXT] * 2 > from->present && from->count.digits == 0 && n.n > 1 && t->n == 1 &&
           (same_word(n.word[0], t->word[0]) || same_word(n.word[n.n - 1], t->word[0]));
}

/* "oberrubrik", "supercategory": the collection's name in one word with what is above or below. */
static bool
is_above_own(const char *name, const char *title)
{
    static const char *const before[] = {"ober", "unter", "haupt", "super", "sub", "parent", "boven", "hoofd", "sur",
                                         "sopra", "sotto", "nad", "pod", "sous", NULL};
    for (const char *const *b = before; *b; b++) {
        size_t k = strlen(*b), n = strlen(name);
        if (n >= k + 4 && memcmp(name, *b, k) == 0 && strncmp(title, name + k, n - k) == 0 &&
            strlen(title) <= n - k + 3) { /* with the ending of a plural */
            return true;
        }
    }
    return false;
}

/* "code" of delays for delayCodes or delay_codes: the names of collection and field together. */
static bool
completes_title(const struct mrsi_path *from, const struct mrsi_path *key, const struct mrsi_vocabulary *v)
{
    MRS_ASSERT(from->in != key->in);
    char own[MRSI_NAME_ROOM];
    joined(title(from, v), own);
    const char *parts[] = {own, from->last}, *to = key->in->name;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(parts[i]);
        to += i && (*to == '_' || *to == '-');
        if (n < 2 || strncasecmp(to, parts[i], n) != 0) {
            return false;
        }
        to += n;
    }
    return from->ways == 1 && (*to == 0 || strcasecmp(to, "s") == 0 || strcasecmp(to, "es") == 0);
}

double
mrsi_name_score(const struct mrsi_path *from, const struct mrsi_path *key, const struct mrsi_vocabulary *v,
                double cover, bool unique)
{
    MRS_ASSERT(from != key);
    struct mrsi_name n;
    const struct mrsi_name *t = key->array_words ? key->array_words : title(key, v), *own = title(from, v);
    const struct mrsi_name *k = key->last_words;
    char a[MRSI_NAME_ROOM], b[MRSI_NAME_ROOM];
    bool persons_there = key->array_words ? key->of_persons : v->persons[key->in->no];
    name_of_path(from, v, &n);
    joined(&n, a);
    joined(t, b);
    bool self = from->in == key->in;
    if (!self && !key->lists && completes_title(from, key, v)) {
        return 1;
    }
    bool both_ids = key->lists && from->lists && from->last_words && from->last_words->n == 0; /* of subdocuments */
    if (both_ids || (mrsi_name_is_own(from, v) && strcmp(from->text, "_id") != 0)) {
        return 0;
    }
    if (n.n && !self &&
        (ends_with(&n, t) ||
         (strlen(a) >= strlen(b) && *b && strcmp(a + strlen(a) - strlen(b), b) == 0 && strlen(b) > 3))) {
        return 1;
    }
    if (!self && ((k && k->n && n.n && ends_with(&n, k)) || ends_like(from->last, key->last))) {
        return .95;
    }
    if (!self && (chains(a, t) || (n.n && chains(n.word[n.n - 1], t)))) {
        return .9;
    }
    if (t->n && among(t->word[t->n - 1], buyers) && has_any(&n, superiors)) {
        return 0;
    }
    bool related = persons_there && has_any(&n, relatives);
    bool superior = persons_there && (has_any(&n, ranks) || has_form_of(&n, foreign_ranks));
    if (self && (related || superior || has_any(&n, own_words) || has_form_of(&n, foreign_own) ||
                 is_above_own(a, b) || names_own_kind(from, t, v))) {
        return .85;
    }
    if (self) {
        bool other = n.id && n.n > t->n && !unique; /* "overflow_queue_id" of queues, not their "queue_id" */
        return !ends_with(&n, t) ? 0 : other ? .85 : .8;
    }
    if (n.n && t->n && same_word(n.word[n.n - 1], t->word[t->n - 1])) {
        bool other = n.n > 1 && t->n > 1; /* "discount_group" for material_groups */
        return other ? .65 : .8;
    }
    if (begins_like(from->last, key->last) || begins_other(a, b) ||
        (n.n && t->n && begins_other(n.word[n.n - 1], t->word[t->n - 1]))) {
        return .75;
    }
    if (persons_there && has_any(&n, roles) &&
        cover >= (has_any(&n, vague_roles) && !n.id && from->count.n[MRSI_NUMBER] ? .5 : .02)) {
        return among(t->word[t->n - 1], persons) ? .7 : .68; /* roles of persons first */
    }
    if ((related || (persons_there && (has_any(&n, persons) || has_foreign_role(&n)))) && cover >= .02) {
        return .7;
    }
    if (unique && own->n > t->n && t->n && strcmp(own->word[0], t->word[0]) == 0) {
        return .7;
    }
    return has_same_word(&n, t) ? .6 : 0;
}

/* The words of a field that distinguish it from others of its collection: without the common prefix of all, and without
 * the collection's own name, which is used for a field that is only named `id`. */
static void
own_name(const struct mrsi_path *p, const struct mrsi_vocabulary *v, struct mrsi_name *out)
{
    const struct mrsi_name *t = title(p, v);
    split_field(p, p->last, v, out);
    if (out->n > t->n && t->n && strcmp(out->word[0], t->word[0]) == 0) {
        drop_word(out, 0);
    }
    if (out->n == 0 && t->n && p->ways == 1) {
        out->word[out->n++] = t->word[t->n - 1];
    }
}

/* "parent_part" and part_no: puts the words before the common ones into `before`, and returns their number. -1: no
 * common words at the end. */
int
mrsi_name_before(const struct mrsi_path *p, const struct mrsi_path *q, const struct mrsi_vocabulary *v, char *before,
                 size_t size)
{
    MRS_ASSERT(before && size > 0);
    struct mrsi_name a, b, front;
    char room[MRSI_NAME_ROOM];
    *before = 0;
    if (strcmp(p->last, q->last) == 0) {
        return 0;
    }
    own_name(p, v, &a);
    own_name(q, v, &b);
    if (!ends_with(&a, &b)) {
        return -1;
    }
    front = a;
    front.n = a.n - b.n;
    joined(&front, room);
    put(before, size, room);
    return (int)front.n;
}

bool
mrsi_name_has_id(const struct mrsi_path *p)
{
    return p->words ? p->named_id : is_id_name(p->last);
}

bool
mrsi_name_is_measure(const struct mrsi_path *p)
{
    return p->words ? p->named_measure : is_measure_name(p->last);
}

/* A plural: for a number, a count. */
bool
mrsi_name_is_plural(const struct mrsi_path *p)
{
    struct mrsi_name n;
    size_t k = strlen(p->last);
    mrsi_name_split(p->last, NULL, true, &n);
    if (n.n == 0 || k < 4 || (p->last[k - 1] != 's' && p->last[k - 1] != 'S')) {
        return false;
    }
    size_t w = strlen(n.word[n.n - 1]);
    return n.word[n.n - 1][w - 1] != 's';
}

bool
mrsi_name_is_title(const struct mrsi_path *key, const struct mrsi_vocabulary *v)
{
    struct mrsi_name n;
    mrsi_name_split(key->last, v, false, &n);
    return n.n == 0 || ends_with(&n, title(key, v)) || ends_with(title(key, v), &n);
}

bool
mrsi_name_is_version(const char *name)
{
    MRS_ASSERT(name);
    static const char *const names[] = {"version", "schemaversion", "schema",       "docversion",    "v",
                                        "ver",     "schemaver",     "modelversion", "formatversion", NULL};
    struct mrsi_name n;
    char a[MRSI_NAME_ROOM];
    mrsi_name_split(name, NULL, true, &n);
    joined(&n, a);
    return among(a, names);
}
