import type { Child } from 'bench-machine/subprocess';
import { describeGarbage, readLines } from './protocol.ts';

/** The length of the end of a stderr that is kept for an error. */
export const KEPT_STDERR = 2000;

/** Takes the messages of a program, and the reason why they end. */
export interface Listener<T> {
  take: (message: T) => void;
  broke: (why: string) => void;
}

/** Listens to a program that speaks in lines of JSON on its stdout. Its stdin, stdout and stderr are pipes. */
export function listenTo<T>(child: Child, { take, broke }: Listener<T>): void {
  let stderr = '';
  child.on('error', (error) => broke(error.message));
  child.on('exit', (status, signal) => broke(describeExit(signal ?? status, stderr)));
  child.stdin?.on('error', () => {});
  child.stderr?.on('data', (text: Buffer) => {
    stderr = (stderr + text.toString()).slice(-KEPT_STDERR);
  });
  if (child.stdout === null) return;
  const refuse = (line: string): void => broke(describeGarbage(line));
  readLines<T>(
    child.stdout,
    (message) => {
      try {
        take(message);
      } catch {
        // Its fields are not those of a message.
        refuse(JSON.stringify(message));
      }
    },
    refuse,
  );
}

/** Says how a program ended, with what it wrote to stderr. */
export function describeExit(status: string | number | null, stderr: string): string {
  const written = stderr.trim();
  return `it ended (${status})${written && `: ${written}`}`;
}
