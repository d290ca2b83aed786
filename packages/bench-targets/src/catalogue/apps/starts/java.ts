/** The ways to start a Java or Kotlin server that Maven or Gradle builds, read from the files of its project. */
import { existsSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readText } from './files.ts';
import type { Start } from './start.ts';

/** A start, without what all starts in Java share. */
type JavaStart = Pick<Start, 'command' | 'env' | 'build' | 'framework' | 'why'>;

/** The frameworks that are known by the name of their packages. */
const FRAMEWORKS = ['spring-boot', 'quarkus', 'micronaut', 'helidon', 'javalin', 'vertx', 'dropwizard'];
/** Spring takes its address from these variables. */
const SPRING = { SERVER_PORT: '{port}', SERVER_ADDRESS: '{host}' };

/** Returns the ways to start the server of a Maven or Gradle project. They are built in a copy of the project. */
export function startsOfJava(root: string, folder: string): Start[] {
  const place = join(root, folder);
  // A folder that both can build holds one server.
  const maven = startsOfMaven(place);
  return (maven.length > 0 ? maven : startsOfGradle(place)).map((start) => ({
    ...start,
    folder,
    packages: [],
    language: 'java',
    runtime: 'none',
    why: join(folder, start.why),
    isForDevelopment: false,
  }));
}

function startsOfMaven(root: string): JavaStart[] {
  const pom = readText(root, 'pom.xml').replaceAll(/<!--[^]*?-->/g, '');
  if (pom === '') return [];
  const framework = frameworkIn(pom);
  const maven = [toolOf(root, 'mvnw', 'mvn'), '--quiet', '--batch-mode', '-DskipTests', 'package'];
  if (/<artifactId>spring-boot-maven-plugin</.test(pom)) {
    const jar = `target/${nameOfJar(pom)}.jar`;
    const why = 'pom.xml: spring-boot-maven-plugin';
    return [{ command: ['java', '-jar', jar], env: SPRING, build: [maven], framework, why }];
  }
  const build = [[...maven, 'dependency:copy-dependencies', '-DincludeScope=runtime']];
  return mainsOf(root).map(({ name, file }) => ({
    command: ['java', '-cp', 'target/classes:target/dependency/*', name],
    env: {},
    build,
    framework,
    why: `${file}: the main class ${name}`,
  }));
}

/** Returns the name of the jar that Maven makes, without the extension. */
function nameOfJar(pom: string): string {
  const inherited = /<parent>([^]*?)<\/parent>/.exec(pom)?.[1] ?? '';
  const own = pom.replaceAll(
    /<(parent|dependencies|dependencyManagement|build|profiles|properties)>[^]*?<\/\1>/g,
    '',
  );
  const artifact = tag('artifactId', own) ?? 'app';
  const version = tag('version', own) ?? tag('version', inherited) ?? '';
  const build = /<build>([^]*?)<\/build>/.exec(pom)?.[1] ?? '';
  const name = tag('finalName', build) ?? '${project.artifactId}-${project.version}';
  const known: Record<string, string | undefined> = {
    'project.artifactId': artifact,
    'project.version': version,
  };
  const fill = (text: string): string =>
    text.replaceAll(/\$\{([\w.-]+)\}/g, (all, key: string) => known[key] ?? tag(key, pom) ?? all);
  return fill(fill(name));
}

/** The text of the first element of this name. */
function tag(name: string, text: string): string | undefined {
  return new RegExp(`<${name}>\\s*([^<\\s]+)\\s*</${name}>`).exec(text)?.[1];
}

function startsOfGradle(root: string): JavaStart[] {
  const file = ['build.gradle', 'build.gradle.kts'].find((one) => existsSync(join(root, one)));
  if (file === undefined) return [];
  const text = readText(root, file);
  const settings = ['settings.gradle', 'settings.gradle.kts'].map((one) => readText(root, one)).join('\n');
  const name = /rootProject\.name\s*=\s*["']([^"']+)/.exec(settings)?.[1] ?? basename(root);
  const framework = frameworkIn(text);
  // The daemon of Gradle would go on after the build.
  const gradle = (task: string): string[][] => [
    [toolOf(root, 'gradlew', 'gradle'), '--quiet', '--no-daemon', task],
  ];
  if (/org\.springframework\.boot/.test(text)) {
    const version = /^[ \t]*version\s*=\s*["']([^"']+)/m.exec(text)?.[1];
    const jar = `build/libs/${[name, version].filter(Boolean).join('-')}.jar`;
    const why = `${file}: org.springframework.boot`;
    return [{ command: ['java', '-jar', jar], env: SPRING, build: gradle('bootJar'), framework, why }];
  }
  const main = /\bmainClass(?:Name)?(?:\.set)?\s*[=(]\s*["']([\w.$]+)/.exec(text)?.[1];
  if (main === undefined || !/\bapplication\b/.test(text)) return [];
  return [
    {
      command: ['java', '-cp', `build/install/${name}/lib/*`, main],
      env: {},
      build: gradle('installDist'),
      framework,
      why: `${file}: the main class ${main}`,
    },
  ];
}

/** The wrapper of a project if it has one, so that its version of the tool builds it. */
function toolOf(root: string, wrapper: string, tool: string): string {
  return existsSync(join(root, wrapper)) ? `./${wrapper}` : tool;
}

/** Finds the classes with a main method. */
function mainsOf(root: string): { name: string; file: string }[] {
  const files = globSync('src/main/{java,kotlin}/**/*.{java,kt}', { cwd: root }).toSorted();
  return files.flatMap((file) => {
    const text = readText(root, file);
    const isKotlin = file.endsWith('.kt');
    if (!(isKotlin ? /^fun main\(/m : /\bstatic\s+void\s+main\s*\(/).test(text)) return [];
    const place = /^[ \t]*package\s+([\w.]+)/m.exec(text)?.[1];
    const own = basename(file).replace(/\.\w+$/, '');
    return [{ name: [place, isKotlin ? `${own}Kt` : own].filter(Boolean).join('.'), file }];
  });
}

function frameworkIn(text: string): string {
  return (
    FRAMEWORKS.find((name) => text.replaceAll('springframework.boot', 'spring-boot').includes(name)) ??
    'unknown'
  );
}
