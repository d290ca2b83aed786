/** The ways to start programs that are built: in Go, Rust, C#, Java and Kotlin. */
import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parentsOf } from 'bench-machine/home';
import { filesIn, readText } from '../files.ts';
import { readCargoManifest } from '../manifests.ts';
import { isJob } from './address.ts';
import type { Told } from './way.ts';

/** Folders of Go programs that are no server: generators, plugins of tests. */
const BESIDE_GO = /(?:^|\/)(?:testing|testdata|tools?|scripts|internal)\//;

/** Returns the programs that the project in a folder builds. */
export function toldByCompiled(root: string, folder: string): Told[] {
  const place = join(root, folder);
  // A folder that both can build holds one server.
  const java = waysOfMaven(place) ?? waysOfGradle(place);
  const all = [...waysOfGo(place), ...waysOfRust(place), ...waysOfDotnet(place), ...java];
  return all.map((one) => ({ ...one, folder, why: join(folder, one.why) }));
}

type Found = Omit<Told, 'folder'>;

function built(language: string, line: string[], build: string[], why: string): Found {
  return { line, build, language, why };
}

/** The programs of a Go module, also if the module is that of a folder above. */
function waysOfGo(place: string): Found[] {
  if (!parentsOf(place).some((above) => existsSync(join(above, 'go.mod')))) return [];
  const all = filesIn(place, '**/*.go').filter((file) =>
    /^package main\b[^]*^func main\(\)/m.test(readText(place, file)),
  );
  const own = all
    .filter((file) => !BESIDE_GO.test(file))
    .toSorted((a, b) => Number(isJob(dirname(a))) - Number(isJob(dirname(b))));
  const mains = new Map((own.length > 0 ? own : all).map((file) => [dirname(file), file]));
  return [...mains].map(([one, file]) => {
    // Several programs need names, for --run.
    const program = `{build}/${mains.size > 1 && one !== '.' ? basename(one) : 'server'}`;
    const build = ['go', 'build', '-o', program, one === '.' ? './' : `./${one}`];
    return built('go', [program], build, `${file}: package main`);
  });
}

/** The binaries of a Cargo package. */
function waysOfRust(place: string): Found[] {
  const { name: own, bins } = readCargoManifest(place);
  const hasMain = own !== undefined && existsSync(join(place, 'src/main.rs'));
  // Without --locked, cargo would write into the project.
  const build = 'cargo build --release --locked --target-dir {build} --bin'.split(' ');
  return (bins.length > 0 || !hasMain ? bins : [own]).map((name) =>
    built('rust', [`{build}/release/${name}`], [...build, name], `Cargo.toml: the binary ${name}`),
  );
}

/** The web projects of .NET. They are published in a copy of the project, which their tools write to. */
function waysOfDotnet(place: string): Found[] {
  return filesIn(place, '*.csproj').flatMap((file): Found[] => {
    const text = readText(place, file);
    if (!/\bSdk\s*=\s*"Microsoft\.NET\.Sdk\.Web"/.test(text)) return [];
    const [, name = basename(file, '.csproj')] = /<AssemblyName>([^<]+)</.exec(text) ?? [];
    const command = ['dotnet', `published/${name}.dll`, '--urls', 'http://{host}:{port}'];
    const build = ['dotnet', 'publish', file, '-c', 'Release', '-o', 'published'];
    return [built('csharp', command, build, `${file}: Microsoft.NET.Sdk.Web`)];
  });
}

function ofJava(text: string, words: string[], build: string[], why: string): Found {
  // Spring takes its address from these variables.
  const env = /springframework\.boot|spring-boot/.test(text)
    ? { SERVER_PORT: '{port}', SERVER_ADDRESS: '{host}' }
    : {};
  return { ...built('java', ['java', ...words], build, why), env };
}

/** Returns the tool of a project with its version, or that of the machine. */
function toolOf(place: string, wrapper: string, name: string): string {
  return existsSync(join(place, wrapper)) ? `./${wrapper}` : name;
}

/** The classes with a main method; undefined without a `pom.xml`. */
function waysOfMaven(place: string): Found[] | undefined {
  const text = readText(place, 'pom.xml');
  if (text === '') return undefined;
  const copies = ['dependency:copy-dependencies', '-DincludeScope=runtime'];
  const tool = toolOf(place, 'mvnw', 'mvn');
  const build = [tool, '--quiet', '--batch-mode', '-DskipTests', 'package', ...copies];
  const files = globSync('src/main/{java,kotlin}/**/*.{java,kt}', { cwd: place }).toSorted();
  return files.flatMap((file) => {
    const source = readText(place, file);
    const isKotlin = file.endsWith('.kt');
    if (!(isKotlin ? /^fun main\(/m : /\bstatic\s+void\s+main\s*\(/).test(source)) return [];
    const own = basename(file).replace(/\.\w+$/, isKotlin ? 'Kt' : '');
    const name = [/^[ \t]*package\s+([\w.]+)/m.exec(source)?.[1], own].filter(Boolean).join('.');
    const words = ['-cp', 'target/classes:target/dependency/*', name];
    return [ofJava(text, words, build, `${file}: the main class ${name}`)];
  });
}

function waysOfGradle(place: string): Found[] {
  const file = ['build.gradle', 'build.gradle.kts'].find((one) => existsSync(join(place, one)));
  if (file === undefined) return [];
  const text = readText(place, file);
  const settings = ['settings.gradle', 'settings.gradle.kts'].map((one) => readText(place, one)).join('\n');
  const name = /rootProject\.name\s*=\s*["']([^"']+)/.exec(settings)?.[1] ?? basename(place);
  // The daemon of Gradle would go on after the build.
  const gradle = [toolOf(place, 'gradlew', 'gradle'), '--quiet', '--no-daemon'];
  if (text.includes('org.springframework.boot')) {
    const version = /^[ \t]*version\s*=\s*["']([^"']+)/m.exec(text)?.[1];
    const jar = `build/libs/${[name, version].filter(Boolean).join('-')}.jar`;
    return [ofJava(text, ['-jar', jar], [...gradle, 'bootJar'], `${file}: org.springframework.boot`)];
  }
  const main = /\bmainClass(?:Name)?(?:\.set)?\s*[=(]\s*["']([\w.$]+)/.exec(text)?.[1];
  if (main === undefined || !/\bapplication\b/.test(text)) return [];
  const words = ['-cp', `build/install/${name}/lib/*`, main];
  return [ofJava(text, words, [...gradle, 'installDist'], `${file}: the main class ${main}`)];
}
