import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { concurrently, type CloseEvent, type Command } from 'concurrently';
import { unreachedError } from 'bench-targets/prepare/unreached';
import type { Job } from './jobs.ts';

const ERROR_LINES = 30;

/** The end of a job, and its output. */
export interface Done {
  job: Job;
  passed: boolean;
  output: string;
  /** Set if a registry could not be reached, so that the job says nothing about the code. */
  unreached?: string;
}

/**
 * Runs the jobs of one stage in parallel and prints the output of each when it ends. Never rejects because a job
 * failed.
 */
export async function runStage(
  jobs: Job[],
  { cwd, print = process.stdout }: { cwd: string; print?: Writable },
): Promise<Done[]> {
  if (jobs.length === 0) return [];
  const { commands, result } = concurrently(jobs, {
    cwd,
    group: true,
    prefixColors: 'auto',
    outputStream: print,
  });
  const outputs = commands.map(collect);
  // It rejects after the same events if a job fails.
  const ends = await result.catch((events: CloseEvent[]) => events);
  return jobs.map((job, index) => {
    const passed = ends.find((end) => end.index === index)?.exitCode === 0;
    const output = outputs[index]?.() ?? '';
    const unreached = passed || job.tool === undefined ? undefined : unreachedError(job.tool, output);
    return { job, passed, output, ...(unreached === undefined ? {} : { unreached: unreached.message }) };
  });
}

/** Collects the output of a command. Returns a function that gives all of it so far. */
function collect(command: Command): () => string {
  const parts: string[] = [];
  for (const stream of [command.stdout, command.stderr])
    stream.subscribe((part) => void parts.push(String(part)));
  return () => parts.join('');
}

/** Summarises a check: the failed jobs with the end of their output, and the number of passed ones. */
export function summarise(done: readonly Done[]): string[] {
  const failed = done.filter(({ passed, unreached }) => !passed && unreached === undefined);
  const unchecked = Map.groupBy(
    done.filter(({ unreached }) => unreached !== undefined),
    ({ unreached }) => unreached,
  );
  const details = failed.flatMap(({ job, output }) => [
    `── ${job.name}: ${job.command.trim()}`,
    ...stripVTControlCharacters(output).trimEnd().split('\n').slice(-ERROR_LINES),
  ]);
  const passed = done.filter((one) => one.passed).length;
  const names = failed.map(({ job }) => job.name);
  return [
    ...details,
    ...[...unchecked].map(
      ([why, jobs]) => `not checked: ${jobs.map(({ job }) => job.name).join(', ')} (${why})`,
    ),
    failed.length === 0
      ? `${passed} of ${done.length} jobs passed`
      : `${failed.length} of ${done.length} jobs failed: ${names.join(', ')}`,
  ];
}
