/** The starts of programs that are built: Go and Rust. */
import { basename, dirname, join } from 'node:path';
import { readCargoManifest } from '../manifests.ts';
import { filesIn, readText } from './files.ts';
import type { Start } from './start.ts';

/** Folders of Go programs that are no server: generators, plugins of tests. */
const BESIDE_GO = /(?:^|\/)(?:testing|testdata|tools?|scripts|internal)\//;

/** Returns the programs of a Go module. One that an image builds comes alone. */
export function startsOfGo(root: string, folder: string): Start[] {
  const place = join(root, folder);
  const module = readText(place, 'go.mod');
  if (module === '') return [];
  const [, framework = 'net/http'] = /\/(chi|gin|fiber|echo)(?:\/v\d+)? v/.exec(module) ?? [];
  const all = filesIn(place, '**/*.go').filter((file) => {
    const text = readText(place, file);
    return /^package main\b/m.test(text) && /^func main\(\)/m.test(text);
  });
  const own = all.filter((file) => !BESIDE_GO.test(file));
  const mains = own.length > 0 ? own : all;
  const built = [
    ...readText(place, 'Dockerfile').matchAll(/\bgo build\b[^&|;\n]*?\s(\.\/[\w./-]+|\.)\s*(?=$|&|\n)/gm),
  ];
  const named = built.map(([, path = '']) => path.replace(/^\.\/?/, '').replace(/\/$/, ''));
  const inImage = mains.filter((file) =>
    named.some((one) => one === file || one === dirname(file).replace(/^\.$/, '')),
  );
  const files = inImage.length > 0 ? inImage : mains;
  // Several programs need names, for --run.
  const nameOf = (file: string): string =>
    files.length > 1 && dirname(file) !== '.' ? basename(dirname(file)) : 'server';
  return files.map((file) => ({
    folder,
    command: [`{build}/${nameOf(file)}`],
    env: {},
    build: [
      ['go', 'build', '-o', `{build}/${nameOf(file)}`, `./${dirname(file) === '.' ? '' : dirname(file)}`],
    ],
    packages: [],
    language: 'go',
    framework,
    runtime: 'none',
    why: `${join(folder, file)}: package main`,
    isForDevelopment: false,
  }));
}

/** Returns the binaries of a Cargo package. */
export function startsOfRust(root: string, folder: string): Start[] {
  const place = join(root, folder);
  const { package: { name: own } = {}, bin = [], dependencies = {} } = readCargoManifest(place);
  const bins = bin.map(({ name }) => name);
  const hasMain = readText(place, 'src/main.rs') !== '';
  const names = bins.length > 0 || own === undefined || !hasMain ? bins : [own];
  const known = ['axum', 'actix-web', 'rocket', 'warp', 'poem', 'salvo', 'hyper'];
  const framework = known.find((name) => dependencies[name] !== undefined) ?? 'unknown';
  // Without --locked, cargo would write into the project.
  const build = ['cargo', 'build', '--release', '--locked', '--target-dir', '{build}'];
  return names.map((name) => ({
    folder,
    command: [`{build}/release/${name}`],
    env: {},
    build: [[...build, '--bin', name]],
    packages: [],
    language: 'rust',
    framework,
    runtime: 'none',
    why: `${join(folder, 'Cargo.toml')}: the binary ${name}`,
    isForDevelopment: false,
  }));
}
