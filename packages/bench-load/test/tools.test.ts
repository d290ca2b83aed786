import { describe, expect, it } from 'vitest';
import { summarise, timeoutsOf } from 'bench-statistics/histogram';
import { k6 } from '../src/tools/k6.ts';
import type { Tool, ToolRun } from '../src/tools/tool.ts';
import { wrk } from '../src/tools/wrk.ts';
import type { LatencyUs } from 'bench-model/figures';
import { readFixture } from '../../bench-lab/testing/samples.ts';

const RUN: ToolRun = {
  url: 'http://127.0.0.1:3000/api/devices',
  isInsecure: false,
  headers: { accept: "application/json; what='it is'" },
  connections: 10,
  threads: 2,
  seconds: 5,
  timeoutSeconds: 10,
};

function latencyOf(tool: Tool, output: string): LatencyUs | undefined {
  const { latency, counts } = tool.read(output);
  return summarise(latency, timeoutsOf(counts.timeout ?? 0, 10));
}

/** Returns the word after another. */
function after(words: string[], word: string): string | undefined {
  return words[words.indexOf(word) + 1];
}

describe('wrk 4.1.0', () => {
  const output = readFixture('engines/wrk-4.1.0.txt');

  it('is read from the output of its script, in its units', () => {
    const { windowSeconds, counts } = wrk.read(output);
    expect(windowSeconds).toBe(2.069077);
    expect(counts).toEqual({ ok: 31_932, non2xx: 322, timeout: 0, failed: 0 });
    expect(latencyOf(wrk, output)).toEqual({
      mean: 2742.144,
      max: 97_399,
      p50: 443,
      p75: 1135,
      p90: 3194,
      p97_5: 30_621,
      p99: 70_929,
      p99_9: 94_824,
    });
  });

  it('counts a failed connect as a failed request', () => {
    const refused = output.replace('"connect":0', '"connect":7').replace('"write":0', '"write":2');
    expect(wrk.read(refused).counts.failed).toBe(9);
  });

  it('counts a late response as a timeout, and percentiles among timeouts as bounds', () => {
    const late = output.replace('"timeout":0', '"timeout":400').replace('"read":0', '"read":3');
    expect(wrk.read(late).counts).toEqual({ ok: 31_532, non2xx: 322, timeout: 400, failed: 3 });
    expect(latencyOf(wrk, late)).toMatchObject({
      p97_5: 30_621,
      p99: 10e6,
      atLeast: ['p99', 'p99_9', 'max'],
    });
  });

  it('reports no percentile that has too few responses', () => {
    const few = output.replace('"requests":32254', '"requests":250').replace('"status":322', '"status":0');
    expect(Object.keys(latencyOf(wrk, few) ?? {})).toEqual(['mean', 'max', 'p50', 'p75', 'p90']);
  });

  it('gets the request as command-line arguments', () => {
    const words = wrk.argv(RUN);
    expect(after(words, '--threads')).toBe('2');
    expect(after(words, '--connections')).toBe('10');
    expect(after(words, '--duration')).toBe('5s');
    expect(after(words, '--timeout')).toBe('10s');
    expect(after(words, '--header')).toBe(`accept: ${RUN.headers['accept']}`);
    expect(words.at(-1)).toBe(RUN.url);
  });
});

describe('k6 1.8.1', () => {
  const output = readFixture('engines/k6-1.8.1.json');

  it('is read from the data of handleSummary', () => {
    const { windowSeconds, counts } = k6.read(output);
    expect(windowSeconds).toBeCloseTo(2.004313, 6);
    expect(counts).toEqual({ ok: 9768, failed: 98 });
    const latency = latencyOf(k6, output);
    expect(latency?.mean).toBeCloseTo(1863.72, 2);
    expect(latency?.max).toBeCloseTo(138_916.513, 3);
    expect(latency?.p50).toBeCloseTo(832.762, 3);
    expect(latency?.p97_5).toBeCloseTo(10_693.234, 3);
    // Fewer than ten responses are beyond it.
    expect(latency).not.toHaveProperty('p99_9');
  });

  it('gets the request in its environment', () => {
    const words = k6.argv(RUN);
    expect(words).toContain(`URL=${RUN.url}`);
    expect(words).toContain(`HEADERS=${JSON.stringify(RUN.headers)}`);
    expect(words).toContain('GODEBUG=http2client=0');
    for (const pair of ['CONNECTIONS=10', 'SECONDS=5', 'TIMEOUT=10']) expect(words).toContain(pair);
  });
});

describe.each([wrk, k6])('incomplete output of $name', (tool) => {
  it.each(['', 'unable to connect', '{}', '{"summary":null}'])('is not a result: %j', (text) => {
    expect(() => tool.read(text)).toThrow(/JSON|undefined|null/);
  });
});
