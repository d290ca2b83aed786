import { expect, it } from 'vitest';
import { COMMAND_CASES } from './commands.ts';
import { SERVER_CASES } from './servers.ts';

const HEAD = `# Faults

Each case plants one fault at one phase of a trial or of its run. It expects the verdict, the words, what is kept, an end in time, and
that nothing is left: no process, port, cgroup, lock or temporary file. \`servers.ts\` and \`commands.ts\` hold the cases, and this list is made from
them. Interruptions and kills have tests of their own beside it. Upstreams, databases and other hosts fail in
\`packages/bench-lab/test/known\`.
`;

/** Renders a table of cases. */
function render(title: string, rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |\n`);
  return `\n## ${title}\n\n| phase | fault | kept |\n|---|---|---|\n${lines.join('')}`;
}

it('the list of faults names every case', async () => {
  const servers = SERVER_CASES.map(({ phase, fault, keeps, hasStranger }) => [
    phase,
    hasStranger ? `${fault}, and another program answers on its port` : fault,
    keeps,
  ]);
  const commands = COMMAND_CASES.map(({ phase, fault, kept }) => [
    phase,
    fault,
    kept.join(', ') || 'nothing',
  ]);
  expect(servers.length + commands.length).toBeGreaterThanOrEqual(60);
  const text = [HEAD, render('A server that', servers), render('A command while', commands)].join('');
  await expect(text).toMatchFileSnapshot('README.md');
});
