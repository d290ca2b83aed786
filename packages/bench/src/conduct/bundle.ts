/** Bundles the script of the page. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { PAGES } from './page.ts';

/** Returns the script of the page as one text that is safe inside a script element, with the licences of its libraries. */
export async function bundlePage(): Promise<string> {
  const { output } = await build({
    input: join(PAGES, 'main.ts'),
    platform: 'browser',
    write: false,
    logLevel: 'warn',
    output: { format: 'iife', minify: true, comments: false },
  });
  const [chunk] = output;
  const licences = licencesOf(chunk.moduleIds);
  return `/*! Contains:\n${licences}\n*/\n${chunk.code}`.replaceAll(/<(?=\/script|!--)/gi, '\\x3C');
}

/** Returns the licences of the packages of these modules; packages with the same licence share its text. */
function licencesOf(modules: readonly string[]): string {
  const roots = new Set(
    modules.flatMap((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0] ?? []),
  );
  const found = [...roots].map((root) => {
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
      .map((name) => join(root, name))
      .find((one) => existsSync(one));
    const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string };
    return { name, text: file === undefined ? '' : readFileSync(file, 'utf8').trim() };
  });
  return [...Map.groupBy(found, ({ text }) => text)]
    .map(([text, all]) => `${all.map(({ name }) => name).join(', ')}:\n${text.replaceAll('*/', '* /')}`)
    .join('\n\n');
}
