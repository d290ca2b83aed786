/**
 * Returns a reader for one metric of `Server-Timing` (W3C) in raw headers, with names and values in turn. The reader
 * returns the duration in ms, or undefined if the headers lack it.
 */
export function createTimingReader(metric: string): (headers: readonly string[]) => number | undefined {
  const duration = new RegExp(`(?:^|,)\\s*${metric}(?:\\s*;[^,]*?)?\\s*;\\s*dur\\s*=\\s*"?([\\d.]+)`, 'i');
  return (headers) => {
    for (let index = 0; index < headers.length; index += 2) {
      if (headers[index]?.toLowerCase() !== 'server-timing') continue;
      const [, told] = duration.exec(headers[index + 1] ?? '') ?? [];
      if (told !== undefined) return Number(told);
    }
    return undefined;
  };
}
