/* SPDX-License-Identifier: Apache-2.0 */
/* load.js - loaded by mongosh: load('.../load.js') by hand or in ~/.mongoshrc.js defines `reshape`.
 *
 * A module that mongosh requires does not see the shell's own names, so they are passed here; `db` as a function, since
 * `use` changes it. */
globalThis.reshape = require(`${__dirname}/index.js`)({
    db: () => db,
    print: (...words) => print(...words),
    EJSON,
});
