import { formatBytes, formatWhole } from '../src/format.ts';
import { element, list, table } from './elements.ts';
import type { Section } from './section.ts';

/** The machine, the versions and the servers as they were found. */
export const environment: Section = {
  id: 'environment',
  title: 'Environment',
  build: ({ page, rows }) => {
    const { host, versions, servers, setting } = page;
    const targets = new Set(rows.map(({ target }) => target));
    const facts: [string, string | undefined][] = [
      ['processor', host.cpuModel],
      ['cores', formatWhole(host.cores)],
      ['memory', formatBytes(host.memoryBytes)],
      ['virtual machine', host.virtualised === undefined ? undefined : host.virtualised ? 'yes' : 'no'],
      ['system', `${host.platform} ${host.release} (${host.arch})`],
      ['frequency governor', host.governor],
      ['cgroup', host.cgroup],
      ['load before the run', host.load.map((value) => value.toFixed(2)).join(', ')],
      ['Node of Bench', host.node],
      ...Object.entries(versions),
    ];
    return [
      list(setting),
      table(
        'Machine and versions',
        [
          { head: 'property', cell: ([name]) => name, isText: true },
          { head: 'value', cell: ([, value]) => value, isText: true },
        ],
        facts.filter(([, value]) => value !== undefined),
      ),
      table(
        'Servers as they were found',
        [
          { head: 'target', cell: ({ target }) => target.id, isText: true },
          { head: 'class', cell: ({ target }) => target.class, isText: true },
          { head: 'language', cell: ({ target }) => target.language, isText: true },
          { head: 'runtime', cell: ({ words }) => words, isText: true },
          { head: 'attested by the server', cell: ({ attested }) => join(attested ?? {}), isText: true },
          { head: 'build of the runtime', cell: ({ runtime }) => join(runtime?.build ?? {}), isText: true },
        ],
        servers.filter(({ target }) => targets.has(target.id)),
      ),
    ];
  },
};

function join(values: Record<string, unknown>): string {
  const all = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`);
  return all.length === 0 ? '—' : all.join(', ');
}

/** The command that repeats the run. */
export const repeat: Section = {
  id: 'repeat',
  title: 'Repeat it',
  build: ({ page }) => [
    ...(page.repeat === undefined
      ? []
      : [
          element('p', {}, 'This command measures the same again:'),
          element('pre', { tabindex: '0', 'aria-label': 'Command', role: 'region' }, page.repeat),
        ]),
    element(
      'p',
      {},
      `The run is ${page.run}. Every figure is in its trials.jsonl, and the plan with its seed in its run.json.`,
    ),
  ],
};

/** The notes in full, as `--detail` prints them. */
export const notes: Section = {
  id: 'notes',
  title: 'Notes',
  build: ({ page }) => (page.notes.length === 0 ? undefined : list(page.notes)),
};
