import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { run } from 'bench-machine/subprocess';
import { needs, tool } from '../../../bench-lab/testing/needs.ts';
import { nameGo } from '../../src/profile/go.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-go-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the functions of a program of Go without symbols', () => {
  needs(tool('go'));

  it('have the names and lines of its table of lines', async () => {
    const [source, program] = [join(folder, 'main.go'), join(folder, 'main')];
    writeFileSync(
      source,
      'package main\n\nimport "reflect"\n\n//go:noinline\nfunc planted() {}\n\nfunc main() { println(reflect.ValueOf(planted).Pointer()) }\n',
    );
    await run(['go', 'build', '-ldflags', '-s -w', '-o', program, source], { cwd: folder });
    const { stderr } = await run([program]);
    // perf prints the offset in the file, some versions also of what has a name. The linker of Go loads it at this address.
    const offset = (Number(stderr) - (process.arch === 'arm64' ? 0x1_0000 : 0x40_0000)).toString(16);
    const sample = (name: string, place = ''): string =>
      `\t    ${offset} ${name} (${program})${place}\n\t    10 [unknown] (${process.execPath})\n`;
    const named = sample('main.planted', ` ${source}:6`);
    for (const name of ['[unknown]', 'main.planted'])
      expect(await nameGo(sample(name), join(folder, 'draft'))).toBe(named);
  });
});
