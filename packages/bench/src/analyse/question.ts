import { FACTORS, type Factor } from './unlike.ts';
import type { Question } from './compare.ts';
import { BenchError } from '../errors.ts';
import { METRIC_IDS } from '../model.ts';
import { DEFAULT_THRESHOLD, oneOf, parse, parseShare } from '../options.ts';

const VERDICTS = ['faster', 'slower', 'same', 'undecided'] as const;

/** What `pnpm compare` was asked. */
export interface CompareOptions {
  runs: string[];
  question: Question;
  failOn: (typeof VERDICTS)[number][];
  strict: boolean;
  across?: Factor;
  force: boolean;
  json: boolean;
}

/** Reads the command line of `pnpm compare`. Throws a usage error for whatever it cannot mean. */
export function parseCompareOptions(args: string[]): CompareOptions {
  const { values, positionals } = parse(args, {
    across: { type: 'string' },
    baseline: { type: 'string' },
    by: { type: 'string' },
    'fail-on': { type: 'string' },
    force: { type: 'boolean' },
    json: { type: 'boolean' },
    strict: { type: 'boolean' },
    threshold: { type: 'string' },
  });
  if (positionals.length > 2)
    throw new BenchError('usage', 'compare takes one run or two', 'pnpm compare <run> [<run>]');
  return {
    runs: positionals,
    question: {
      by: oneOf('by', values.by ?? 'cpu', METRIC_IDS),
      threshold: parseShare('threshold', values.threshold) ?? DEFAULT_THRESHOLD,
      ...(values.baseline === undefined ? {} : { baseline: values.baseline }),
    },
    failOn: (values['fail-on'] ?? '')
      .split(',')
      .filter(Boolean)
      .map((word) => oneOf('fail-on', word, VERDICTS)),
    strict: values.strict ?? false,
    ...(values.across === undefined ? {} : { across: oneOf('across', values.across, FACTORS) }),
    force: values.force ?? false,
    json: values.json ?? false,
  };
}
