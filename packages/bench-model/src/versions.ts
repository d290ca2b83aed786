/** The versions of stored files. SCHEMAS.md says what each version changed, and when to raise one. */

/** The version of a trial's record. */
export const RECORD_SCHEMA = 2;

/** The version of `run.json`. */
export const RUN_SCHEMA = 2;

/** The version of the profiles of a run. */
export const WHY_SCHEMA = 1;

/**
 * The version of the load driver, which is autocannon 9.0.0 with the accounting of Bench. Raise it with every change
 * that a server can notice or that moves a figure: the bytes, order and pace of requests and connects, the moments
 * between which a latency or CPU counts, the responses that count as right, or the version of autocannon. `compare` refuses
 * figures of two versions without `--across engine`.
 */
export const DRIVER_VERSION = '7';
