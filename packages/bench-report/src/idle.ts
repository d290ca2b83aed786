import type { IdleCloses } from 'bench-model/load';
import { countOf, formatWhole } from './format.ts';

/** `21 connections after 2.0 s of silence, 2 requests were sent again`. */
export function describeIdleCloses({ count, sentAgain, leastSeconds, mostSeconds }: IdleCloses): string {
  const [least, most] = [leastSeconds, mostSeconds].map((seconds) => seconds.toFixed(1));
  const silence = least === most ? least : `${least} to ${most}`;
  const again =
    sentAgain === 0
      ? ''
      : `, ${formatWhole(sentAgain)} ${sentAgain === 1 ? 'request was' : 'requests were'} sent again`;
  return `${countOf(count, 'connection')} after ${silence} s of silence${again}`;
}
