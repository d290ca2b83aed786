/** Limits that the command line and stored plans share. */

/** The most rounds of a run: the exact tests of more take minutes and gigabytes, and nobody needs them. */
export const MOST_ROUNDS = 1000;
