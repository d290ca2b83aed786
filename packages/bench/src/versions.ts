/** The versions of what is stored. Each schema carries its history; results/older.ts reads the older versions. */

/** The version of a trial's record. */
export const RECORD_SCHEMA = 3;

/** The version of `run.json`. */
export const RUN_SCHEMA = 2;

/** The version of a stored study of warm-up. */
export const STUDY_SCHEMA = 1;
