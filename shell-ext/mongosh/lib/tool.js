/* SPDX-License-Identifier: Apache-2.0 */
/* tool.js - starts one of the tools, passes it the server, and parses its output.
 *
 * The URI of the shell's connection goes to the tool's standard input: neither the arguments nor the environment of a
 * process, which other users may see, ever contain it. */
'use strict';

const { spawn } = require('child_process');
const path = require('path');

const program = (name) => (process.env.MONGORESHAPE_BIN ? path.join(process.env.MONGORESHAPE_BIN, name) : name);

const notStarted = (name, error) => new Error(error.code === 'ENOENT'
    ? `${name} not found: install it, or set the variable MONGORESHAPE_BIN to its folder`
    : `${name} cannot be started: ${error.message}`);

/* The connection: the shell's own server and database, unless the options say otherwise. */
const connection = (shell, options) => {
    const own = { db: shell.db().getName(), ...options };
    if (options.uriFile !== undefined) {
        return { uri: null, options: own };
    }
    return { uri: shell.db().getMongo().getURI(), options: { ...own, uriFile: '-' } };
};

/* Starts a process and writes its standard input. error: called if it cannot be started. */
const start = (name, args, uri, stdio, more, error) => {
    const child = spawn(program(name), args, { stdio: [uri === null ? 'ignore' : 'pipe', ...stdio], ...more });
    child.on('error', (e) => error(notStarted(name, e)));
    if (uri !== null) {
        child.stdin.on('error', () => {}); /* it ended before it read: its own words say why */
        child.stdin.end(`${uri}\n`);
    }
    return child;
};

/* Runs a tool to its end: { status, stdout, stderr }. shown: its progress goes to the terminal, if there is one. line:
 * gets each line of its output at once, with the process, instead of storing them. */
const run = (name, args, { uri = null, shown = false, line = null } = {}) => new Promise((resolve, reject) => {
    const onTerminal = shown && process.stderr.isTTY;
    const words = onTerminal ? [...args, '--progress'] : args;
    const child = start(name, words, uri, ['pipe', onTerminal ? 'inherit' : 'pipe'], {}, reject);
    let stdout = '', stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
        stdout += text;
        const lines = line ? stdout.split('\n') : [];
        stdout = line ? lines.pop() : stdout;
        lines.filter(Boolean).forEach((one) => line(one, child));
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
        stderr += text;
    });
    child.on('close', (code, signal) => {
            resolve({ name, status: code ?? 128 + (signal ? 2 : 0), signal, stdout, stderr });
    });
});

/* ---- output ---- */
const mistake = (m) => `  line ${m.line}, column ${m.column}: ${m.message}`;

/* All errors as text. */
const trouble = (answer, said) => {
    if (!said) {
        const how = answer.signal ? `by ${answer.signal}` : `with status ${answer.status}`;
        return answer.stderr.trim() || `${answer.name} ended ${how}`;
    }
    const mistakes = (said.planErrors || []).filter((m) => m.kind === 'error').map(mistake);
    const findings = (said.findings || []).filter((f) => f.refuses).map((f) => `  ${f.text}`);
    const first = mistakes.length ? 'the plan has mistakes:' : said.error?.message || `status ${answer.status}`;
    return [first, ...mistakes, ...findings, ...(said.said || []).map((s) => `  ${s}`)].join('\n');
};

const empty = (value) => value === null || (Array.isArray(value) && value.length === 0);

/* Values in which each number has its type when the shell sends it: plain where it is an int, or a double with a
 * fraction. */
const typed = (shell, text) => {
    const plain = (value) => {
        if (Array.isArray(value)) {
            return value.map(plain);
        }
        const kind = value?._bsontype ?? Object.prototype.toString.call(value).slice(8, -1);
        if (kind === 'Int32' || (kind === 'Double' && !Number.isInteger(value.value))) {
            return value.value;
        }
        return kind === 'Object' ? Object.fromEntries(Object.entries(value).map(([n, v]) => [n, plain(v)])) : value;
    };
    return plain(shell.EJSON.parse(text, { relaxed: false }));
};
const plainly = (shell, text) => shell.EJSON.parse(text);

/* The one object that a tool prints with --json, without empty members. A status of more than 1 is an error. uri: the
 * shell's own, which is omitted; else the report names the server. */
const report = (shell, answer, uri = null, read = plainly) => {
    let said = null;
    try {
        said = read(shell, answer.stdout);
    } catch {
        said = null; /* nothing, or words: then the tool could not begin */
    }
    if (answer.status > 1 || !said) {
        throw Object.assign(new Error(trouble(answer, said)), { exitStatus: answer.status, report: said });
    }
    const hidden = (name, value) => name === 'published' /* of a dump */ || (name === 'uri' && uri !== null) ||
        name === 'explain' /* of a dry run: reshape.explain(plan, { live: true }) says it */ ||
        (name !== 'runs' && empty(value));
    return Object.fromEntries(Object.entries(said).filter(([name, value]) => !hidden(name, value)));
};

module.exports = { start, run, report, typed, connection };
