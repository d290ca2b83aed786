import { expect, it } from 'vitest';
import { COMMAND_CASES } from './commands.ts';
import { PROJECT_CASES } from './projects.ts';
import { RUN_CASES } from './runs.ts';
import { SERVER_CASES } from './servers.ts';

const HEAD = `# Faults

Each case plants one fault at one phase of a trial or of its run. It expects the verdict, the words, what is kept, an end in time, and
that nothing is left: no process, port, cgroup, lock or temporary file. This list is made from the tables: \`servers.ts\`,
\`commands.ts\`, \`runs.ts\` and \`projects.ts\`. Interruptions and kills have tests of their own beside it. Upstreams, databases and other hosts fail in
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
  const runs = RUN_CASES.map(({ fault, says }) => [
    'report',
    fault,
    says === undefined ? 'every whole record' : 'the files',
  ]);
  const projects = PROJECT_CASES.map(({ fault, shows }) => [
    'init',
    fault,
    shows === undefined ? 'nothing is executed' : 'shown first',
  ]);
  const text = [
    HEAD,
    render('A server that', servers),
    render('A command while', commands),
    render('A stored run that', runs),
    render('A project that has', projects),
  ].join('');
  await expect(text).toMatchFileSnapshot('README.md');
});
