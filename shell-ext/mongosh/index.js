/* SPDX-License-Identifier: Apache-2.0 */
/* index.js - the commands of `reshape` in mongosh: each starts one of the two tools and returns its output.
 *
 * This code does not interpret plans and reads no documents: only the tools know the meaning of a plan, and the
 * progress of a run. mongosh awaits the promises that these functions return. */
'use strict';

const { take, words, withPlanFile, withNext } = require('./lib/line.js');
const { run, report, typed, connection } = require('./lib/tool.js');
const { watch } = require('./lib/watch.js');
const { inBackground } = require('./lib/background.js');
const { overview } = require('./lib/help.js');

const OFFLINE = 'mongoreshape', ONLINE = 'mongoreshape-live';

/* mongosh awaits promises with this mark like those of its own functions: reshape.status().phase is a text. */
const awaited = (promise) => Object.defineProperty(promise, Symbol.for('@@mongosh.syntheticPromise'), { value: true });

module.exports = (shell) => {
    /* A command of the tool without a server, and what it prints. */
    const offline = (command, given, more) => {
        const { plan, options } = take(given);
        if (!plan) {
            throw new Error(`reshape.${command}: which plan? The name of a file, or { steps: [ ... ] }`);
        }
        return withPlanFile(shell, plan, (file) => run(OFFLINE, words(command, file, { ...options, ...more })));
    };
    const parsed = async (answer) => report(shell, await answer);

    /* A command of the tool with a server, as a report. */
    const online = (command, given, more = {}) => {
        const { plan, options } = take(given);
        const server = connection(shell, options);
        return withPlanFile(shell, plan, async (file) => {
            const line = words(command, file, { ...server.options, ...more, json: true });
            const answer = await run(ONLINE, line, { uri: server.uri, shown: Boolean(options.execute) });
            return withNext(report(shell, answer, server.uri), plan);
        });
    };

    const reshape = {
        check: (...given) => parsed(offline('check', given, { json: true })),
        explain: async (...given) => {
            const answer = await offline('explain', given, {});
            const json = Boolean(take(given).options.json);
            return json || answer.status > 1 ? report(shell, answer, null, typed) : answer.stdout.trimEnd();
        },
        pipeline: async (...given) => {
            const answer = await offline('explain', given, { pipeline: true, json: true });
            return report(shell, answer, null, typed).steps;
        },
        apply: (...given) => (take(given).options.background
            ? inBackground(shell, reshape, take(given))
            : online('apply', given)),
        verify: (...given) => online('verify', given),
        contract: (...given) => online('contract', given),
        rollback: (...given) => online('rollback', given),
        abort: (...given) => online('abort', given, { clean: true }),
        status: (...given) => online('status', given),
        pause: (...given) => online('pause', given),
        resume: (...given) => online('resume', given),
        throttle: (...given) => online('throttle', given),
        watch: (...given) => watch(shell, take(given)),
        help: async (command) => {
            if (command === undefined) {
                return overview;
            }
            const tool = ['check', 'explain', 'pipeline'].includes(command) ? OFFLINE : ONLINE;
            const asked = { pipeline: 'explain', watch: 'status' }[command] || String(command);
            const answer = await run(tool, words('help', asked, {}));
            return answer.status ? report(shell, answer) : answer.stdout.trimEnd();
        },
    };
    const called = ([name, call]) => [name, (...given) => awaited(call(...given))];
    return Object.fromEntries(Object.entries(reshape).map(called));
};
