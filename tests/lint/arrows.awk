# SPDX-License-Identifier: Apache-2.0
# arrows.awk - who calls whom, from `nm -A -g` over all objects: "FILE.o: [value] type symbol". An arrow from one folder
# to another must not climb the ladder. Files that reach each other (a circle) lie in one folder, and are at most 8.
function dir_of(f) { sub(/\/[^\/]*$/, "", f); return f }
function base(f) { sub(/.*\//, "", f); return f }
function room_of(d,    p) { split(d, p, "/"); return p[1] "/" p[2] }

BEGIN {
    while ((getline line < ladder_file) > 0) {
        if (line ~ /^#/ || line !~ /:/) continue
        room = line; sub(/:.*/, "", room); sub(/^[^:]*: */, "", line)
        n = split(line, w, " ")
        for (i = 1; i <= n; i++) {
            if (w[i] == "but") { while (++i <= n) excepted[w[i]] = 1; break }
            k = split(w[i], s, "|")
            for (j = 1; j <= k; j++) rung[s[j] == "." ? room : room "/" s[j]] = i
        }
    }
}
{
    file = $1; sub(/\.o:.*/, ".c", file)
    if (NF == 2 || NF == 3) { type = $(NF - 1); if (NF == 3) type = $2 }
    symbol = $NF
    if (type ~ /^[TDBRVWC]$/) home[symbol] = file
    else if (type == "U" || type == "w") { n_use++; user[n_use] = file; used[n_use] = symbol }
}
END {
    for (i = 1; i <= n_use; i++) {
        if (!(used[i] in home)) continue
        a = user[i]; b = home[used[i]]
        if (a == b) continue
        da = dir_of(a); db = dir_of(b)
        if ((base(a) ">" base(b)) in excepted) continue
        if (da != db && da in rung && db in rung && room_of(da) == room_of(db) && rung[db] >= rung[da])
            printf "%s:1: climb: calls %s of %s\n", a, used[i], b
        if (!((a, b) in edge)) { edge[a, b] = 1; out[a] = out[a] " " b; node[a] = node[b] = 1 }
    }
    for (v in node) if (!(v in number)) visit(v)
}

# Strongly connected parts, after Tarjan, without recursion: a stack of nodes and of how far each has been followed.
function visit(root,    v, w, list, n, i) {
    depth = 1; path[1] = root; step[1] = 0; enter(root)
    while (depth > 0) {
        v = path[depth]; n = split(out[v], list, " ")
        if (step[depth] < n) {
            w = list[++step[depth]]
            if (!(w in number)) { enter(w); path[++depth] = w; step[depth] = 0 }
            else if (w in waiting && number[w] < low[v]) low[v] = number[w]
        } else {
            if (low[v] == number[v]) leave(v)
            depth--
            if (depth > 0 && low[v] < low[path[depth]]) low[path[depth]] = low[v]
        }
    }
}
function enter(v) { number[v] = low[v] = ++counter; stack[++top] = v; waiting[v] = 1 }
# The files of one circle leave the stack; it is told at the first of them by name.
function leave(v,    n, w, least, most, dir, other) {
    n = 0; least = most = v; dir = dir_of(v); other = 0
    do {
        w = stack[top--]; delete waiting[w]; n++
        if (w < least) least = w
        if (w > most) most = w
        if (dir_of(w) != dir) other = 1
    } while (w != v)
    if (n > 8) printf "%s:1: circle: %d files call each other, 8 are allowed\n", least, n
    if (other) printf "%s:1: circle: it and %s call each other over folders\n", least, most
}
