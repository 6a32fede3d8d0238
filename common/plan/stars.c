/* SPDX-License-Identifier: Apache-2.0 */
/* stars.c - collection names with a star in a plan, and where they are allowed. */
#include "plan_internal.h"

/* ---- names ---- */
static const char *
text_of(struct mrs_val v, bool *star)
{
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n;
    bool listed = v.type == MRS_ARRAY;
    if (listed) {
        mrs_walk_init(&w, mrs_val_view(v));
        v = mrs_walk_next(&w, &e) == 1 ? e.v : mrs_missing();
    }
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    *star = text && !listed && strchr(text, '*');
    return text;
}

bool
mrs_star_fits(const char *pattern, const char *name)
{
    MRS_ASSERT(pattern && name);
    const char *at = strchr(pattern, '*');
    size_t before = at ? (size_t)(at - pattern) : 0, behind = at ? strlen(at + 1) : 0, n = strlen(name);
    return at && n > before + behind && memcmp(pattern, name, before) == 0 && strcmp(at + 1, name + n - behind) == 0;
}

/* False: not a collection name. */
bool
mrsi_star_name(const struct mrs_plan *p, struct mrs_val v, struct mrsi_star_name *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    *out = (struct mrsi_star_name){.db = p->database};
    struct mrs_val coll = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "coll") : v;
    struct mrs_val db = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "db") : mrs_missing();
    if (db.type != MRS_MISSING) {
        out->db = text_of(db, &out->db_star);
    }
    out->coll = text_of(coll, &out->coll_star);
    return out->db && out->coll && v.type != MRS_ARRAY;
}

bool
mrsi_star_there(const struct mrsi_star_name *n)
{
    return n->db_star || n->coll_star;
}

/* ---- while a plan is loaded ---- */
void
mrsi_stars_wrong(struct mrsi_plan *p, const struct mrsi_step_src *src, const char *type, const char *key,
                 const char *what)
{
    MRS_ASSERT(type && what);
    uint32_t line = src->line, col = src->col;
    bool named = key && *key;
    mrsi_tree_locate(src->body, key, &line, &col);
    mrsi_plan_error(p, line, col, "%s: %s%s%s%s", type, named ? "`" : "", named ? key : "", named ? "` " : "", what);
}

static void
check_into(struct mrsi_plan *p, const struct mrs_step *s, const struct mrsi_step_src *src,
           const struct mrsi_star_name *from, const struct mrsi_star_name *into)
{
    if (mrsi_star_there(into) && !mrsi_star_there(from)) {
        mrsi_stars_wrong(p, src, s->type->name, "into", "has a star, and `from` has none to match it");
    } else if (mrsi_star_there(from) && !mrsi_star_there(into) && s->type->stars == MRS_STARS_PAIR) {
        mrsi_stars_wrong(p, src, s->type->name, "into",
                         "needs a star, which gets what that of `from` stood for: all that fit cannot become one "
                         "collection here");
    } else if (from->db_star != from->coll_star) {
        return; /* a single one is valid for both */
    } else if ((into->db_star && !from->db_star) || (into->coll_star && !from->coll_star)) {
        mrsi_stars_wrong(p, src, s->type->name, "into", "has a star where `from` has none");
    }
}

static void
check_listed(struct mrsi_plan *p, struct mrs_step *s, const struct mrsi_step_src *src, struct mrs_val from)
{
    MRS_ASSERT(mrs_val_is_sized(from));
    bool tagged = mrs_doc_get(s->body, "tag").type != MRS_MISSING && from.type != MRS_DOCUMENT;
    bool text = from.type == MRS_STRING;
    struct mrs_walk w;
    struct mrs_elem e = {.v = from};
    if (!text) {
        mrs_walk_init(&w, mrs_val_view(from));
    }
    while (text || mrs_walk_next(&w, &e) == 1) {
        struct mrsi_star_name name;
        bool good = mrsi_star_name(&p->pub, e.v, &name);
        s->stars = s->stars || (good && mrsi_star_there(&name));
        if (good && tagged && name.db_star && name.coll_star) {
            mrsi_stars_wrong(p, src, s->type->name, "from", "has two stars, and `tag` holds what one stood for");
        }
        if (text) {
            return;
        }
    }
}

void
mrsi_stars_check(struct mrsi_plan *p, struct mrs_step *s, const struct mrsi_step_src *src)
{
    MRS_ASSERT(s->type);
    struct mrsi_star_name from, into;
    struct mrs_val v = mrs_doc_get(s->body, "from");
    switch (p->pub.version > 1 ? s->type->stars : MRS_STARS_NONE) {
    case MRS_STARS_IN:
    case MRS_STARS_INDEX:
        s->stars = mrsi_star_name(&p->pub, mrs_doc_get(s->body, "in"), &from) && mrsi_star_there(&from);
        break;
    case MRS_STARS_PAIR:
    case MRS_STARS_GATHER:
        if (mrsi_star_name(&p->pub, v, &from) && mrsi_star_name(&p->pub, mrs_doc_get(s->body, "into"), &into)) {
            s->stars = mrsi_star_there(&from);
            check_into(p, s, src, &from, &into);
        }
        break;
    case MRS_STARS_LIST:
        if (v.type == MRS_STRING || v.type == MRS_ARRAY || v.type == MRS_DOCUMENT) {
            check_listed(p, s, src, v);
        }
        break;
    case MRS_STARS_VALUES:
        v = mrs_doc_get(s->body, "into");
        s->stars = v.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(v), "*").type != MRS_MISSING;
        break;
    default: break;
    }
    p->pub.stars = p->pub.stars || s->stars;
}

