/** Rechecks published results: reads a pasted text and checks the figures of its tables. */

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

/** A report of time(1) and its check. */
export interface CheckedTime {
  printed: PrintedTime;
  check: TimeCheck;
}

/** An autocannon test and its checks; a check is absent if the text lacks its figures. */
export interface CheckedTest {
  printed: PrintedTest;
  goodput: Goodput | Missing;
  /** The printed average compared with goodput. */
  verdict?: Verdict;
  totals?: TotalsCheck;
  ticks?: TickCheck;
  little?: LittleCheck;
  latency?: LatencyCheck;
  errors?: ErrorCheck;
  time?: CheckedTime;
}

/** The findings of a text, in order. */
export interface Recheck {
  file: string;
  tests: CheckedTest[];
  /** Reports without a table. */
  times: CheckedTime[];
}

/**
 * Checks every autocannon table and time(1) report in `text`. Errors call it `file`. Throws a usage error if there is
 * neither, or if a row cannot be read.
 */
export function recheck(text: string, file: string): Recheck {
  const document = readDocument(text, file);
  if (document.tests.length === 0 && document.times.length === 0) {
    throw new BenchError(
      'usage',
      `${file}: no autocannon table and no time(1) report in ${document.lines} ${document.lines === 1 ? 'line' : 'lines'}`,
      'paste the output of autocannon (rows "│ Latency │" and "│ Req/Sec │", line "… requests in …s, … read") or of /usr/bin/time -l or -v, as it was printed',
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
