/** The faults of stored runs: what a kill, a full disk, another version or a sender leaves of them. */

import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runSync } from 'bench-machine/subprocess';
import type { Plan } from 'bench-model/plan';
import type { RunFile } from 'bench-model/run';
import { WHY_SCHEMA } from 'bench-model/versions';
import type { WhyFile } from 'bench-model/why';

/** One stored run with one fault, and what `report` says of it. */
export interface RunCase {
  fault: string;
  spoil: (folder: string) => void;
  /** The format that needs what is spoilt; the table if absent. */
  format?: 'json';
  /** The error; absent if the report is that of the sound run. */
  says?: RegExp;
}

function edit(folder: string, name: string, change: (text: string) => string): void {
  const file = join(folder, name);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function editLine(folder: string, index: number, change: (line: string) => string): void {
  edit(folder, 'trials.jsonl', (text) => {
    const lines = text.split('\n');
    return lines.with(index, change(lines[index] ?? '')).join('\n');
  });
}

function editPlan(folder: string, change: (plan: Plan) => Plan): void {
  edit(folder, 'run.json', (text) => {
    const run = JSON.parse(text) as RunFile;
    return JSON.stringify({ ...run, plan: change(run.plan) });
  });
}

/** Writes profiles of a function that these nodes call. */
function writeWhy(folder: string, tree: WhyFile['tree']): void {
  const why: WhyFile = {
    schema: WHY_SCHEMA,
    run: 'a-run',
    connections: 1,
    seconds: 1,
    pairs: [{ baseline: 'vanilla', candidate: 'fastify' }],
    frames: [{ name: 'serve', file: 'server.js', module: 'server.js' }],
    tree,
    sides: [],
    missing: [],
  };
  writeFileSync(join(folder, 'why.json'), JSON.stringify(why));
}

/** A histogram that asks for 100 times the memory of those of Bench. */
const MANY_DIGITS = 'HISTFAAAAB14nJNpmSzMgACsUJoRiEVkrycw2H+ACAAASagD5A==';

export const RUN_CASES: RunCase[] = [
  {
    fault: 'has half a record at its end',
    spoil: (folder) => appendFileSync(join(folder, 'trials.jsonl'), '{"schema":1,"id":"003-van'),
  },
  {
    fault: 'has half a record before another one',
    spoil: (folder) => editLine(folder, 0, (line) => line.slice(0, 100)),
    says: /trials\.jsonl:1: .*JSON/,
  },
  {
    fault: 'has a line that is no record',
    spoil: (folder) => editLine(folder, 1, () => 'null'),
    says: /trials\.jsonl:2: not a trial record/,
  },
  {
    fault: 'has a record of another version',
    spoil: (folder) => editLine(folder, 1, (line) => line.replace(/"schema":\d/, '"schema":99')),
    says: /trials\.jsonl:2: .*schema 99/,
  },
  {
    fault: 'has a record with a damaged histogram',
    format: 'json',
    spoil: (folder) =>
      editLine(folder, 0, (line) =>
        line.replace(/"latencyHistogram":"[^"]*"/, '"latencyHistogram":"bm90IG9uZQ=="'),
      ),
    says: /a latency histogram cannot be read/,
  },
  {
    fault: 'has a record with a histogram of many digits',
    format: 'json',
    spoil: (folder) =>
      editLine(folder, 0, (line) =>
        line.replace(/"latencyHistogram":"[^"]*"/, `"latencyHistogram":"${MANY_DIGITS}"`),
      ),
    says: /a latency histogram cannot be read: it has 5 significant digits/,
  },
  {
    fault: 'has a plan of another version',
    spoil: (folder) => edit(folder, 'run.json', (text) => text.replace(/"schema": \d/, '"schema": 99')),
    says: /run\.json: .*schema 99/,
  },
  {
    fault: 'has something else in place of its plan',
    spoil: (folder) => writeFileSync(join(folder, 'run.json'), '{}'),
    says: /run\.json: not a plan/,
  },
  {
    fault: 'has a plan of more rounds than can be computed',
    spoil: (folder) =>
      edit(folder, 'run.json', (text) => text.replace(/"rounds": \d+/, '"rounds": 10000000000')),
    says: /run\.json: not a plan: plan\.rounds must be <= 1000/,
  },
  {
    fault: 'has an empty plan',
    spoil: (folder) => writeFileSync(join(folder, 'run.json'), ''),
    says: /run\.json: cannot be read: .*JSON/,
  },
  {
    fault: 'has no description of its machine',
    spoil: (folder) => rmSync(join(folder, 'host.json')),
    says: /host\.json: cannot be read: ENOENT/,
  },
  {
    fault: 'has a folder in place of its records',
    spoil(folder) {
      rmSync(join(folder, 'trials.jsonl'));
      mkdirSync(join(folder, 'trials.jsonl'));
    },
    says: /trials\.jsonl: is a folder, not a file/,
  },
  {
    fault: 'has no line feed after its last record',
    spoil: (folder) => edit(folder, 'trials.jsonl', (text) => text.trimEnd()),
  },
  ...['run.json', 'host.json', 'trials.jsonl', 'why.json'].flatMap((name): RunCase[] => [
    {
      fault: `has a named pipe in place of ${name}`,
      spoil(folder) {
        rmSync(join(folder, name), { force: true });
        runSync(['mkfifo', join(folder, name)]);
      },
      says: new RegExp(`${name}: is a named pipe, not a file`),
    },
    {
      fault: `has a link to a device in place of ${name}`,
      spoil(folder) {
        rmSync(join(folder, name), { force: true });
        symlinkSync('/dev/zero', join(folder, name));
      },
      says: new RegExp(`${name}: is a link, not a file`),
    },
  ]),
  {
    fault: 'has records without an end',
    spoil: (folder) => truncateSync(join(folder, 'trials.jsonl'), 2 ** 40),
    says: /trials\.jsonl: is longer than 256 MiB/,
  },
  {
    fault: 'has a text of 100 MB in place of its plan',
    spoil: (folder) => writeFileSync(join(folder, 'run.json'), `"${'a'.repeat(100e6)}"`),
    says: /run\.json: not a plan/,
  },
  {
    fault: 'has 100 million empty records',
    spoil: (folder) => writeFileSync(join(folder, 'trials.jsonl'), Buffer.alloc(100e6, '\n')),
    says: /trials\.jsonl:1: cannot be read/,
  },
  {
    fault: 'has a plan that is nested deep',
    spoil: (folder) =>
      writeFileSync(join(folder, 'run.json'), `{"plan":${'['.repeat(2e5)}${']'.repeat(2e5)}}`),
    says: /run\.json: not a plan/,
  },
  {
    fault: 'has a plan of 100,000 numbers of connections',
    spoil: (folder) =>
      editPlan(folder, (plan) => ({ ...plan, rungs: Array.from({ length: 1e5 }, (_, at) => at + 1) })),
    says: /run\.json: not a plan: plan\.rungs must NOT have more than 100 items/,
  },
  {
    fault: 'has profiles whose calls lead in a circle',
    spoil: (folder) => writeWhy(folder, { parents: [1, 0], frames: [0, 0] }),
    says: /why\.json: not a file of profiles: a node of its tree has no way/,
  },
  {
    fault: 'has profiles that are nested deep',
    spoil: (folder) =>
      writeWhy(folder, {
        parents: Array.from({ length: 1e5 }, (_, at) => at - 1),
        frames: Array.from({ length: 1e5 }, () => 0),
      }),
    says: /why\.json: not a file of profiles: a node of its tree has no way/,
  },
  {
    fault: 'has profiles of functions without a name',
    spoil: (folder) => writeWhy(folder, { parents: [-1], frames: [1] }),
    says: /why\.json: not a file of profiles: an index leads nowhere/,
  },
  ...['latest; touch X #', '../../outside', '..', 'a/b', '--yes', 'a\nb'].map((id): RunCase => ({
    fault: `has the id ${JSON.stringify(id)}`,
    spoil: (folder) => editPlan(folder, (plan) => ({ ...plan, run: id })),
    says: /run\.json: not a plan: plan\.run must match pattern/,
  })),
  {
    fault: 'plans a trial outside its folder',
    spoil: (folder) =>
      editPlan(folder, ({ trials: [first, ...others], ...plan }) => ({
        ...plan,
        trials: [{ ...first!, id: '../../ESCAPED' }, ...others],
      })),
    says: /run\.json: not a plan: plan\.trials\.0\.id must match pattern/,
  },
  {
    fault: 'has a record of a trial outside its folder',
    spoil: (folder) => editLine(folder, 0, (line) => line.replace(/"id":"[^"]+"/, '"id":"../../ESCAPED"')),
    says: /trials\.jsonl:1: not a trial record: id must match pattern/,
  },
  ...['a\\n../../secret', '.ssh', 'logs//a', '/etc/passwd'].map((name): RunCase => ({
    fault: `names the file ${name}`,
    spoil: (folder) =>
      editLine(folder, 0, (line) => line.replace(/"files":\[[^\]]*\]/, `"files":["${name}"]`)),
    says: /trials\.jsonl:1: not a trial record: files\.0 must match pattern/,
  })),
];
