/* SPDX-License-Identifier: Apache-2.0 */
/* help.js - the text of reshape.help(); the tools have the full help of a command: reshape.help('apply'). */
'use strict';

const overview = `reshape: documents of this server from one schema design to another, by a plan.
A plan is the name of a YAML or JSON file, or a document: { steps: [ { set: { in: "orders", fields: { ... } } } ] }.
Nothing of yours is written without { execute: true }.

  reshape.check(plan)                         its mistakes
  reshape.explain(plan)                       what it does, in words; { live: true }: how it may run alongside writers,
                                              { stage: true }: as the stage $reshape
  reshape.pipeline(plan)                      its steps as aggregation pipelines, or why one is none
  reshape.apply(plan)                         what would be done here; { execute: true } adds the new design
                                              { quietBy: "validator" }: the whole change, with writers kept out
                                              { background: true }: does not wait for the end
  reshape.status(), reshape.watch()           how far a run is, once or until nobody works on it
  reshape.pause(), reshape.resume()           between two batches
  reshape.throttle({ docs: 500, bytes: "2M" })
  reshape.verify(plan)                        compares; { repair: true, execute: true } brings up to date
  reshape.contract(plan)                      what of the old design would go; { execute: true } removes it
  reshape.rollback(plan)                      what of the new design would go; { execute: true } removes it
  reshape.abort(plan)                         what a run left in the state database; { execute: true } removes it
  reshape.help("apply")                       everything about one of them

Instead of a plan { run: ID } names a run. All options of mongoreshape-live are there: --max-refused is maxRefused.
The server is that of the shell; { uriFile: FILE } names another. Manual: docs/SHELL.md.`;

module.exports = { overview };
