import { describe, expect, it } from 'vitest';
import type { Gateway, HostFacts } from '../src/gateway.ts';
import { inspectCluster, refuseUnfit } from '../src/inspect.ts';

const OWN = {
  niceness: 0,
  digest: '0123456789abcdef',
  node: { path: process.execPath, version: process.version },
} as HostFacts;

function gatewayOf(facts: Partial<HostFacts>): Gateway {
  const answers = {
    place: [{ agent: 1, node: 'n', role: 'server' }],
    nodes: [{ node: 'n', address: '10.0.0.2', hostname: 'there', resources: ['server'], alive: true }],
  };
  const ask = async (what: string, order?: { agent?: number }) => {
    if (what === 'describe') return order?.agent === undefined ? OWN : { ...OWN, ...facts };
    return answers[what as keyof typeof answers];
  };
  return { ask } as unknown as Gateway;
}

const SPREAD = { address: '', role: 'server', hosts: 1, threshold: 0.05, deadlineSeconds: 1, checkout: '/b' };

/** Returns the reason why a host with these facts cannot take part; undefined if it can. */
async function refusalOf(facts: Partial<HostFacts>): Promise<string | undefined> {
  try {
    refuseUnfit(await inspectCluster(gatewayOf(facts), SPREAD));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a host of a cluster', () => {
  it('takes part if it has all that this one has', async () => {
    expect(await refusalOf({})).toBeUndefined();
  });

  it.for<[string, object, RegExp]>([
    ['without a checkout', { digest: undefined }, /^there: it has no checkout .* in \/b$/],
    [
      'with another checkout',
      { digest: 'fedcba9876543210' },
      /^there: its checkout fedcba987654 differs from 0123456789ab here: check out the same commit$/,
    ],
    ['with another Node', { node: { version: 'v1.2.3' } }, /^there: its Node is v1\.2\.3, and this/],
    ['whose processes give way', { niceness: 15 }, /^there: .* niceness of 15, and those here 0/],
  ])('is refused %s', async ([, facts, why]) => {
    expect(await refusalOf(facts)).toMatch(why);
  });
});
