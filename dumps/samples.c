/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - makes the sample dumps of this folder, and shows documents of a .bson file as text.
 *
 * samples make TEXTDIR DUMPDIR    invents the data, the same every time: TEXTDIR/db.coll.jsonl to read, and a dump
 *                                 as mongodump lays it out, made from those lines
 * samples show FILE [SKIP [N]]    N documents of a .bson file, wrapped to fit a terminal
 *
 * People, shops and hosts in the data are made up. */
#include "mongoreshape/ejson.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static uint64_t seed = 1;

static uint32_t
below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

static void
die(const char *what)
{
    fprintf(stderr, "samples: %s: %s\n", what, errno ? strerror(errno) : "is wrong");
    exit(1);
}

/* ---- inventing: `below` is called once a statement or in declarations, since arguments have no order ---- */
static const char *const names[] = {"Ada Winter",   "Bruno Costa", "Chiara Neri",   "Dmitri Orlov", "Esi Mensah",
                                    "Femke de Boer", "Gita Rao",   "Håkon Dahl",    "Inés Vega",    "Jun Sato",
                                    "Karl Brandt",  "Lena Novak"};
static const char *const cities[] = {"Porto", "Gent", "Lübeck", "Kraków", "Accra", "Sendai"};
#define N(a) (sizeof(a) / sizeof *(a))

static FILE *out;

static void __attribute__((format(printf, 1, 2)))
line(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(out, fmt, args);
    va_end(args);
}

/* An ObjectId as a driver makes them: seconds, a constant, a counter; kind keeps collections apart. */
static const char *
oid(char kind, uint32_t i)
{
    static char text[4][64];
    static int turn;
    char *t = text[turn++ % 4];
    snprintf(t, sizeof *text, "{\"$oid\":\"%08x5a3c91%02x%08x\"}", 0x65a10000u + i * 97, (unsigned)kind, i);
    return t;
}

static const char *
date(uint32_t day, uint32_t second)
{
    static char text[2][64];
    static int turn;
    char *t = text[turn++ % 2];
    snprintf(t, sizeof *text, "{\"$date\":\"2024-%02u-%02uT%02u:%02u:%02uZ\"}", 1 + day / 28 % 12, 1 + day % 28,
             second / 3600 % 24, second / 60 % 60, second % 60);
    return t;
}

static void
blog_posts(void)
{
    static const char *const titles[] = {
        "Why we moved the comments", "Notes on a slow Tuesday",    "A shelf for small things",
        "Reading logs with a ruler", "The index nobody asked for", "Three ways to keep a ledger",
        "What the cache forgot",     "Bread, and other protocols",
    };
    static const char *const tags[] = {"databases", "design", "kitchen", "operations", "notes"};
    for (uint32_t i = 0; i < N(titles); i++) {
        line("{\"_id\":%s,\"title\":\"%s\",\"author\":\"%s\",\"created\":%s,\"tags\":[\"%s\",\"%s\"],\"likes\":[",
             oid('p', i), titles[i], names[i % 4], date(i * 9, 32400 + i * 611), tags[i % 5], tags[(i + 2) % 5]);
        for (uint32_t k = 0; k < i % 4; k++) {
            line("%s\"%s\"", k ? "," : "", names[(i + 3 * k) % N(names)]);
        }
        line("],\"views\":%u}\n", 40 + below(900));
    }
}

static void
blog_comments(void)
{
    static const char *const texts[] = {
        "This matches what we saw last spring.", "Could you share the plan you used?",
        "I read it twice and still smiled.",     "Measured it here: about a third faster.",
        "What about documents without an _id?",  "Please never stop writing these.",
        "The second picture is upside down.",
    };
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t post = 99; /* a post that is gone */
        if (i != 17) {
            uint32_t any = below(3);
            post = below(any ? 8 : 7);
            post *= any ? below(2) : 1;
        }
        uint32_t votes = below(30), text = below(N(texts)), author = below(N(names));
        line("{\"_id\":%s,\"postId\":%s,\"author\":\"%s\",\"text\":\"%s\",\"createdAt\":%s,\"votes\":%u}\n",
             oid('c', i), oid('p', post), names[author], texts[text], date(70 + i, 3600 * (i % 20) + 77 * i), votes);
    }
}

static void
shop_parts(void)
{
    static const char *const parts[] = {"M4 bolt",  "hex nut", "spring",  "bracket", "hinge",  "ball bearing",
                                        "rubber foot", "handle", "glass panel", "LED strip"};
    for (uint32_t i = 0; i < N(parts); i++) {
        line("{\"_id\":%s,\"partno\":\"%03u-aff-%04u\",\"name\":\"%s\",\"qty\":%u,\"cost\":{\"$numberDecimal\":\"%u.%"
             "02u\"},"
             "\"price\":%u.%02u}\n",
             oid('t', i), 100 + i * 23, 400 + i * 7, parts[i], below(400), i, 35 + i * 5, 1 + i, 15 + i * 7);
    }
}

static void
shop_products(void)
{
    static const char *const products[] = {"desk lamp", "tool box", "tea trolley", "bird feeder", "picture frame"};
    for (uint32_t i = 0; i < N(products); i++) {
        line("{\"_id\":%s,\"name\":\"%s\",\"catalog_number\":%u,\"parts\":[", oid('r', i), products[i], 1234 + i * 11);
        for (uint32_t k = 0; k < 2 + i % 3; k++) {
            line("%s%s", k ? "," : "", oid('t', (i * 3 + k * 2) % 10));
        }
        line("],\"price\":%u.5", 12 + below(60));
        if (i != 3) { /* what is rarely read; of the bird feeder there is nothing */
            line(",\"specs\":{\"watts\":%u,\"grams\":%u},\"manual\":\"Unpack the %s. Keep the box.\"", 5 + i * 15,
                 350 + i * 120, products[i]);
        }
        line("}\n");
    }
}

static void
shop_reviews(void)
{
    for (uint32_t i = 0; i < 130; i++) { /* the first product is an outlier */
        line("{\"_id\":%u,\"productId\":%s,\"stars\":%u,\"text\":\"%s\",\"date\":%s}\n", i + 1,
             oid('r', i % 13 == 12 ? 1 + i / 13 % 4 : 0), 1 + below(5),
             i % 3 ? "does what it says" : "arrived in one piece", date(i, i * 577));
    }
}

static void
shop_customers(void)
{
    for (uint32_t i = 0; i < 6; i++) {
        const char *last = strchr(names[i], ' ') + 1;
        if (i % 2) { /* written by a newer version of the shop */
            line("{\"_id\":\"C%03u\",\"city\":\"%s\",\"firstName\":\"%.*s\",\"lastName\":\"%s\",\"schemaVersion\":2}"
                 "\n",
                 i, cities[i], (int)(last - names[i]) - 1, names[i], last);
        } else {
            line("{\"_id\":\"C%03u\",\"name\":\"%s\",\"city\":\"%s\"}\n", i, names[i], cities[i]);
        }
    }
}

static void
shop_orders(void)
{
    static const char *const states[] = {"sent", "paid", "back"};
    for (uint32_t i = 0; i < 24; i++) { /* three of the six customers have never ordered */
        uint32_t cents = 0;
        line("{\"_id\":%u,\"customerId\":\"C%03u\",\"date\":%s,\"status\":\"%s\",\"lines\":[", 1001 + i, i * i % 5,
             date(i * 9, 30000 + i * 613), states[i % 3]);
        for (uint32_t k = 0; k < 1 + i % 3; k++) {
            uint32_t quantity = 1 + below(3), price = 1250 + 100 * below(60);
            cents += quantity * price;
            line("%s{\"productId\":%s,\"quantity\":%u,\"price\":{\"$numberDecimal\":\"%u.%02u\"}}", k ? "," : "",
                 oid('r', (i + k) % 5), quantity, price / 100, price % 100);
        }
        line("],\"amount\":{\"$numberDecimal\":\"%u.%02u\"}", cents / 100, cents % 100);
        if (i % 8 == 3) {
            line(",\"coupon\":\"SPRING%u\"", i);
        }
        if (i > 21) { /* not paid yet, and not kept for ever */
            line(",\"expiresAt\":%s", date(i * 9 + 30, 0));
        }
        line("}\n");
    }
}

static void
shop_categories(void)
{
    static const char *const tree[][2] = {{"Goods", NULL},         {"Home", "Goods"},    {"Lamps", "Home"},
                                          {"Kitchen", "Home"},     {"Garden", "Goods"},  {"Tools", "Garden"},
                                          {"Hand tools", "Tools"}, {"Birds", "Garden"},  {"Services", NULL},
                                          {"Repair", "Services"},  {"Trolleys", "Kitchen"}};
    for (uint32_t i = 0; i < N(tree); i++) {
        const char *parent = tree[i][1], *quote = parent ? "\"" : "";
        line("{\"_id\":\"%s\",\"products\":%u,\"parent\":%s%s%s}\n", tree[i][0], below(40), quote,
             parent ? parent : "null", quote);
    }
}

/* Revisions of price lists, not all of them in their order. */
static void
shop_prices(void)
{
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t k = i == 6 ? 11 : i == 11 ? 6 : i, price = 1200 + below(900);
        line("{\"_id\":%u,\"product\":%s,\"revision\":%u,\"price\":{\"$numberDecimal\":\"%u.%02u\"},"
             "\"since\":%s}\n",
             i + 1, oid('r', k % 5), 1 + k / 5, price / 100, price % 100, date(k * 20, 0));
    }
}

static void
people_person(void)
{
    for (uint32_t i = 0; i < 6; i++) {
        line("{\"_id\":%u,\"name\":\"%s\",\"born\":%s}\n", i + 1, names[i], date(i * 31, 0));
    }
}

static void
people_addresses(void)
{
    for (uint32_t i = 0; i < 9; i++) {
        line("{\"_id\":%u,\"person\":%u,\"street\":\"%u Harbour Lane\",\"city\":\"%s\"}\n", 100 + i, 1 + i % 5,
             3 + i * 4, cities[i % 6]);
    }
}

static void
people_id_cards(void)
{
    for (uint32_t i = 0; i < 5; i++) {
        line("{\"_id\":\"X%05u\",\"person\":%u,\"issued\":%s}\n", 70000 + below(9999), i + 1, date(i * 50, 0));
    }
}

static void
people_students(void)
{
    static const char *const courses[] = {"{\"name\":\"Algebra\",\"department\":\"Mathematics\",\"credits\":6}",
                                          "{\"name\":\"Optics\",\"department\":\"Physics\",\"credits\":4}",
                                          "{\"name\":\"Logic\",\"department\":\"Philosophy\",\"credits\":5}"};
    for (uint32_t i = 0; i < 6; i++) {
        line("{\"_id\":%u,\"name\":\"%s\",\"courses\":[%s,%s]}\n", i + 1, names[11 - i], courses[i % 3],
             courses[(i + 1) % 3]);
    }
}

static void
people_tasks(void)
{
    static const char *const tasks[] = {"water the plants", "file the report", "answer letters", "call the plumber"};
    for (uint32_t i = 0; i < 14; i++) {
        line("{\"_id\":%u,\"description\":\"%s\",\"due_date\":%s,\"owner\":%u}\n", i + 1, tasks[i % 4],
             date(below(300), 0), 1 + i * 3 % 5);
    }
}

static void
ops_hosts(void)
{
    static const char *const hosts[] = {"goose", "heron", "plover", "wren"};
    for (uint32_t i = 0; i < N(hosts); i++) {
        line("{\"_id\":%s,\"hostname\":\"%s.example.net\",\"ipaddr\":\"192.0.2.%u\"}\n", oid('h', i), hosts[i],
             10 + i * 9);
    }
}

static void
ops_logmsgs(void)
{
    static const char *const messages[] = {"cpu is on fire", "disk 80 % full", "backup done", "certificate renewed"};
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t host = below(4), message = below(4);
        line("{\"_id\":%u,\"time\":%s,\"message\":\"%s\",\"host\":%s}\n", i + 1, date(i / 4, i * 731),
             messages[message], oid('h', host));
    }
}

/* Members of a message board, each with an array of references that grows without end. */
static void
blog_members(void)
{
    for (uint32_t i = 0; i < 5; i++) {
        line("{\"_id\":\"%.3s\",\"name\":\"%s\",\"message_board_messages\":[", names[i], names[i]);
        for (uint32_t k = i; k < 12 && i < 4; k += 4) { /* the fifth has never said a word */
            line("%s%s", k > i ? "," : "", oid('m', k));
        }
        line("]}\n");
    }
}

static void
blog_messages(void)
{
    static const char *const texts[] = {"Good morning.", "Has anyone seen the stapler?", "It is on the printer.",
                                        "Thank you!", "The coffee is gone."};
    for (uint32_t i = 0; i < 12; i++) {
        line("{\"_id\":%s,\"text\":\"%s\",\"time\":%s}\n", oid('m', i), texts[i % 5], date(200 + i / 3, i * 1800));
    }
}

static const char *const pages[] = {"/", "/about", "/news", "/news/2024", "/imprint"};

static void
site_pages(void)
{
    static const char *const titles[] = {"Welcome", "About us", "News", "News of the year", "Imprint"};
    for (uint32_t i = 0; i < N(pages); i++) {
        line("{\"_id\":\"%s\",\"title\":\"%s\"}\n", pages[i], titles[i]);
    }
}

static void
site_views(void)
{
    static const char *const agents[] = {"Firefox", "Safari", "curl"};
    static const char *const countries[] = {"Norway", "Ghana", "Japan"};
    for (uint32_t i = 0; i < 60; i++) { /* nobody reads the imprint */
        uint32_t who = below(7), page = below(2) ? below(4) : 0;
        line("{\"_id\":%u,\"page\":\"%s\",\"user\":\"%s\",\"timestamp\":%s,\"user_agent\":\"%s\",\"geo\":{"
             "\"country_name\":\"%s\"}}\n",
             i + 1, pages[page], names[who], date(i / 5, i * 977), agents[who % 3], countries[who % 3]);
    }
}

static void
site_events(void)
{
    static const char *const actions[] = {"login", "upload", "logout"};
    for (uint32_t i = 0; i < 15; i++) {
        line("{\"_id\":%s,\"ts\":%s,\"user\":\"%.3s\",\"machine\":%u,\"action\":\"%s\"}\n", oid('e', i),
             date(i / 3, i * 1201), names[i / 3], 1 + i % 2, actions[i % 3]);
    }
}

static void
iot_readings(void)
{
    for (uint32_t i = 0; i < 72; i++) { /* three sensors, every quarter of an hour; some readings are late */
        uint32_t k = i % 10 == 3 ? i + 3 : i % 10 == 6 ? i - 3 : i;
        uint32_t whole = below(6), half = below(2);
        line("{\"_id\":%u,\"sensorId\":\"S%u\",\"timestamp\":%s,\"value\":%u.%u}\n", i + 1, 1 + k % 3,
             date(60, 21600 + k / 3 * 900), 15 + k % 3 * 4 + whole, 5 * half);
    }
}

static void
cinema_movies(void)
{
    static const char *const titles[] = {"The Slow Train", "Harbour Lights", "Nine Kettles", "A Field of Screws"};
    static const char *const countries[] = {"US", "FR", "JP"};
    for (uint32_t i = 0; i < N(titles); i++) { /* the first is not released yet */
        line("{\"_id\":%u,\"title\":\"%s\"", i + 1, titles[i]);
        for (uint32_t k = 0; k < i; k++) {
            line(",\"release_%s\":%s", countries[k], date(i * 40 + k * 11, 0));
        }
        line(",\"minutes\":%u}\n", 80 + below(60));
    }
}

static void
cinema_halls(void)
{
    static const char *const halls[] = {"Blue", "Red"};
    for (uint32_t i = 0; i < N(halls); i++) {
        line("{\"_id\":\"%s\",\"floor\":%u}\n", halls[i], i);
    }
}

static void
garage_cars(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        line("{\"_id\":\"CAR-%02u\",\"owner\":\"%s\",\"doors\":%u}\n", i + 1, names[i], 3 + i % 2 * 2);
    }
}

static void
garage_trucks(void)
{
    for (uint32_t i = 0; i < 3; i++) {
        line("{\"_id\":\"TRUCK-%02u\",\"owner\":\"%s\",\"tons\":%u,\"axles\":%u}\n", i + 1, names[8 + i], 8 + i * 6,
             2 + i);
    }
}

/* ---- the table of collections ---- */
static const struct sample {
    const char *db, *coll;
    void (*write)(void);
    const char *indexes; /* beside the one on _id: name, then key */
} samples[] = {
    {"blog", "posts", blog_posts, "tags_1\0\"tags\":{\"$numberInt\":\"1\"}"},
    {"blog", "comments", blog_comments,
     "postId_1_createdAt_-1\0\"postId\":{\"$numberInt\":\"1\"},\"createdAt\":{\"$numberInt\":\"-1\"}"},
    {"shop", "parts", shop_parts, NULL},
    {"shop", "products", shop_products, "parts_1\0\"parts\":{\"$numberInt\":\"1\"}"},
    {"shop", "reviews", shop_reviews, "productId_1\0\"productId\":{\"$numberInt\":\"1\"}"},
    {"shop", "customers", shop_customers, NULL},
    {"people", "person", people_person, NULL},
    {"people", "addresses", people_addresses, "person_1\0\"person\":{\"$numberInt\":\"1\"}"},
    {"people", "id_cards", people_id_cards, NULL},
    {"people", "students", people_students, NULL},
    {"ops", "hosts", ops_hosts, NULL},
    {"ops", "logmsgs", ops_logmsgs, "host_1\0\"host\":{\"$numberInt\":\"1\"}"},
    {"shop", "orders", shop_orders, "date_1\0\"date\":{\"$numberInt\":\"1\"}"},
    {"shop", "categories", shop_categories, "parent_1\0\"parent\":{\"$numberInt\":\"1\"}"},
    {"people", "tasks", people_tasks, "owner_1\0\"owner\":{\"$numberInt\":\"1\"}"},
    {"blog", "members", blog_members, NULL},
    {"blog", "messages", blog_messages, "time_1\0\"time\":{\"$numberInt\":\"1\"}"},
    {"site", "pages", site_pages, NULL},
    {"site", "views", site_views, "timestamp_-1\0\"timestamp\":{\"$numberInt\":\"-1\"}"},
    {"site", "events", site_events, NULL},
    {"iot", "readings", iot_readings, "timestamp_1\0\"timestamp\":{\"$numberInt\":\"1\"}"},
    {"cinema", "movies", cinema_movies, "release_US_1\0\"release_US\":{\"$numberInt\":\"1\"}"},
    {"cinema", "halls", cinema_halls, NULL},
    {"garage", "cars", garage_cars, "owner_1\0\"owner\":{\"$numberInt\":\"1\"}"},
    {"garage", "trucks", garage_trucks, "owner_1\0\"owner\":{\"$numberInt\":\"1\"}"},
    {"shop", "prices", shop_prices, "since_1\0\"since\":{\"$numberInt\":\"1\"}"},
};

static FILE *
create(const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f) {
        die(path);
    }
    return f;
}

static void
metadata(const char *path, const struct sample *s, uint32_t no)
{
    FILE *f = create(path);
    fprintf(
        f, "{\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"_id\":{\"$numberInt\":\"1\"}},\"name\":\"_id_\"}");
    if (s->indexes) {
        fprintf(f, ",{\"v\":{\"$numberInt\":\"2\"},\"key\":{%s},\"name\":\"%s\"}", s->indexes + strlen(s->indexes) + 1,
                s->indexes);
    }
    fprintf(f,
            "],\"uuid\":\"5e1f0c%02x7d2b4c0e9a6144d3b8f0a1%02x\",\"collectionName\":\"%s\",\"type\":\"collection\"}",
            no, no, s->coll);
    if (fclose(f) != 0) {
        die(path);
    }
}

/* A whole small file. */
static void
slurp(const char *path, struct mrs_buf *b)
{
    FILE *f = fopen(path, "rb");
    int c;
    if (!f) {
        die(path);
    }
    while ((c = getc(f)) != EOF) {
        mrs_buf_byte(b, (uint8_t)c);
    }
    fclose(f);
    if (b->bad) {
        die(path);
    }
}

static void
to_bson(struct mrs_mem *mem, const char *text_path, const char *bson_path)
{
    struct mrs_buf text, docs;
    struct mrs_err err;
    mrs_err_clear(&err);
    mrs_buf_init(&text, mem, 1u << 26);
    mrs_buf_init(&docs, mem, 1u << 26);
    slurp(text_path, &text);
    for (size_t at = 0, used; at < text.n; at += used + 1) {
        if (mrs_ejson_read((char *)text.p + at, text.n - at, MRS_EJSON_DATA, &docs, &used, &err) != MRS_OK) {
            errno = 0;
            fprintf(stderr, "%s\n", err.msg);
            die(text_path);
        }
    }
    FILE *f = create(bson_path);
    if (fwrite(docs.p, 1, docs.n, f) != docs.n || fclose(f) != 0) {
        die(bson_path);
    }
    mrs_buf_clear(&text);
    mrs_buf_clear(&docs);
}

static void
make(struct mrs_mem *mem, const char *text_dir, const char *dump_dir)
{
    char path[2][4096];
    mkdir(text_dir, 0777);
    mkdir(dump_dir, 0777);
    for (uint32_t i = 0; i < N(samples); i++) {
        const struct sample *s = &samples[i];
        snprintf(path[0], sizeof *path, "%s/%s", dump_dir, s->db);
        mkdir(path[0], 0777);
        snprintf(path[0], sizeof *path, "%s/%s/%s.metadata.json", dump_dir, s->db, s->coll);
        metadata(path[0], s, i + 1);
        snprintf(path[0], sizeof *path, "%s/%s.%s.jsonl", text_dir, s->db, s->coll);
        snprintf(path[1], sizeof *path, "%s/%s/%s.bson", dump_dir, s->db, s->coll);
        out = create(path[0]);
        seed = i + 1;
        s->write();
        if (fclose(out) != 0) {
            die(path[0]);
        }
        to_bson(mem, path[0], path[1]);
    }
}

/* ---- showing ---- */
#define WIDTH 110

/* A value at `depth`: on one line where it fits, else its parts one below the other. The samples are shallow. */
static void
show_value(struct mrs_mem *mem, struct mrs_val v, int depth, int used)
{
    struct mrs_buf text;
    mrs_buf_init(&text, mem, 1u << 26);
    mrs_ejson_write_val(v, false, &text);
    if (text.n + (size_t)used + 2 <= WIDTH || (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY)) {
        printf("%.*s", (int)text.n, (char *)text.p);
    } else {
        struct mrs_walk w;
        struct mrs_elem e;
        const char *comma = "";
        mrs_walk_init(&w, mrs_val_view(v));
        printf("%c", v.type == MRS_ARRAY ? '[' : '{');
        while (mrs_walk_next(&w, &e) > 0) {
            int n = printf("%s\n%*s", comma, depth * 2 + 2, "") - (*comma != 0) - 1;
            if (v.type != MRS_ARRAY) {
                n += printf("\"%s\": ", e.name);
            }
            show_value(mem, e.v, depth + 1, n);
            comma = ",";
        }
        printf("\n%*s%c", depth * 2, "", v.type == MRS_ARRAY ? ']' : '}');
    }
    mrs_buf_clear(&text);
}

static void
show(struct mrs_mem *mem, const char *path, unsigned long skip, unsigned long n)
{
    struct mrs_buf docs;
    mrs_buf_init(&docs, mem, 1u << 28);
    slurp(path, &docs);
    for (size_t at = 0; at < docs.n && n > 0;) {
        if (mrs_doc_check(docs.p + at, docs.n - at, MRS_DEPTH_READ, NULL) != MRS_OK) {
            errno = 0;
            die(path);
        }
        struct mrs_view d = {docs.p + at, mrs_le32(docs.p + at)};
        at += d.n;
        if (skip > 0) {
            skip--;
            continue;
        }
        n--;
        show_value(mem, mrs_view_val(d), 0, 0);
        printf("\n");
    }
    mrs_buf_clear(&docs);
}

int
main(int argc, char **argv)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    if (!mem) {
        die("memory");
    }
    if (argc == 4 && strcmp(argv[1], "make") == 0) {
        make(mem, argv[2], argv[3]);
    } else if (argc >= 3 && argc <= 5 && strcmp(argv[1], "show") == 0) {
        show(mem, argv[2], argc > 3 ? strtoul(argv[3], NULL, 10) : 0, argc > 4 ? strtoul(argv[4], NULL, 10) : 1u << 31);
    } else {
        fprintf(stderr, "usage: samples make TEXTDIR DUMPDIR\n       samples show FILE.bson [SKIP [N]]\n");
        return 2;
    }
    return mrs_mem_close(mem) ? 1 : 0;
}
