/** The faults of stored runs: what a kill, a full disk, another version or a sender leaves of them. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One stored run with one fault, and what `report` says of it. */
export interface RunCase {
  fault: string;
  spoil: (folder: string) => void;
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
    spoil: (folder) =>
      editLine(folder, 0, (line) =>
        line.replace(/"latencyHistogram":"[^"]*"/, '"latencyHistogram":"bm90IG9uZQ=="'),
      ),
    says: /a latency histogram cannot be read/,
  },
  {
    fault: 'has a record with a histogram of many digits',
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
    says: /trials\.jsonl: cannot be read: EISDIR/,
  },
];
