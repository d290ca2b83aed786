/** Rechecks what others printed: reads a pasted text and says what its tables really show. */

import { BenchError } from '../../errors.ts';
import { present } from '../../plan/options.ts';
import type { PrintedTest } from './autocannon.ts';
import {
  checkErrors,
  checkLatency,
  checkLittle,
  checkTicks,
  type ErrorCheck,
  type LatencyCheck,
  type LittleCheck,
  type TickCheck,
} from './checks.ts';
import { pair, readDocument, type PrintedTime } from './document.ts';
import {
  boundGoodput,
  checkTotals,
  judgePrinted,
  type Goodput,
  type Missing,
  type TotalsCheck,
  type Verdict,
} from './goodput.ts';
import { checkTime, type TimeCheck } from './timed.ts';

/** A report of time(1) and what it shows. */
export interface CheckedTime {
  printed: PrintedTime;
  check: TimeCheck;
}

/** An autocannon test and what it shows; a check that its text does not allow is absent. */
export interface CheckedTest {
  printed: PrintedTest;
  goodput: Goodput | Missing;
  /** How the printed average stands to goodput. */
  verdict?: Verdict;
  totals?: TotalsCheck;
  ticks?: TickCheck;
  little?: LittleCheck;
  latency?: LatencyCheck;
  errors?: ErrorCheck;
  time?: CheckedTime;
}

/** All that a text holds, in its order. */
export interface Recheck {
  file: string;
  tests: CheckedTest[];
  /** Reports that belong to none of the tables. */
  times: CheckedTime[];
}

/**
 * Reads `text` and checks every autocannon table and time(1) report in it. `file` is what errors call it.
 * Throws a usage error where there is neither, or a row cannot be read.
 */
export function recheck(text: string, file: string): Recheck {
  const document = readDocument(text, file);
  if (document.tests.length === 0 && document.times.length === 0) {
    throw new BenchError(
      'usage',
      `${file}: neither an autocannon table nor a time(1) report in its ${document.lines} ${document.lines === 1 ? 'line' : 'lines'}`,
      'looked for a row "│ Latency │", a row "│ Req/Sec │", a line "… requests in …s, … read", and the output of /usr/bin/time -l or -v: paste one of them as it was printed',
    );
  }
  const pairs = pair(document);
  const times = document.times.map((printed) => ({ printed, check: checkTime(printed, pairs.get(printed)) }));
  return {
    file,
    tests: document.tests.map((test) =>
      checkTest(
        test,
        times.find(({ printed }) => pairs.get(printed) === test),
      ),
    ),
    times: times.filter(({ printed }) => !pairs.has(printed)),
  };
}

function checkTest(printed: PrintedTest, time: CheckedTime | undefined): CheckedTest {
  const goodput = boundGoodput(printed);
  return {
    printed,
    goodput,
    ...present({
      verdict: judgePrinted(printed, goodput),
      totals: checkTotals(printed),
      ticks: checkTicks(printed),
      little: checkLittle(printed, goodput),
      latency: checkLatency(printed),
      errors: checkErrors(printed),
      time,
    }),
  };
}
