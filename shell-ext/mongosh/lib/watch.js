/* SPDX-License-Identifier: Apache-2.0 */
/* watch.js - prints a line at each progress of a run, until no process works on it any more. */
'use strict';

const { words, withPlanFile, withNext } = require('./line.js');
const { run, report, connection } = require('./tool.js');

const left = (s) => (s < 90 ? `${s} s` : s < 5400 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`);

/* One line of a run: its phase, progress, speed, and what limits it. */
const picture = (s) => {
    const whole = s.estimated > 0 ? ` of ~${s.estimated} (${s.percent} %)` : '';
    return [
        s.doing ? `${s.phase}: ${s.doing}` : s.phase,
        s.ns,
        s.done !== undefined && `${s.done}${whole} documents`,
        s.docs_per_s > 0 && `${Math.round(s.docs_per_s)}/s`,
        s.seconds_left !== undefined && `about ${left(Number(s.seconds_left))} left`,
        s.control?.pause ? 'paused' : s.limiting,
        s.refused > 0 && `${s.refused} refused`,
    ].filter(Boolean).join('  ');
};

const watch = (shell, { plan, options }) => {
    const server = connection(shell, options);
    return withPlanFile(shell, plan, async (file) => {
        let last = null, shown = '';
        const line = (text, child) => {
            last = shell.EJSON.parse(text);
            const now = last.run ? picture(last) : '';
            if (now && now !== shown) {
                shell.print(now);
                shown = now;
            }
            if (!last.at_work) {
                child.kill('SIGINT'); /* it would look on until the run is contracted or taken back */
            }
        };
        const args = words('status', file, { ...server.options, watch: true, json: true });
        const answer = await run('mongoreshape-live', args, { uri: server.uri, line });
        if (!last || !('run' in last || 'runs' in last)) {
            return report(shell, { ...answer, stdout: last ? JSON.stringify(last) : answer.stdout });
        }
        return withNext(last, plan);
    });
};

module.exports = { watch };
