/* SPDX-License-Identifier: Apache-2.0 */
/* background.js - apply without waiting for its end: the tool runs as its own process, which outlives the shell.
 *
 * We wait until the run has an owner and has begun its work, or until it has ended: a plan that cannot begin is an
 * error here, not one in a file. The output goes to a file that only this user can read. */
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');

const { words, withPlanFile, withNext } = require('./line.js');
const { start, report, connection } = require('./tool.js');

const LOOK_MS = 500;
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/* Starts it; ended() is null while it runs, then its result. A run names the process that works on it. */
const begin = (args, uri, log) => {
    let answer = null, failed = null;
    const out = fs.openSync(log, 'wx', 0o600);
    const child = start('mongoreshape-live', args, uri, [out, out], { detached: true }, (e) => { failed = e; });
    fs.closeSync(out);
    child.on('exit', (status, signal) => {
        answer = { name: 'mongoreshape-live', status: status ?? 128, signal, stdout: '', stderr: '' };
    });
    child.unref();
    const ended = () => {
        if (failed) {
            throw failed;
        }
        if (answer) {
            answer.stdout = answer.stderr = fs.readFileSync(log, 'utf8');
        }
        return answer;
    };
    return { ended, owns: (status) => status.at_work && status.owner.includes(`:${child.pid}:`) };
};

const inBackground = async (shell, reshape, { plan, options }) => {
    if (!options.execute) {
        throw new Error('background: only with execute: true; without it nothing is begun');
    }
    const server = connection(shell, options);
    const outlook = await reshape.apply(plan, { ...options, background: false, execute: false });
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'mongoreshape-'));
    const log = path.join(dir, 'apply.json');
    return withPlanFile(shell, plan, async (file) => {
        const job = begin(words('apply', file, { ...server.options, json: true }), server.uri, log);
        for (;;) {
            await sleep(LOOK_MS);
            const answer = job.ended();
            if (answer) {
                fs.rmSync(dir, { recursive: true, force: true });
                return withNext(report(shell, answer, server.uri), plan);
            }
            const status = await reshape
                .status({ run: outlook.planId, stateDb: options.stateDb, uriFile: options.uriFile })
                .catch(() => ({})); /* not begun yet */
            if (job.owns(status) && status.phase !== 'claimed') {
                return { run: status.run, phase: status.phase, log, next: status.next };
            }
        }
    });
};

module.exports = { inBackground };
