import { readFileSync } from 'node:fs';
import { BenchError } from 'bench-model/errors';

/** Reads a text file; `-` is standard input. Throws a usage error if it cannot be read. */
export function readText(file: string): { text: string; name: string } {
  if (file === '-') return { text: readFileSync(0, 'utf8'), name: 'stdin' };
  try {
    return { text: readFileSync(file, 'utf8'), name: file };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const problem = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`;
    throw new BenchError('usage', `${file}: ${problem}`, 'name a text file');
  }
}
