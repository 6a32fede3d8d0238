# SPDX-License-Identifier: Apache-2.0
# lint.awk - the rules that need nothing but the text of a file. Called by lint.sh with all files as arguments and
# `root` set; prints "FILE:LINE: RULE: what", one line a violation. Names of files are relative to the root.

function complain(line, rule, what) { printf "%s:%d: %s: %s\n", file, line, rule, what }

# The line without comments and texts, so that words in them are no calls. `in_comment` lives across lines.
function code_of(s,    out, a, b, c, q) {
    out = ""
    while (s != "") {
        if (in_comment) {
            a = index(s, "*/")
            if (!a) return out
            s = substr(s, a + 2); in_comment = 0
            continue
        }
        if (!match(s, /\/\*|\/\/|"|'/)) return out s
        out = out substr(s, 1, RSTART - 1)
        c = substr(s, RSTART, 2); q = substr(c, 1, 1)
        if (c == "/*") { in_comment = 1; s = substr(s, RSTART + 2); continue }
        if (c == "//") return out
        s = substr(s, RSTART + 1)
        out = out q
        while (s != "") {
            b = substr(s, 1, 1)
            if (b == "\\") { s = substr(s, 3); continue }
            s = substr(s, 2)
            if (b == q) { out = out q; break }
        }
    }
    return out
}

# Whether `name` is called in `code`, not as a part of a longer name and not as a member.
function calls(code, name,    rest, at, before) {
    rest = code
    while ((at = index(rest, name "(")) > 0) {
        before = at > 1 ? substr(rest, at - 1, 1) : " "
        if (before !~ /[A-Za-z0-9_.>]/) return 1
        rest = substr(rest, at + length(name))
    }
    return 0
}

function has_word(code, word) { return match(code, "(^|[^A-Za-z0-9_])" word "([^A-Za-z0-9_]|$)") > 0 }

function set_of(words, set,    w, n, i) {
    n = split(words, w, " ")
    for (i = 1; i <= n; i++) set[w[i]] = 1
}

BEGIN {
    # Which room a public header belongs to, and what each room may see.
    split("assert base clock clock mem base err base limits base number_table base version base words base doc doc " \
          "yaml_text base value doc path doc ejson doc " \
          "decimal doc cli cli expr expr io io step step axes step nodes step link step unique step plan plan " \
          "stars step " \
          "live plan pipeline plan stage plan run run compare run cat run mrs all view doc walk doc template doc " \
          "build doc measurements doc " \
          "compose doc digest doc buffer base rekey_ops step " \
          "formats io dump_in io dump_out io checkpoint_files io files io spread_ops step join_ops step " \
          "group_ops step fold_ops step window_ops step " \
          "catalogue step inverse step context step inspect inspect scan run report_text run " \
          "condition step lists doc",
          pair, " ")
    for (i = 1; pair[i] != ""; i += 2) room_of[pair[i]] = pair[i + 1]
    sees["base"] = " base "
    sees["clock"] = " clock " # common/base/clock.c; not for rooms whose results depend on their arguments alone
    sees["doc"] = " base doc "
    sees["cli"] = " base doc io inspect cli clock "
    sees["expr"] = " base doc expr "
    sees["io"] = " base doc io clock "
    sees["inspect"] = " base doc io inspect "
    sees["steps"] = " base doc expr step "
    sees["step"] = " base doc expr step "
    sees["plan"] = " base doc expr step plan "
    sees["run"] = " base doc io step plan run clock "
    sees["all"] = " base doc expr io inspect step plan run clock all "
    sees["migrate"] = sees["all"] "cli "
    sees["live"] = sees["migrate"]
    sees["server"] = sees["plan"] "clock " # shell-ext/server: a guest in another program
    never["base"] = "<(time|locale|fcntl|unistd|dirent|sys/[a-z]+)\\.h>"
    never["doc"] = "<(time|locale|fcntl|unistd|dirent|sys/[a-z]+)\\.h>"
    never["steps"] = "<(time|locale|fcntl|unistd|dirent|sys/[a-z]+|zstd|zlib|isa-l.*|yaml)\\.h>"
    never["plan"] = "<(fcntl|unistd|dirent|sys/[a-z]+)\\.h>"
    never["migrate"] = "<(yaml|zstd|zlib|isa-l.*|pcre2|xxhash)\\.h>"
    never["live"] = "<(yaml|zstd|zlib|isa-l.*|pcre2)\\.h>"
    never["server"] = "<(time|locale|fcntl|unistd|dirent|pthread|dlfcn|sys/[a-z]+|yaml|pcre2|xxhash)\\.h>"
    set_of("printf fprintf vprintf vfprintf puts fputs putchar perror exit _exit quick_exit abort system popen", loud)
    set_of("perror exit quick_exit abort system popen", ends)
    set_of("malloc calloc realloc reallocarray free strdup strndup aligned_alloc posix_memalign alloca", raw)
    set_of("sprintf vsprintf strcpy strcat strncpy strncat stpcpy atoi atol atoll atof gets strtok", unsafe)
    set_of("time clock gettimeofday clock_gettime rand random srand getenv secure_getenv getpid open fopen", outside)
    unfinished = "(TOD" "O|FIX" "ME|XX" "X)"
    # Names that only we would know what they mean; docs/GLOSSARY.md has those that stay.
    private = "tapes?|crew|kins?|glances?|barred|suspicious|stretch|mould|shelf|hopes?|swept|tours?|lanes"
    while ((getline line < ladder_file) > 0) read_ladder(line)
}

# "ROOM: a b|c d but FILE>FILE ...": a is the lowest; b and c do not see each other; "." is the room's own folder.
function read_ladder(line,    room, w, n, i, s, k, j) {
    if (line ~ /^#/ || line !~ /:/) return
    room = line; sub(/:.*/, "", room); sub(/^[^:]*: */, "", line)
    has_ladder[room] = 1
    n = split(line, w, " ")
    for (i = 1; i <= n; i++) {
        if (w[i] == "but") { while (++i <= n) excepted[w[i]] = 1; return }
        k = split(w[i], s, "|")
        for (j = 1; j <= k; j++) rung[s[j] == "." ? room : room "/" s[j]] = i
    }
}

FNR == 1 {
    finish()
    file = FILENAME
    sub("^" root "/", "", file)
    in_comment = 0; in_body = 0; documented = 0
    room = ""
    is_c = file ~ /\.c$/; is_h = file ~ /\.h$/
    in_common = file ~ /^common\//
    if (in_common) { split(file, part, "/"); room = part[2] }
    if (file == "common/base/clock.c") room = "clock"
    else if (file ~ /^migrate\//) room = "migrate"
    else if (file ~ /^shell-ext\/(live|server)\//) { split(file, part, "/"); room = part[2] }
    else if (file ~ /^include\/mongoreshape\//) {
        base = file; sub(/.*\//, "", base); sub(/\.h$/, "", base)
        room = room_of[base]
        if (room == "") complain(1, "layers", "a public header that belongs to no room: lint.awk must know it")
    }
    if (/^#!/) licence_at = 2; else licence_at = 1
}

function finish() {
    if (file != "" && last > 1000) complain(last, "file-length", last " lines, 1000 are allowed")
    if (is_h && last > 250 && file !~ /^(tests|bench)\//)
        complain(last, "header-length", last " lines, 250 are allowed")
}

FNR == licence_at && !/SPDX-License-Identifier: Apache-2.0/ {
    complain(FNR, "licence", "a source names its licence in its first line: SPDX-License-Identifier: Apache-2.0")
}
FNR == 1 { opening_at = /SPDX/ ? 2 : 1 }
FNR == opening_at && (is_c || is_h) && !/^\/\*/ {
    complain(FNR, "opening", "a source begins with a comment: why it exists")
}

{
    last = FNR
    text = $0
    gsub(/[\200-\277]/, "", text) # columns, not bytes
    if (length(text) > 120) complain(FNR, "line-length", length(text) " columns, 120 are allowed")
    if ($0 ~ /[ \t]$/) complain(FNR, "trailing-space", "space at the end of the line")
    if ($0 ~ /\r/) complain(FNR, "trailing-space", "carriage return")
    if (has_word($0, unfinished)) complain(FNR, "unfinished", "a mark of unfinished work")
    if ($0 ~ "/wor" "k/") complain(FNR, "own-machine", "a path of one machine")
    if (!is_c && !is_h) next
    if ($0 ~ /\t/) complain(FNR, "tab", "a tab")
    was_comment = in_comment
    code = code_of($0)
    if (file !~ /^(tests|bench|dumps)\// && match(tolower(code), "(^|[^a-z])(" private ")([^a-z]|$)"))
        complain(FNR, "private-word", substr(code, RSTART, RLENGTH) ": the field's word, or one of docs/GLOSSARY.md")
}

/^#[ ]*include/ && room != "" {
    if (match($0, /["<]mongoreshape\/[a-z_0-9]+\.h[">]/)) {
        h = substr($0, RSTART + 14, RLENGTH - 17)
        if (index(sees[room], " " room_of[h] " ") == 0 && !(room == "all"))
            complain(FNR, "layers", room " must not see mongoreshape/" h ".h")
    } else if (match($0, /"[^"]*"/)) {
        h = substr($0, RSTART + 1, RLENGTH - 2)
        if (file !~ /^include\//) private_header(h)
    } else if (match($0, /<[^>]*>/)) {
        h = substr($0, RSTART, RLENGTH)
        if (never[room] != "" && h ~ never[room]) complain(FNR, "layers", room " must not see " h)
        if (h ~ /<(sys\/socket|netdb|netinet\/.*|arpa\/.*|(mongoc|bson)(\/.*)?)\.h>/ && !driver_door())
            complain(FNR, "layers", "network and driver headers belong to shell-ext/live/link/connection.c: " h)
        if (in_common && h ~ /<(zstd|zlib)\.h>|<isa-l/ && file !~ /^common\/io\//)
            complain(FNR, "layers", "codecs live in common/io: " h)
    }
}

# Where a room lies.
function place_of(room) {
    return (room == "migrate" ? "" : room == "live" || room == "server" ? "shell-ext/" : "common/") room "/"
}
function parent_of(dir) { sub(/[^\/]*\/$/, "", dir); return dir }

function driver_door() { return file ~ /^shell-ext\/live\/link\/connection[a-z_]*\.[ch]$/ }

# A header of the same folder by its name, of another folder of the room by its path from the rooms' folder, in migrate
# from its own: then it must lie lower on the ladder, and the README of its folder must show it.
function private_header(h,    whole, dir, own, name) {
    own = file; sub(/\/[^\/]*$/, "", own)
    if (h !~ /\//) return
    whole = room == "migrate" ? "migrate/" h : parent_of(place_of(room)) h
    dir = whole; sub(/\/[^\/]*$/, "", dir)
    name = h; sub(/.*\//, "", name)
    if (index(dir "/", place_of(room)) != 1)
        complain(FNR, "layers", "a private header of another room: " h)
    else if (dir == own)
        complain(FNR, "layers", "a header of this folder is named without its folder: " h)
    else if (!(dir in rung) || !(own in rung) || rung[dir] >= rung[own])
        complain(FNR, "ladder", own " must not see " dir)
    else if (!shows(dir, name))
        complain(FNR, "face", h " is not shown to others by " dir "/README.md")
}

# "Shown: `a.h` `b.h`" in the README of a folder.
function shows(dir, name,    line, readme) {
    if (!(dir in shown)) {
        shown[dir] = " "
        readme = root "/" dir "/README.md"
        while ((getline line < readme) > 0)
            if (line ~ /^Shown: /) { gsub(/[`,]/, " ", line); shown[dir] = shown[dir] line " " }
        close(readme)
    }
    return index(shown[dir], " " name " ") > 0
}

# common/cli may print, and so may the files of the live tool that talk to people; nobody ends the process but by the
# second interrupt.
function may_print() { return room == "cli" || file ~ /^shell-ext\/live\/commands\/[a-z_]+\.c$/ }
(in_common || room == "live" || room == "server") && code ~ /[a-z]/ {
    if (may_print()) {
        for (name in ends) if (calls(code, name)) complain(FNR, "loud", name "() ends the process or says too little")
    } else {
        for (name in loud) if (calls(code, name)) complain(FNR, "loud", name "() where nothing is printed")
        if (has_word(code, "(stdout|stderr)")) complain(FNR, "loud", "a standard stream where nothing is printed")
    }
    if (file != "common/base/mem.c")
        for (name in raw) if (calls(code, name)) complain(FNR, "raw-memory", name "() past mem.h")
    if (room == "steps" || room == "doc" || room == "base")
        for (name in outside) if (calls(code, name)) complain(FNR, "outside-world", name "() in common/" room)
}

(in_common || room == "migrate" || room == "live") && code ~ /\(/ {
    for (name in unsafe) if (calls(code, name)) complain(FNR, "unsafe", name "()")
}

# What crosses files in the live tool is called live_: a definition has its name at column 0, `static` above it.
room == "live" && is_c && FNR > 1 {
    if (code ~ /^[a-z_0-9]+\(/ && above !~ /(^|[^a-z])static([^a-z]|$)/ && code !~ /^(live_[a-z0-9_]+|main)\(/)
        complain(FNR, "symbol-name", substr(code, 1, index(code, "(") - 1) " is global and does not begin with live_")
    above = code
}

# Functions: the opening and the closing brace stand in column 0.
is_c && /^\{/ { in_body = FNR }
is_c && /^\}/ {
    if (in_body && FNR - in_body + 1 > 80)
        complain(in_body, "function-length", (FNR - in_body + 1) " lines, 80 are allowed")
    in_body = 0
}

# Assertions, by room: where a room has some functions, there are three for ten of them.
function is_product() { return room != "" && file !~ /^include\// }
is_product() && is_c && /^\{/ { functions[room == "clock" ? "base" : room]++ }
is_product() && calls(code, "MRS_ASSERT") { assertions[room]++ }
function count_assertions(    r, where) {
    for (r in functions) {
        where = place_of(r)
        sub(/\/$/, "", where)
        if (functions[r] >= 20 && assertions[r] * 10 < functions[r] * 3)
            printf "%s:1: assertions: %d in %d functions, 3 in 10 are wanted\n", where, assertions[r], functions[r]
    }
}

# A tag means one thing in all of the product.
(in_common || room == "migrate" || room == "live" || room == "server" || file ~ /^include\//) &&
    code ~ /^(static )?(const )?(struct|union|enum) [A-Za-z_0-9]+ *\{/ {
    tag = code; sub(/^(static )?(const )?(struct|union|enum) /, "", tag); sub(/[^A-Za-z_0-9].*/, "", tag)
    if (tag in tag_in && tag_in[tag] != file) complain(FNR, "tag-twice", tag " is defined in " tag_in[tag] " too")
    else tag_in[tag] = file
}

# Public functions: a comment above, or on the line, or above the group they stand in.
file ~ /^include\/mongoreshape\// {
    if ($0 ~ /^[ \t]*$/ || $0 ~ /^#/) documented = 0
    else if (was_comment || $0 ~ /^\/\*/) documented = 1
    else if (code ~ /^[a-z].*(^|[^A-Za-z0-9_])mrs_[a-z0-9_]+\(/ && code !~ /^(typedef|static)/) {
        if ($0 ~ /\/\*/) documented = 1
        if (!documented) complain(FNR, "undocumented", "a public function without a comment above")
    }
}

END { finish(); count_assertions() }
