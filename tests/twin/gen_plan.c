/* SPDX-License-Identifier: Apache-2.0 */
/* gen_plan.c - random valid plans of one to three steps for the data of gen.c.
 *
 * Possible values are taken from the tables of the plan language; plan errors are never made. The names of fields are
 * those that gen.c writes, so that plans mostly find something. */
#include "gen.h"

#include <string.h>

static const char *colls[32];
static uint32_t ncolls;
static struct world *here;

static void
say(struct val *d, const char *name, const char *word)
{
    tw_push(d, name, tw_string(word));
}

static bool first;       /* no step is made yet */
static uint32_t settled; /* collections that are there before the step that is made */

static const char *
any_coll(void)
{
    return colls[gen_below(ncolls)];
}

static const char *
other_coll(const char *than)
{
    const char *c;
    do
        c = any_coll();
    while (!strcmp(c, than));
    return c;
}

/* A target: new, or one that is there and is none of two. */
static const char *
target(const char *fresh, const char *not_this, const char *nor_this)
{
    const char *c = gen_chance(60) ? fresh : any_coll();
    if (!strcmp(c, not_this) || !strcmp(c, nor_this))
        c = fresh;
    while (!strcmp(c, not_this) || !strcmp(c, nor_this))
        c = tw_text("%s2", c);
    return c;
}

static void
known(const char *c)
{
    for (uint32_t i = 0; i < ncolls; i++)
        if (!strcmp(colls[i], c))
            return;
    colls[ncolls++] = c;
}

static void
gone(const char *c)
{
    for (uint32_t i = 0; i < ncolls; i++)
        if (!strcmp(colls[i], c))
            colls[i] = colls[--ncolls];
}

static struct val *
query(void)
{
    const char *f = gen_pick("k r n s t l.k e.n p");
    switch (gen_below(8)) {
    case 6: {
        struct val *far = gen_one("from", tw_string(colls[gen_below(ncolls < settled ? ncolls : settled)]));
        say(far, "field", gen_pick("k n s l.k e.n r _id"));
        if (gen_chance(30))
            tw_push(far, "where", query());
        return gen_one(gen_chance(30) ? "_id" : f, gen_one(gen_pick("$in $nin"), far));
    }
    case 0: return gen_one(f, gen_chance(50) ? tw_string("x") : tw_int32(1));
    case 1: return gen_one(f, gen_one(gen_pick("$gt $gte $lt $lte"), gen_chance(60) ? tw_int32(1) : tw_string("m")));
    case 2: return gen_one(f, gen_one("$in", gen_pair(tw_int32(1), tw_string("x"))));
    case 3: return gen_one(f, gen_one("$exists", tw_bool(gen_chance(70))));
    case 4: return gen_one(f, gen_one("$ne", tw_int32(1)));
    case 5: {
        struct val *sum = gen_one("$add", gen_pair(tw_string("$n"), tw_int32(1)));
        return gen_one("$expr", gen_one("$gt", gen_pair(sum, tw_int32(0))));
    }
    default: return gen_one("t", tw_string(gen_pick("car truck")));
    }
}

static struct val *
expression(void)
{
    switch (gen_below(12)) {
    case 0: return tw_string("$n");
    case 1: return gen_one("$add", gen_pair(tw_string("$n"), tw_int32(1)));
    case 2: return gen_one("$concat", gen_pair(tw_string("$s"), tw_string("!")));
    case 3: return gen_one("$toUpper", tw_string("$s"));
    case 4: return tw_string("$l.k");
    case 5: return tw_string("$e");
    case 6: return gen_one("$ifNull", gen_pair(tw_string("$k"), tw_string("none")));
    case 7: return gen_one("a", tw_string("$k"));
    case 8: return gen_pair(tw_string("$k"), tw_string("$n"));
    case 9: return gen_one("$eq", gen_pair(tw_string("$k"), tw_int32(1)));
    case 10: return tw_string("$e.n");
    default: return tw_string("fixed");
    }
}

static struct val *
field_map(void)
{
    struct val *d = gen_one(gen_pick("f1 f2 n"), expression());
    if (gen_chance(60))
        tw_push(d, gen_pick("g1 g2 h.a"), expression());
    if (gen_chance(20))
        tw_push(d, "h.b", expression());
    return d;
}

static void
shaping(struct val *d)
{
    switch (gen_below(8)) {
    case 0: tw_push(d, "fields", gen_words(gen_pick("k s n"))); break;
    case 1: tw_push(d, "fields", gen_words("k s n")); break;
    case 2: tw_push(d, "fields", gen_words(gen_chance(50) ? "e.n l.k s" : "s k _id")); break;
    case 3: tw_push(d, "fields", field_map()); break;
    default: break;
    }
    if (gen_chance(25))
        tw_push(d, "drop", gen_words(gen_chance(50) ? "k" : "e.r l.k x"));
}

static struct val *
sorting(void)
{
    struct val *d;
    switch (gen_below(7)) {
    case 0: return gen_one("n", tw_int32(1));
    case 1: return gen_one("s", tw_int32(-1));
    case 2: d = gen_one("n", tw_int32(-1)); tw_push(d, "_id", tw_int32(1)); return d;
    case 3: return gen_one("l.n", tw_int32(gen_chance(50) ? 1 : -1));
    case 4: d = gen_one("l.n", tw_int32(1)); tw_push(d, "l.k", tw_int32(-1)); return d;
    case 5: d = gen_one("p", tw_int32(1)); tw_push(d, "l.k", tw_int32(1)); return d;
    default: return gen_one("p", tw_int32(gen_chance(50) ? 1 : -1));
    }
}

static void
orphans(struct val *d, const char *from, const char *into, bool need)
{
    if (!need && !gen_chance(35))
        return;
    switch (gen_below(4)) {
    case 0: say(d, "orphans", "keep"); break;
    case 1: say(d, "orphans", "drop"); break;
    case 2: say(d, "orphans", "refuse"); break;
    default: {
        const char *c = target("orph", from, into);
        tw_push(d, "orphans", gen_one("into", tw_string(c)));
        known(c);
    }
    }
}

/* ---- embed */
static const char *
embed_match(struct val *d, bool *refers, bool *simple)
{
    const char *path = gen_pick("r r p p k l.r l.r e.r l.e.k l.l2.r");
    struct val *m = tw_array(), *p = tw_doc();
    *refers = false;
    *simple = true;
    switch (gen_below(10)) {
    case 0: case 1: case 2:
        tw_push(d, "match", gen_one(gen_pick("k r p l.r e.k n"), tw_string("_id")));
        return "_id";
    case 3: case 4: case 5: case 6:
        *refers = true;
        tw_push(d, "match", gen_one("_id", tw_string(path)));
        return path;
    case 7:
        tw_push(d, "match", gen_one(gen_pick("k r e.k"), tw_string(path)));
        if (gen_chance(60)) {
            *refers = true;
            say(d, "reference", "into");
        }
        return path;
    case 8:
        *simple = false;
        p = gen_one(gen_pick("k r p"), tw_string(gen_pick("k r _id")));
        tw_push(p, "t", tw_string("t"));
        tw_push(d, "match", p);
        return "";
    default:
        *simple = false;
        tw_push(p, "from", gen_chance(50) ? gen_one("$toUpper", tw_string("$s")) : tw_string("$k"));
        tw_push(p, "into", gen_chance(50) ? gen_one("$toUpper", tw_string("$s")) : tw_string("$r"));
        tw_append(m, p);
        tw_push(d, "match", m);
        return "";
    }
}

static void
embed_pages(struct val *d, const char *from, const char *into)
{
    struct val *o = tw_doc();
    const char *c = target("more", from, into);
    say(o, "into", c);
    tw_push(o, "size", tw_int32(1 + (int32_t)gen_below(2)));
    say(o, "ref", "pid");
    say(o, "number", "page");
    say(o, "items", "items");
    if (gen_chance(60))
        say(o, "flag", gen_pick("hasMore e.more n"));
    tw_push(d, "overflow", o);
    known(c);
}

static struct val *
embed(void)
{
    struct val *d = tw_doc();
    const char *from = any_coll(), *into = gen_chance(6) ? from : other_coll(from);
    bool self = from == into, refers, simple, place;
    say(d, "from", from);
    say(d, "into", into);
    const char *path = embed_match(d, &refers, &simple);
    place = refers && simple && gen_chance(30);
    const char *dot = strrchr(path, '.');
    if (place)
        say(d, "as", path);
    else if (dot && gen_chance(65))
        say(d, "as", tw_text("%.*s.%s", (int)(dot - path), path, gen_pick("z z y.w n")));
    else
        say(d, "as", gen_pick("z z y y k e.z l.z e.e.z"));
    place |= refers && simple && !strcmp(tw_str(tw_get(d, "as")), path);
    bool single = !place && gen_chance(25);
    if (single)
        tw_push(d, "one", tw_bool(true));
    shaping(d);
    if (!place && gen_chance(35))
        tw_push(d, "sort", sorting());
    if (!place && !single && gen_chance(30))
        tw_push(d, "limit", tw_int32(1 + (int32_t)gen_below(3)));
    if (!place && !single && gen_chance(20))
        embed_pages(d, from, into);
    if (gen_chance(30))
        say(d, "count", dot && gen_chance(40) ? tw_text("%.*s.cnt", (int)(dot - path), path)
                                             : gen_pick("cnt cnt e.cnt x"));
    if (!place && gen_chance(30))
        tw_push(d, "empty", single ? (gen_chance(50) ? tw_null() : tw_string("absent")) : tw_string("absent"));
    const char *keep = self ? "all" : gen_pick("unmatched unmatched all none");
    if (self || gen_chance(50))
        say(d, "keep", keep);
    bool none = tw_get(d, "keep") && !strcmp(keep, "none");
    if (gen_chance(25))
        tw_push(d, "where", query());
    if (!self)
        orphans(d, from, into, none);
    if (refers && simple && gen_chance(40))
        say(d, "dangling", gen_pick("keep drop null refuse"));
    if ((single || place) && gen_chance(60))
        say(d, "many", gen_pick("refuse first last"));
    if (gen_chance(25))
        say(d, "errors", gen_pick("refuse keep null drop"));
    if (gen_chance(30))
        tw_push(d, "replace", tw_bool(true));
    if (gen_chance(10))
        say(d, "nulls", "match");
    return d;
}

/* ---- extract */
static void
extract_leave(struct val *d)
{
    struct val *l = tw_doc();
    bool rest = gen_chance(40);
    tw_push(l, "limit", tw_int32(1 + (int32_t)gen_below(2)));
    if (gen_chance(50))
        tw_push(l, "sort", sorting());
    if (gen_chance(40))
        tw_push(l, "fields", gen_words("k s"));
    if (!rest && !tw_get(d, "pages") && gen_chance(40))
        tw_push(l, "id", tw_bool(true));
    tw_push(d, "leave", l);
    if (rest)
        say(d, "extracted", "rest");
}

static void
extract_pages(struct val *d)
{
    struct val *p = tw_doc();
    tw_push(p, "size", tw_int32(1 + (int32_t)gen_below(2)));
    say(p, "ref", "pid");
    say(p, "number", "page");
    say(p, "items", "items");
    if (gen_chance(50))
        say(p, "flag", gen_pick("hasMore y"));
    tw_push(d, "pages", p);
}

static void
extract_refs(struct val *d, const char *path, bool fields, bool leave, bool unique)
{
    const char *refs = gen_pick("parent parent parent child both none"), *dot = strrchr(path, '.');
    if (strcmp(refs, "parent") || gen_chance(30))
        say(d, "refs", refs);
    bool child = !strcmp(refs, "child") || !strcmp(refs, "both");
    if (!strcmp(refs, "parent") || !strcmp(refs, "both")) {
        say(d, "parent_ref", unique || gen_chance(85) ? "pid" : gen_pick("k r"));
        if (gen_chance(15))
            say(d, "parent_key", dot && path[0] == 'l' && gen_chance(50) ? "l.n" : gen_pick("n s k"));
    }
    if (child && (fields || leave || gen_chance(40)))
        say(d, "child_refs", dot && gen_chance(60) ? tw_text("%.*s.ids", (int)(dot - path), path) : "ids");
}

/* A document whose fields are the parts, or parts in parts; see tests/twin/gen.c for what lies where. */
static struct val *
extract_deep(void)
{
    struct val *d = tw_doc();
    const char *from = any_coll(), *into = target("parts", from, from);
    bool map = gen_chance(50), parent = gen_chance(70);
    say(d, "from", from);
    say(d, "path", map ? gen_pick("e e e.e l.e l p x") : gen_pick("l l e l.l2 e.l2 x"));
    say(d, "into", into);
    say(d, "refs", parent ? "parent" : "none");
    if (parent)
        say(d, "parent_ref", gen_chance(85) ? "pid" : gen_pick("k r"));
    if (gen_chance(40))
        say(d, "position", gen_chance(80) ? "pos" : "n");
    if (gen_chance(30))
        tw_push(d, "id", gen_chance(60)          ? tw_string("new")
                         : map && gen_chance(50) ? tw_string("$$NAME")
                                                 : gen_one("$ifNull", gen_pair(tw_string("$k"),
                                                                               tw_string("$$PARENT._id"))));
    if (gen_chance(30))
        say(d, "count", "cnt");
    if (gen_chance(25))
        tw_push(d, "drop", gen_words("s"));
    else if (gen_chance(40))
        tw_push(d, "fields", gen_one("w", tw_string(gen_pick(map ? "$$ELEMENTS $$NAME $$POSITION $$ROOT"
                                                                 : "$$ELEMENTS $$ELEMENTS.k $$POSITION $$ROOT"))));
    if (gen_chance(20))
        tw_push(d, "where", query());
    if (gen_chance(30))
        say(d, "conflicts", gen_pick("refuse first last"));
    if (gen_chance(25))
        tw_push(d, "replace", tw_bool(true));
    if (map) {
        say(d, "map", gen_pick("name name name s"));
    } else {
        struct val *n = gen_one("path", tw_string(gen_pick("l2 l2 e l e.l2 x")));
        if (parent || gen_chance(50))
            say(n, "parent_ref", gen_pick("up up k"));
        tw_push(d, "nested", n);
    }
    known(into);
    return d;
}

static struct val *
extract(void)
{
    if (gen_chance(25))
        return extract_deep();
    struct val *d = tw_doc();
    const char *from = any_coll(), *into = target("parts", from, from),
               *path = gen_pick("l l l p e k l.l2 l.e e.l2 e.e x");
    bool fields = gen_chance(12), unique = gen_chance(25), pages = !fields && !unique && gen_chance(15);
    bool leave = !fields && gen_chance(25);
    say(d, "from", from);
    if (fields)
        tw_push(d, "path", gen_one("fields", gen_words(gen_chance(50) ? "s n" : "t x e")));
    else
        say(d, "path", path);
    say(d, "into", into);
    if (pages)
        extract_pages(d);
    else
        extract_refs(d, fields ? "" : path, fields, leave, unique);
    if (leave)
        extract_leave(d);
    if (unique)
        tw_push(d, "unique", fields ? gen_words("s") : gen_words(gen_chance(50) ? "k" : "k n"));
    if (!unique && !pages && gen_chance(30))
        tw_push(d, "id", gen_chance(50) ? tw_string(gen_pick("keep new new"))
                                       : gen_one("$ifNull", gen_pair(tw_string("$k"), tw_string("$$PARENT._id"))));
    if (!unique && !pages && !fields && gen_chance(30))
        say(d, "position", gen_chance(80) ? "pos" : "n");
    if (gen_chance(30))
        say(d, "count", *path == 'e' || *path == 'x' || fields ? "cnt" : gen_pick("cnt cnt e.cnt x"));
    const bool value = gen_chance(15);
    if (value)
        say(d, "value", "v");
    if (gen_chance(25) && !unique && !value)
        shaping(d);
    else if (value && gen_chance(25)) /* a list without v would be a mistake of the plan */
        tw_push(d, "fields", gen_words("k s n v"));
    if (gen_chance(20))
        tw_push(d, "where", query());
    if (gen_chance(30))
        say(d, "conflicts", unique ? "refuse" : gen_pick("refuse first last"));
    if (gen_chance(15))
        say(d, "errors", gen_pick("refuse keep null drop"));
    if (gen_chance(25))
        tw_push(d, "replace", tw_bool(true));
    known(into);
    return d;
}

/* ---- copy */
static struct val *
copy(void)
{
    struct val *d = tw_doc();
    const char *from = any_coll(), *into = gen_chance(6) ? from : other_coll(from);
    const char *path = gen_pick("r r k p l.r l.r e.r l.l2.r l.e.k");
    bool self = from == into, to_id = gen_chance(15), root = !to_id && gen_chance(25);
    say(d, "from", from);
    say(d, "into", into);
    tw_push(d, "match", gen_one(gen_chance(70) && !to_id ? "_id" : gen_pick("k r"), tw_string(to_id ? "_id" : path)));
    bool map = gen_chance(50), as = gen_chance(40);
    tw_push(d, "fields", map ? gen_one("c1", expression()) : gen_words(gen_chance(50) ? "s n" : as ? "n e.n l.k"
                                                                       : "n"));
    if (map && gen_chance(60))
        tw_push(tw_get(d, "fields"), gen_pick("c2 n c3.a e.c"), expression());
    bool wrap = !root && !to_id && gen_chance(40);
    if (as)
        say(d, "as", wrap ? "info" : gen_pick("info info e.info s"));
    if (root)
        say(d, "at", "root");
    if (wrap)
        say(d, "wrap", "id");
    if (!root && !to_id && gen_chance(15))
        say(d, "refs", "drop");
    bool none = !self && gen_chance(20);
    if (none)
        say(d, "keep", "none");
    if (gen_chance(20))
        tw_push(d, "where", query());
    if (!self)
        orphans(d, from, into, none);
    if (!to_id && gen_chance(40))
        say(d, "dangling", gen_pick("keep drop null refuse"));
    bool some = gen_chance(35);
    if (some || gen_chance(15))
        say(d, "many", some ? gen_pick("first last") : "refuse");
    if (some && gen_chance(50))
        tw_push(d, "sort", sorting());
    if (gen_chance(25))
        say(d, "errors", gen_pick("refuse keep null drop"));
    if (gen_chance(map ? 40 : 75))
        tw_push(d, "replace", tw_bool(true));
    if (gen_chance(8))
        say(d, "nulls", "match");
    return d;
}

/* ---- rollup */
static struct val *
rollup(void)
{
    struct val *d = tw_doc(), *f = tw_doc();
    bool by = gen_chance(45), as = gen_chance(35);
    const char *from = any_coll(), *into = by ? "rolled" : gen_chance(6) ? from : other_coll(from);
    for (uint32_t i = 0; by && i < ncolls; i++)
        if (!strcmp(colls[i], into)) {
            into = tw_text("%s2", into);
            i = 0;
        }
    bool self = from == into;
    say(d, "from", from);
    say(d, "into", into);
    if (by)
        tw_push(d, "by", gen_rollup_key());
    else
        tw_push(d, "match", gen_rollup_match());
    if (as)
        say(d, "as", gen_pick(by ? "z y.w" : "z z y.w e.z l.z x n"));
    tw_push(f, gen_pick("f1 f1 z n e.f"), gen_accumulator(expression()));
    if (gen_chance(70))
        tw_push(f, gen_pick("f2 s h.a l.f"), gen_accumulator(expression()));
    if (gen_chance(50))
        tw_push(f, gen_pick("f3 h.b k"), gen_accumulator(expression()));
    tw_push(d, "fields", f);
    if (gen_chance(35))
        tw_push(d, "sort", sorting());
    if (gen_chance(25))
        tw_push(d, "where", query());
    if (gen_chance(40))
        say(d, "errors", gen_pick("refuse keep null drop"));
    const char *keep = self ? "all" : gen_pick("all all unmatched none");
    if (gen_chance(50))
        say(d, "keep", keep);
    bool none = tw_get(d, "keep") && !strcmp(keep, "none");
    if (by) {
        known(into);
        return d;
    }
    if (!self)
        orphans(d, from, into, none);
    if (gen_chance(30))
        say(d, "empty", gen_pick("values absent"));
    if (gen_chance(50))
        tw_push(d, "replace", tw_bool(true));
    if (gen_chance(10))
        say(d, "nulls", "match");
    return d;
}

/* ---- link */
static struct val *
link_refs(void)
{
    struct val *d = tw_doc();
    const char *parent = any_coll(), *child = gen_chance(20) ? parent : other_coll(parent);
    const char *lists = gen_pick("p p p r k kids l.k e.k e.kids l"), *refs;
    const char *derive = gen_pick("child_refs child_refs parent_ref both both");
    do
        refs = gen_pick("r r k p up e.r e.up l.r");
    while (!strcmp(refs, lists) || (*refs == *lists && (!refs[1] || !lists[1])));
    say(d, "parent", parent);
    say(d, "child", child);
    say(d, "parent_ref", refs);
    say(d, "child_refs", lists);
    say(d, "derive", derive);
    if (strcmp(derive, "parent_ref") && gen_chance(40))
        tw_push(d, "sort", sorting());
    if (strcmp(derive, "both") && gen_chance(35))
        say(d, "strip", strcmp(derive, "child_refs") ? "child_refs" : "parent_ref");
    if (gen_chance(65))
        say(d, "prefer", gen_pick("none parent child"));
    if (gen_chance(60))
        say(d, "dangling", gen_pick("keep drop null refuse"));
    if (parent != child)
        orphans(d, child, parent, false);
    return d;
}

static struct val *
rekey(void)
{
    const char *in = any_coll(), *other = other_coll(in), *into = gen_chance(50) ? target("merged", in, other) : NULL;
    struct val *d = gen_rekey(in, other, into, gen_chance(30) ? query() : NULL, query());
    if (into && tw_get(d, "merge"))
        known(into);
    return d;
}

/* ---- one document */
static struct val *
set(void)
{
    struct val *d = tw_doc(), *f = tw_doc();
    say(d, "in", any_coll());
    if (gen_chance(30))
        tw_push(d, "where", query());
    if (gen_chance(12)) {
        tw_push(f, "_id", gen_chance(50) ? gen_one("a", tw_string("$_id")) : tw_string(gen_pick("$k $n $e.k")));
        if (gen_chance(50))
            say(d, "conflicts", gen_chance(80) ? "refuse" : gen_pick("first last"));
    }
    tw_push(f, gen_pick("z n s e"), expression());
    if (gen_chance(60))
        tw_push(f, gen_pick("e.z l.z l.l2.z y.w l.n k"), gen_chance(10) ? tw_string("$$REMOVE") : expression());
    if (f->n > 1 && !strcmp(f->f[f->n - 2].name, "e") && f->f[f->n - 1].name[0] == 'e')
        f->n--;
    gen_set_patterns(d, f);
    tw_push(d, "fields", f);
    if (gen_chance(50))
        say(d, "errors", gen_pick("refuse keep null drop"));
    return d;
}

static struct val *
replace(void)
{
    struct val *d = tw_doc(), *f = tw_doc(), *both = tw_array();
    tw_push(f, gen_pick("z n s"), expression());
    tw_push(f, gen_pick("e k x"), gen_chance(50) ? tw_string("$_id") : expression());
    if (gen_chance(20))
        tw_push(f, "_id", tw_string(gen_pick("$_id $k $n")));
    tw_append(both, tw_string(gen_pick("$$ROOT $e")));
    tw_append(both, f);
    say(d, "in", any_coll());
    tw_push(d, "with", gen_chance(25)   ? tw_string(gen_pick("$e $x $$ROOT"))
                       : gen_chance(30) ? gen_one("$mergeObjects", both)
                                        : f);
    if (gen_chance(30))
        tw_push(d, "where", query());
    if (gen_chance(50))
        say(d, "errors", gen_pick("refuse keep"));
    return d;
}

static struct val *
unset(void)
{
    return gen_unset(any_coll(), gen_chance(20) ? query() : NULL);
}

static struct val *
rename_fields(void)
{
    return gen_rename(any_coll(), gen_chance(20) ? query() : NULL);
}

static struct val *
cast(void)
{
    return gen_cast(any_coll(), gen_chance(20) ? query() : NULL);
}

static struct val *
order(void)
{
    struct val *d = tw_doc();
    say(d, "in", any_coll());
    tw_push(d, "fields", gen_words(gen_chance(50) ? "s n x" : "k _id e"));
    if (gen_chance(20))
        tw_push(d, "where", query());
    return d;
}

static struct val *
pack(void)
{
    struct val *d = tw_doc(), *fields = gen_words(gen_pick("k n s* e* t* x"));
    const char *as = gen_pick("attrs attrs z l e.attrs l.q e.e.z");
    if (gen_chance(50))
        tw_append(fields, tw_string(gen_pick("r* p l2")));
    if (gen_chance(10))
        fields = gen_words("*");
    say(d, "in", any_coll());
    tw_push(d, "fields", fields);
    say(d, "as", as);
    if (gen_chance(30))
        say(d, "strip", gen_pick("s k n"));
    bool document = gen_chance(35);
    if (document)
        say(d, "form", "document");
    if (!document && gen_chance(20))
        say(d, "key", gen_pick("key n"));
    if (!document && gen_chance(20))
        say(d, "value", gen_pick("value w"));
    if (gen_chance(40))
        tw_push(d, "replace", tw_bool(true));
    if (gen_chance(20))
        tw_push(d, "where", query());
    return d;
}

/* Mostly the way back of a pack; else of an array that happens to be there. */
static struct val *
unpack_of(const struct val *packed)
{
    struct val *d = tw_doc();
    bool back = packed && gen_chance(85);
    say(d, "in", back ? tw_str(tw_get(packed, "in")) : any_coll());
    say(d, "as", back ? tw_str(tw_get(packed, "as")) : gen_pick("l e.l2 l.l2 p k e"));
    if (back ? tw_get(packed, "form") != NULL : gen_chance(35))
        say(d, "form", "document");
    if (back && tw_get(packed, "key") && gen_chance(95))
        say(d, "key", tw_str(tw_get(packed, "key")));
    if (back && tw_get(packed, "value") && gen_chance(95))
        say(d, "value", tw_str(tw_get(packed, "value")));
    if (gen_chance(40))
        say(d, "prefix", gen_pick("s k n _ x l e"));
    if (gen_chance(40))
        tw_push(d, "replace", tw_bool(true));
    if (gen_chance(20))
        tw_push(d, "where", query());
    return d;
}

static struct val *
unpack(void)
{
    return unpack_of(NULL);
}

/* ---- whole collections */
static void
conflict_policy(struct val *d)
{
    if (gen_chance(40))
        say(d, "conflicts", gen_pick("refuse first last"));
}

static struct val *
split(void)
{
    struct val *d = tw_doc();
    const char *from = any_coll(), *into = target("cold", from, from);
    say(d, "from", from);
    tw_push(d, "fields", gen_words(gen_chance(50) ? "s l" : "e x n"));
    say(d, "into", into);
    if (gen_chance(20))
        tw_push(d, "where", query());
    conflict_policy(d);
    known(into);
    return d;
}

static struct val *
move(void)
{
    struct val *d = tw_doc();
    const char *from = any_coll(), *into = target("moved", from, from);
    say(d, "from", from);
    say(d, "into", into);
    if (gen_chance(60))
        tw_push(d, "where", query());
    if (gen_chance(30))
        shaping(d);
    conflict_policy(d);
    known(into);
    return d;
}

static struct val *
unite(void)
{
    struct val *d = tw_doc(), *from;
    const char *a = any_coll(), *b = other_coll(a), *into = target("all", a, b);
    if (gen_chance(60)) {
        from = gen_one("car", tw_string(a));
        tw_push(from, "other", tw_string(b));
    } else {
        from = gen_pair(tw_string(a), tw_string(b));
    }
    tw_push(d, "from", from);
    say(d, "into", into);
    if (gen_chance(60)) {
        say(d, "tag", gen_pick("type type t"));
        if (gen_chance(40))
            tw_push(d, "replace", tw_bool(true));
    }
    if (gen_chance(20))
        tw_push(d, "where", query());
    conflict_policy(d);
    known(into);
    return d;
}

static struct val *
partition(void)
{
    struct val *d = tw_doc(), *into;
    const char *from = any_coll(), *a = target("p1", from, from), *b = target("p2", from, a);
    bool rest = gen_chance(15) && strcmp(from, "others");
    say(d, "from", from);
    say(d, "by", gen_pick("t t k e.k n"));
    bool names = first && gen_chance(30);
    if (names) {
        into = gen_one("*", tw_string(gen_pick("by_* * *_v")));
        tw_push(into, gen_pick("x car"), tw_string(a));
    } else if (gen_chance(50)) {
        into = gen_one("car", tw_string(a));
        tw_push(into, "x", tw_string(b));
    } else {
        struct val *p = gen_one("value", tw_int32(1));
        struct val *q = gen_one("value", gen_chance(50) ? tw_null() : tw_string("truck"));
        say(p, "into", a);
        say(q, "into", b);
        into = gen_pair(p, q);
    }
    tw_push(d, "into", into);
    if (gen_chance(50))
        tw_push(d, "drop", tw_bool(true));
    known(a);
    if (!names)
        known(b);
    if (rest) {
        tw_push(d, "others", gen_one("into", tw_string("others")));
        known("others");
    } else if (gen_chance(40)) {
        say(d, "others", gen_pick("keep drop refuse"));
    }
    if (gen_chance(20)) /* names are known before a collection can be asked */
        tw_push(d, "where", names ? gen_one("n", gen_one("$ne", tw_int32(1))) : query());
    conflict_policy(d);
    return d;
}

static struct val *
grid(void)
{
    struct val *d = tw_doc(), *by = tw_doc();
    static const char *const names[] = {"x", "k", "_id", "s"};
    const char *into = gen_chance(50) ? "grid" : any_coll();
    for (uint32_t n = 1 + gen_below(3), i = 0; i < n; i++) {
        struct val *v;
        if (gen_chance(50)) {
            v = gen_one("from", tw_string(any_coll()));
            say(v, "field", gen_pick("k r n t s p l.k e.n x _id"));
        } else {
            v = tw_array();
            for (uint32_t left = gen_below(4); left; left--)
                tw_append(v, gen_key());
        }
        tw_push(by, names[gen_chance(85) && i == 2 ? 3 : i], v);
    }
    say(d, "into", into);
    tw_push(d, "by", by);
    if (gen_chance(30)) {
        struct val *f = gen_one("a", tw_string("$x"));
        tw_push(f, gen_pick("b b.c _id"), gen_chance(50) ? tw_string("$k") : expression());
        tw_push(d, "fields", gen_chance(60) ? f : gen_words(gen_pick("k x _id")));
    }
    if (gen_chance(40))
        tw_push(d, "id", gen_chance(20) ? tw_string("new") : gen_chance(60) ? tw_string(gen_pick("$x $k")) :
                expression());
    conflict_policy(d);
    known(into);
    return d;
}

static struct val *
whole(const char *what, const char **name)
{
    struct val *d = tw_doc();
    const char *c = any_coll();
    *name = what;
    if (!strcmp(what, "delete")) {
        say(d, "in", c);
        tw_push(d, "where", query());
        if (gen_chance(40))
            say(d, "errors", gen_pick("refuse keep"));
    } else if (!strcmp(what, "drop_collection")) {
        say(d, "in", c);
        gone(c);
    } else {
        const char *fresh = tw_text("renamed%u", ncolls);
        for (uint32_t i = 0; i < ncolls; i++) {
            if (!strcmp(colls[i], fresh)) {
                fresh = tw_text("%sx", fresh);
                i = 0;
            }
        }
        say(d, "from", c);
        say(d, "into", fresh);
        gone(c);
        known(fresh);
    }
    return d;
}

static struct val *
tree(void)
{
    struct val *d = gen_tree(here, any_coll(), gen_chance(15) ? query() : NULL);
    known(tw_str(tw_get(d, "in")));
    return d;
}

static struct val *
window(void)
{
    struct val *d = gen_window(here, any_coll(), gen_chance(20) ? query() : NULL);
    known(tw_str(tw_get(d, "in")));
    return d;
}

static struct val *
shape_of(uint32_t percent)
{
    struct val *d = tw_doc();
    if (gen_chance(percent))
        shaping(d);
    return d;
}

static struct val *
bucket(void)
{
    const char *from = any_coll(), *into = target("buckets", from, from);
    struct val *d = gen_bucket(here, from, into, shape_of(30), gen_chance(20) ? query() : NULL);
    known(into);
    return d;
}

static struct val *
unbucket_of(const struct val *made)
{
    const char *from = made ? tw_str(tw_get(made, "into")) : any_coll(), *into = target("single", from, from);
    struct val *d = gen_unbucket(made, from, into, shape_of(30), gen_chance(20) ? query() : NULL);
    known(into);
    return d;
}

static struct val *
unbucket(void)
{
    return unbucket_of(NULL);
}

/* Of steps that are mostly met behind another: that other. */
static const char *
first_of(const char *only)
{
    return only && !strcmp(only, "unpack") ? "pack" : only && !strcmp(only, "unbucket") ? "bucket" : only;
}

static struct val *
step(const char *only)
{
    static const struct {
        const char *name;
        struct val *(*make)(void);
        uint32_t weight;
    } kinds[] = {{"embed", embed, 10}, {"extract", extract, 9}, {"copy", copy, 8}, {"rollup", rollup, 6},
                 {"link", link_refs, 6}, {"rekey", rekey, 5}, {"set", set, 3}, {"replace", replace, 2},
                 {"unset", unset, 1}, {"rename", rename_fields, 2}, {"cast", cast, 2}, {"order", order, 1},
                 {"pack", pack, 2}, {"unpack", unpack, 1},
                 {"split", split, 2}, {"move", move, 3}, {"union", unite, 3}, {"partition", partition, 3},
                 {"grid", grid, 2}, {"tree", tree, 3}, {"window", window, 5}, {"bucket", bucket, 5},
                 {"unbucket", unbucket, 2}};
    uint32_t total = 2, n = sizeof kinds / sizeof *kinds;
    for (uint32_t i = 0; i < n; i++)
        if (only && !strcmp(only, kinds[i].name))
            return gen_one(only, kinds[i].make());
    for (uint32_t i = 0; i < n; i++)
        total += kinds[i].weight;
    uint32_t at = gen_below(total);
    for (uint32_t i = 0; i < n; i++) {
        if (at < kinds[i].weight)
            return gen_one(kinds[i].name, kinds[i].make());
        at -= kinds[i].weight;
    }
    const char *name = ncolls > 3 ? gen_pick("delete drop_collection rename_collection") : "delete";
    struct val *d = whole(name, &name);
    return gen_one(name, d);
}

struct val *
gen_plan(struct world *w, const char *only)
{
    struct val *plan = tw_doc(), *steps = tw_array();
    ncolls = 0;
    here = w;
    for (uint32_t i = 0; i < w->n; i++)
        known(w->c[i]->name);
    say(plan, "plan", "random");
    tw_push(plan, "version", tw_int32(2));
    if (gen_chance(50))
        say(plan, "database", "t");
    for (uint32_t n = gen_chance(60) ? 1 : 1 + gen_below(3), i = 0; i < n; i++) {
        settled = ncolls;
        first = !i;
        struct val *made = step(i ? NULL : first_of(only));
        tw_append(steps, made);
        if (!strcmp(made->f[0].name, "pack") && (gen_chance(40) || (only && !strcmp(only, "unpack"))))
            tw_append(steps, gen_one("unpack", unpack_of(made->f[0].v)));
        if (!strcmp(made->f[0].name, "bucket") && (gen_chance(40) || (only && !strcmp(only, "unbucket"))))
            tw_append(steps, gen_one("unbucket", unbucket_of(made->f[0].v)));
    }
    tw_push(plan, "steps", steps);
    return plan;
}
