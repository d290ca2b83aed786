/** Set up in each worker: two harnesses that looked for a port at the same moment started their servers on the same one. */

/** More than there are workers. */
const PARTS = 24;

process.env['BENCH_PORTS'] = `${1 + (Number(process.env['VITEST_POOL_ID']) % PARTS)}/${PARTS}`;
