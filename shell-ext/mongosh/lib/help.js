/* SPDX-License-Identifier: Apache-2.0 */
/* help.js - the text of reshape.help(); the tools have the full help of a command: reshape.help('apply'). */
'use strict';

const overview = `reshape: migrates documents of this server from one schema to another. A plan describes the change.
A plan is the name of a YAML or JSON file, or a document: { steps: [ { set: { in: "orders", fields: { ... } } } ] }.
Nothing is written to your collections without { execute: true }.

  reshape.check(plan)                         reports errors of the plan
  reshape.explain(plan)                       what each step does; { live: true }: how it can run while writers run,
                                              { stage: true }: as pipelines with the stage $reshape
  reshape.pipeline(plan)                      the steps as aggregation pipelines, or why a step is not one
  reshape.apply(plan)                         dry run; { execute: true } adds the new schema
                                              { quietBy: "validator" }: the whole change, while writers are stopped
                                              { background: true }: does not wait for the end
  reshape.status(), reshape.watch()           progress of a run: once, or until no process works on it
  reshape.pause(), reshape.resume()           pauses a run between two batches, continues it
  reshape.throttle({ docs: 500, bytes: "2M" }) limits per second; without options: no limits
  reshape.verify(plan)                        compares the schemas; { repair: true, execute: true } corrects the new one
  reshape.contract(plan)                      what it would remove of the old schema; { execute: true } removes it
  reshape.rollback(plan)                      what it would remove of the new schema; { execute: true } removes it
  reshape.abort(plan)                         what a run has in the state database; { execute: true } removes it
  reshape.help("apply")                       all options of a command

Instead of a plan, { run: ID } selects a run. Options are those of mongoreshape-live: --max-refused is maxRefused.
The server is that of the shell; { uriFile: FILE } selects another. Manual: docs/SHELL.md.`;

module.exports = { overview };
