/** The external service of the workload `gather`. Servers that run at the same time have one upstream each. */
import { present } from 'bench-model/options';
import { fixturesOf } from 'bench-targets/catalogue/workloads/index';
import type { UpstreamUse } from 'bench-model/companions';
import type { CompanionContext, CompanionKind, RunningCompanion, TrialCompanion } from '../companion.ts';
import { judgeUpstream } from 'bench-analysis/judge/companions';
import {
  findUpstream,
  startUpstream,
  useBetween,
  type Upstream,
  type UpstreamLook,
  type UpstreamProgram,
} from './upstream.ts';

export const upstream: CompanionKind = {
  name: 'upstream',
  async find(plan) {
    const fixtures = fixturesOf(plan);
    if (fixtures === undefined) return undefined;
    const program = await findUpstream();
    return {
      name: 'upstream',
      version: `${program.kind} ${program.version}`,
      isPlaced: true,
      start: (context) => startUpstreams(program, fixtures, context),
    };
  },
};

/**
 * The upstreams of a run. Consecutive trials share the first one. Servers that take turns get one each, so that every
 * upstream counts the requests of one server.
 */
export async function startUpstreams(
  program: UpstreamProgram,
  fixtures: readonly string[],
  context: CompanionContext,
): Promise<RunningCompanion> {
  const all: Upstream[] = [];
  const free: Upstream[] = [];
  const startOne = async (): Promise<Upstream> => {
    const started = await startUpstream(program, fixtures, context, all.length);
    all.push(started);
    return started;
  };
  const first = await startOne();
  free.push(first);
  return {
    name: 'upstream',
    address: first.url,
    head: () => ({ kind: program.kind, version: program.version }),
    async begin({ fetches = 0 }) {
      const one = free.shift() ?? (await startOne());
      return beginTrial(one, fetches, () => free.push(one));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Begins the part of an upstream in one trial; `fetches` is the number of fixtures behind one correct response,
 * `release` returns the upstream. Throws an upstream error if it does not respond: then there is no point in
 * launching the server.
 */
export async function beginTrial(
  program: Pick<Upstream, 'env' | 'process' | 'look'>,
  fetches: number,
  release: () => void,
): Promise<TrialCompanion> {
  let before: UpstreamLook | undefined;
  let use: UpstreamUse | undefined;
  try {
    await program.look();
  } catch (error) {
    release();
    throw error;
  }
  return {
    env: program.env,
    process: () => program.process(),
    async beforeLoad() {
      before = await program.look();
    },
    count: async () => ({ fetches: (await program.look()).requests }),
    async afterLoad() {
      if (before !== undefined) use = useBetween(before, await program.look());
    },
    limit: 'upstream',
    judge: (evidence) => (use === undefined ? [] : judgeUpstream(evidence, use, fetches)),
    record: (resources) => use && { ...use, ...present({ resources }) },
    async [Symbol.asyncDispose]() {
      release();
    },
  };
}
