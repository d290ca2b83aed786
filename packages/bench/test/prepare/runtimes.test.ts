import { describe, expect, it } from 'vitest';
import { lastLine } from '../../src/prepare/runtimes.ts';

const PNPM = `Error: ERR_PNPM_NO_MATCHING_VERSION

  × installing dependencies
  ├─▶ Failed to resolve dependency tree: No matching version found for
  │   fastify@99.0.0 while fetching it from https://registry.example/
  ╰─▶ No matching version found for fastify@99.0.0 while fetching it from
      https://registry.example/
  help: The latest release of fastify is "5.12.8". Published at 11/2/2026

        If you need the full list of all 334 published versions run "pnpm view
        fastify versions".
`;

const UV = `Using Python 3.13.1 environment at: x
  × No solution found when resolving dependencies:
  ╰─▶ Because there is no version of fastapi==0.999 and you require
      fastapi==0.999, we can conclude that your requirements are
      unsatisfiable.
`;

describe('the line that says what went wrong', () => {
  it.each([
    ['pnpm', PNPM, 'No matching version found for fastify@99.0.0 while fetching it from …'],
    [
      'uv',
      UV,
      'Because there is no version of fastapi==0.999 and you require fastapi==0.999, we can conclude that your requirements are unsatisfiable.',
    ],
    ['a cause', 'error: it failed\n  Caused by: `https://a.example/x`\n', 'Caused by: `…`'],
    ['neither', 'one\ntwo\n', 'two'],
    ['nothing', undefined, ''],
  ])('is complete and contains no address: %s', (_, text, line) => {
    expect(lastLine(text)).toBe(line);
  });
});
