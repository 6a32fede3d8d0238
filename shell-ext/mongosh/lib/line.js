/* SPDX-License-Identifier: Apache-2.0 */
/* line.js - converts arguments of a `reshape` function to a tool's command line, and back.
 *
 * Options are those of the tools, with names in JavaScript style: { quietBy: 'validator' } is --quiet-by=validator.
 * There is no list of them here: the tool reports unknown ones, and suggests the right one. */
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

const isPlan = (given) => typeof given === 'object' && given !== null && 'steps' in given;

/* (plan, options), (plan) or (options): a plan is the name of a file or a document with steps. */
const take = (given) => {
    const [first, second] = given;
    const named = typeof first === 'string' || isPlan(first);
    const options = named || first === undefined || first === null ? second || {} : first;
    if (typeof options !== 'object' || given.length > (named || first == null ? 2 : 1)) {
        throw new Error('give a plan (a file, or { steps: [ ... ] }), options ({ execute: true }), or both so');
    }
    return { plan: named ? first : null, options };
};

const option = (name, value) => {
    const said = `--${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`;
    if (value === true) {
        return [said];
    }
    if (value === false || value === undefined || value === null) {
        return [];
    }
    if (Array.isArray(value)) {
        return value.flatMap((one) => option(name, one));
    }
    if (value instanceof Date) {
        return [`${said}=${value.toISOString()}`];
    }
    if (typeof value === 'object' && !/^(Long|Int32|Double)$/.test(value._bsontype)) {
        throw new Error(`${name}: must be true, a number, a text or a date`);
    }
    return [`${said}=${value}`];
};

/* Names that the shell handles itself. A URI may contain a password, and other users see the arguments of a process. */
const ours = ['background', 'uri', 'progress'];

const words = (command, operand, options) => {
    if ('uri' in options) {
        throw new Error('uri: the shell\'s own connection is used; { uriFile: FILE } names another');
    }
    const given = Object.entries(options).filter(([name]) => !ours.includes(name))
        .sort(([, a], [, b]) => (a === true) - (b === true)); /* no option is taken for the value of one without */
    const named = operand === null ? [] : [operand.startsWith('-') ? `./${operand}` : operand];
    return [command, ...named, ...given.flatMap(([name, value]) => option(name, value))];
};

/* Rejects what JSON would leave out or turn into null: a condition of `where` would be missing, or another one. */
const checkValues = (value, at) => {
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    const named = kind === 'Object' && !value._bsontype && value.constructor ? value.constructor.name : 'Object';
    if (['Undefined', 'Symbol', 'Function', 'AsyncFunction', 'Promise'].includes(kind) || named !== 'Object') {
        const what = named !== 'Object' ? `a ${named}` : kind === 'Undefined' ? 'undefined' : `a ${kind.toLowerCase()}`;
        throw new Error(`${at} is ${what}: a plan has values only (null where it is meant, names as text)`);
    }
    if (kind === 'Array' || (kind === 'Object' && !value._bsontype)) {
        Object.entries(value).forEach(([name, one]) => checkValues(one, `${at}.${name}`));
    }
};

/* Relaxed Extended JSON makes an int of a long and of a double without a fraction; an int is a number in any. */
const planText = (shell, plan) => JSON.stringify(shell.EJSON.serialize(plan, { relaxed: false }),
    (name, value) => (typeof value?.$numberInt === 'string' ? Number(value.$numberInt) : value), 2);

/* The tools read plans from files: a plan given as a document is written to one, only for this user and this call. */
const withPlanFile = async (shell, plan, use) => {
    if (!isPlan(plan)) {
        return use(plan);
    }
    checkValues(plan, 'plan');
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'mongoreshape-'));
    try {
        const file = path.join(dir, 'plan.json');
        const text = 'database' in plan ? plan : { database: shell.db().getName(), ...plan };
        fs.writeFileSync(file, planText(shell, text), { mode: 0o600 });
        return await use(file);
    } finally {
        fs.rmSync(dir, { recursive: true, force: true });
    }
};

/* ---- back ---- */
/* The words of a line that a tool quoted for sh. */
const split = (line) => {
    const found = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/gs) || [];
    return found.map((word) => word.replace(/'([^']*)'|\\(.)/gs, (all, quoted, single) => quoted ?? single));
};

/* "mongoreshape-live verify embed.yaml --execute" is reshape.verify("embed.yaml", { execute: true }) here. */
const shellCall = (line, plan) => {
    const [, command, ...rest] = split(line);
    const options = {};
    let operand = null;
    while (rest.length) {
        const word = rest.shift();
        if (!word.startsWith('--')) {
            operand = word;
            continue;
        }
        const name = word.slice(2).replace(/-([a-z])/g, (all, c) => c.toUpperCase());
        options[name] = rest.length && !rest[0].startsWith('--') ? rest.shift() : true;
    }
    const given = operand === null ? null : isPlan(plan) ? 'plan' : JSON.stringify(operand);
    const hidden = ['uri', 'uriFile', 'db', 'json', ...(command === 'abort' ? ['clean'] : [])];
    const watched = command === 'status' && options.watch;
    const kept = Object.entries(options).filter(([name]) => !hidden.includes(name) && !(watched && name === 'watch'));
    const said = kept.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
    return `reshape.${watched ? 'watch' : command}(${[given, said && `{ ${said} }`].filter(Boolean).join(', ')})`;
};

/* The output of a tool, with its next line as a call. */
const withNext = (said, plan) => (said.next ? { ...said, next: shellCall(said.next, plan) } : said);

module.exports = { take, words, withPlanFile, withNext };
