/** The ways to start programs that are built: in Go, Rust, C#, Java and Kotlin. */
import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parentsOf } from 'bench-machine/home';
import { filesIn, readText } from '../files.ts';
import { readCargoManifest } from '../../projects/manifests.ts';
import { isJob } from './address.ts';
import type { Told } from './way.ts';

/** Returns the programs that the project in a folder builds. */
export function toldByCompiled(place: string): Told[] {
  // A folder that both Maven and Gradle can build holds one server.
  const java = existsSync(join(place, 'pom.xml')) ? toldByMaven(place) : toldByGradle(place);
  return [...toldByGo(place), ...toldByRust(place), ...toldByDotnet(place), ...java];
}

/** Folders of Go programs that are no server: generators, plugins of tests. */
const BESIDE_GO = /(?:^|\/)(?:testing|testdata|tools?|scripts|internal)\//;

/** The programs of a Go module, also if the module is that of a folder above. */
function toldByGo(place: string): Told[] {
  if (!parentsOf(place).some((above) => existsSync(join(above, 'go.mod')))) return [];
  const all = filesIn(place, '**/*.go').filter((file) =>
    /^package main\b[^]*^func main\(\)/m.test(readText(place, file)),
  );
  const own = all
    .filter((file) => !BESIDE_GO.test(file))
    .toSorted((a, b) => Number(isJob(dirname(a))) - Number(isJob(dirname(b))));
  const mains = new Map((own.length > 0 ? own : all).map((file) => [dirname(file), file]));
  return [...mains].map(([folder, file]): Told => {
    // Several programs need names, for --run.
    const program = `{build}/${mains.size > 1 && folder !== '.' ? basename(folder) : 'server'}`;
    const build = ['go', 'build', '-o', program, folder === '.' ? './' : `./${folder}`];
    return { words: [program], build: [build], language: 'go', why: `${file}: package main` };
  });
}

/** The binaries of a Cargo package. */
function toldByRust(place: string): Told[] {
  const { name: own, bins } = readCargoManifest(place);
  const hasMain = own !== undefined && existsSync(join(place, 'src/main.rs'));
  // Without --locked, cargo would write into the project.
  const build = 'cargo build --release --locked --target-dir {build} --bin'.split(' ');
  return (bins.length > 0 || !hasMain ? bins : [own]).map((name) => ({
    words: [`{build}/release/${name}`],
    build: [[...build, name]],
    language: 'rust',
    why: `Cargo.toml: the binary ${name}`,
  }));
}

/** The web projects of .NET. They are published in a copy of the project, which their tools write to. */
function toldByDotnet(place: string): Told[] {
  return filesIn(place, '*.csproj').flatMap((file): Told[] => {
    const text = readText(place, file);
    if (!/\bSdk\s*=\s*"Microsoft\.NET\.Sdk\.Web"/.test(text)) return [];
    const [, name = basename(file, '.csproj')] = /<AssemblyName>([^<]+)</.exec(text) ?? [];
    const words = ['dotnet', `published/${name}.dll`, '--urls', 'http://{host}:{port}'];
    const build = ['dotnet', 'publish', file, '-c', 'Release', '-o', 'published'];
    return [{ words, build: [build], language: 'csharp', why: `${file}: Microsoft.NET.Sdk.Web` }];
  });
}

/** Returns a start in Java: the words after `java`, and what the tool of the project or of the machine builds. `text` is its manifest. */
function startJava(place: string, text: string, words: string[], [name = '', ...tasks]: string[]) {
  const tool = existsSync(join(place, `${name}w`)) ? `./${name}w` : name;
  // Spring takes its address from these variables.
  const isSpring = /springframework\.boot|spring-boot/.test(text);
  const env = { ...(isSpring && { SERVER_PORT: '{port}', SERVER_ADDRESS: '{host}' }) };
  return { words: ['java', ...words], build: [[tool, ...tasks]], language: 'java', env };
}

const MAVEN =
  'mvn --quiet --batch-mode -DskipTests package dependency:copy-dependencies -DincludeScope=runtime';

/** The classes with a main method. */
function toldByMaven(place: string): Told[] {
  const text = readText(place, 'pom.xml');
  const files = globSync('src/main/{java,kotlin}/**/*.{java,kt}', { cwd: place }).toSorted();
  return files.flatMap((file) => {
    const source = readText(place, file);
    const isKotlin = file.endsWith('.kt');
    if (!(isKotlin ? /^fun main\(/m : /\bstatic\s+void\s+main\s*\(/).test(source)) return [];
    const own = basename(file).replace(/\.\w+$/, isKotlin ? 'Kt' : '');
    const name = [/^[ \t]*package\s+([\w.]+)/m.exec(source)?.[1], own].filter(Boolean).join('.');
    const words = ['-cp', 'target/classes:target/dependency/*', name];
    return [{ ...startJava(place, text, words, MAVEN.split(' ')), why: `${file}: the main class ${name}` }];
  });
}

/** The jar of Spring, or the main class of an application. */
function toldByGradle(place: string): Told[] {
  const [file] = globSync('build.gradle{,.kts}', { cwd: place });
  if (file === undefined) return [];
  const text = readText(place, file);
  const settings = ['', '.kts'].map((end) => readText(place, `settings.gradle${end}`)).join('\n');
  const name = /rootProject\.name\s*=\s*["']([^"']+)/.exec(settings)?.[1] ?? basename(place);
  const start = (words: string[], task: string, why: string): Told[] => {
    // The daemon of Gradle would go on after the build.
    const build = ['gradle', '--quiet', '--no-daemon', task];
    return [{ ...startJava(place, text, words, build), why: `${file}: ${why}` }];
  };
  if (text.includes('org.springframework.boot')) {
    const version = /^[ \t]*version\s*=\s*["']([^"']+)/m.exec(text)?.[1];
    const jar = `build/libs/${[name, version].filter(Boolean).join('-')}.jar`;
    return start(['-jar', jar], 'bootJar', 'org.springframework.boot');
  }
  const main = /\bmainClass(?:Name)?(?:\.set)?\s*[=(]\s*["']([\w.$]+)/.exec(text)?.[1];
  if (main === undefined || !/\bapplication\b/.test(text)) return [];
  return start(['-cp', `build/install/${name}/lib/*`, main], 'installDist', `the main class ${main}`);
}
