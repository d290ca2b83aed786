import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { folderOf, LANGUAGES, scaffold, type NewStack } from '../../../scripts/new-stack/scaffold.ts';
import { errorOf, sampleStack } from '../../bench-lab/testing/samples.ts';

const root = mkdtempSync(join(tmpdir(), 'bench-scaffold-'));

afterAll(() => rmSync(root, { recursive: true }));

beforeEach(() => {
  rmSync(root, { recursive: true });
  write('packages/rustcontract/Cargo.toml', 'members = ["../actix", "../rocket"]\n');
  write(
    'pnpm-workspace.yaml',
    "packages:\n  - packages/*\n\ncatalog:\n  '@types/pg': 1.0.0\n  fastify: 5.12.8\n\nother: 1\n",
  );
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function make(
  wanted: Partial<NewStack> & Pick<NewStack, 'language'>,
  versions?: string[],
): Record<string, string> {
  const { files, edits } = scaffold(
    root,
    { name: 'my-api', packages: [], ...wanted },
    [sampleStack('taken')],
    versions,
  );
  return Object.fromEntries([...files, ...edits].map(({ path, text }) => [path, text]));
}

describe('a new stack', () => {
  it.each(LANGUAGES)(
    'in %s has a valid manifest, and no trace of the template name in any file',
    (language) => {
      const made = make({ language });
      for (const [path, text] of Object.entries(made)) {
        write(path, text);
        expect(`${path}\n${text}`.replaceAll('.example', '')).not.toContain('example');
      }
      const { name, variants } = readManifest(
        join(root, folderOf({ name: 'my-api', language }), 'stack.json'),
      );
      expect([name, Object.values(variants).map(({ workloads }) => workloads)]).toEqual([
        'my-api',
        [['devices']],
      ]);
    },
  );

  it('in Python has a module name that can be imported', () => {
    expect(Object.keys(make({ language: 'python' }))).toContain('python/my-api/src/bench_my_api/app.py');
  });

  it('in Rust becomes a member of the workspace', () => {
    expect(make({ language: 'rust' })['packages/rustcontract/Cargo.toml']).toBe(
      'members = ["../actix", "../my-api", "../rocket"]\n',
    );
  });

  it('depends on the given packages', () => {
    const node = make({ language: 'typescript', packages: ['@scope/quick'] }, ['4.5.6']);
    expect(JSON.parse(node['packages/my-api/package.json'] ?? '')).toHaveProperty('dependencies', {
      '@bench/contract': 'workspace:*',
      '@scope/quick': 'catalog:',
    });
    expect(node['pnpm-workspace.yaml']).toContain(
      "catalog:\n  '@scope/quick': 4.5.6\n  '@types/pg': 1.0.0\n",
    );
    // In the order that the formatter expects.
    expect(node['packages/my-api/package.json']).toMatch(/contract": .*\n.*scope/);
    const python = make({ language: 'python', packages: ['quart', 'hypercorn'] });
    expect(python['python/my-api/pyproject.toml']).toContain('"bench-contract", "hypercorn", "quart", ');
    const onUvicorn = make({ language: 'python', packages: ['starlette', 'uvicorn'] });
    expect(onUvicorn['python/my-api/pyproject.toml']).toContain(
      'dependencies = ["bench-contract", "starlette", "httptools", "uvicorn", "uvloop"]',
    );
  });

  it('keeps the version of a package that is already in the catalog', () => {
    expect(make({ language: 'typescript', packages: ['fastify'] }, ['9.9.9'])).not.toHaveProperty(
      'pnpm-workspace.yaml',
    );
  });

  it.each(['My-Api', 'my_api', '-api', 'api-', '../api', '1st', ''])('cannot be called "%s"', (name) => {
    expect(errorOf(() => make({ language: 'go', name })).message).toBe(
      `"${name}" cannot be the name of a stack`,
    );
  });

  it('never overwrites a stack or any other folder', () => {
    write('packages/contract/package.json', '{}');
    write('python/clients/pyproject.toml', '');
    for (const name of ['taken', 'contract', 'clients']) {
      expect(errorOf(() => make({ language: 'go', name })).message).toMatch(`the name "${name}" is taken: `);
    }
    expect(readFileSync(join(root, 'packages/contract/package.json'), 'utf8')).toBe('{}');
  });
});
