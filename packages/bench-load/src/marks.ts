/** The work so far of a client in a separate process. */
export interface WorkMark {
  /** Answers of any status. */
  completed: number;
  /** User and system time of its process. */
  cpuUs: number;
}

/**
 * Prints the work so far as one JSON line for each line on stdin, and ends this process with its stdin. Returns a function
 * that prints it at once.
 */
export function tellWork(countCompleted: () => number): () => void {
  const tell = (): void => {
    const { user, system } = process.cpuUsage();
    const mark: WorkMark = { completed: countCompleted(), cpuUs: user + system };
    process.stdout.write(`${JSON.stringify(mark)}\n`);
  };
  process.stdin.on('data', tell).on('end', () => process.exit(0));
  return tell;
}
