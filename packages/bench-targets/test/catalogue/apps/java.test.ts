import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findWays, type Way } from '../../../src/catalogue/apps/ways/index.ts';
import { writeFiles } from '../../../../bench-lab/testing/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-java-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function find(files: Record<string, string>): Way[] {
  writeFiles(folder, files);
  return findWays(folder);
}

const JAVA = { folder: '', language: 'java', runtime: 'none', isForDevelopment: false };
const MAVEN = [
  '--quiet',
  '--batch-mode',
  '-DskipTests',
  'package',
  'dependency:copy-dependencies',
  '-DincludeScope=runtime',
];
const SPRING = { SERVER_PORT: '{port}', SERVER_ADDRESS: '{host}' };
describe('the start of a project of Maven', () => {
  it('is each main class, with the packages that it needs', () => {
    const starts = find({
      'pom.xml': '<project><artifactId>shop</artifactId><dependency>io.javalin</dependency></project>',
      'src/main/java/com/example/Shop.java':
        'package com.example;\n\npublic class Shop {\n  public static void main(String[] args) {}\n}\n',
      'src/main/java/com/example/Order.java': 'package com.example;\n\nclass Order {}\n',
      'src/main/kotlin/Tool.kt': 'fun main() {}\n',
    });
    const build = [['mvn', ...MAVEN]];
    const path = 'target/classes:target/dependency/*';
    expect(starts).toEqual([
      {
        command: ['java', '-cp', path, 'com.example.Shop'],
        env: {},
        build,
        ...JAVA,
        why: 'src/main/java/com/example/Shop.java: the main class com.example.Shop',
      },
      expect.objectContaining({ command: ['java', '-cp', path, 'ToolKt'], build }),
    ]);
  });

  it('is that of Spring by its main class, with its variables', () => {
    expect(
      find({
        'pom.xml': '<project><artifactId>spring-boot-starter-web</artifactId></project>',
        'src/main/java/Shop.java': 'class Shop {\n  public static void main(String[] args) {}\n}\n',
      }),
    ).toMatchObject([{ command: ['java', '-cp', expect.any(String), 'Shop'], env: SPRING }]);
  });

  it('is built by the wrapper of the project', () => {
    const main = { 'src/main/kotlin/Shop.kt': 'fun main() {}\n' };
    expect(find({ 'pom.xml': '<project></project>', mvnw: '', ...main })).toMatchObject([
      { build: [['./mvnw', ...MAVEN]] },
    ]);
  });
});

const gradle = (tool: string, task: string): string[][] => [[tool, '--quiet', '--no-daemon', task]];

describe('the start of a project of Gradle', () => {
  it.each([
    ['build.gradle', "plugins { id 'application' }\napplication { mainClass = 'com.example.Shop' }\n"],
    ['build.gradle', "apply plugin: 'application'\nmainClassName = 'com.example.Shop'\n"],
    ['build.gradle.kts', 'plugins { application }\napplication { mainClass.set("com.example.Shop") }\n'],
  ])('is its main class, by %s with %j', (file, text) => {
    expect(find({ [file]: text, 'settings.gradle': "rootProject.name = 'shop'" })).toEqual([
      {
        command: ['java', '-cp', 'build/install/shop/lib/*', 'com.example.Shop'],
        env: {},
        build: gradle('gradle', 'installDist'),
        ...JAVA,
        why: `${file}: the main class com.example.Shop`,
      },
    ]);
  });

  it('is the jar of Spring, built by the wrapper of the project', () => {
    const text = "plugins { id 'org.springframework.boot' version '3.5.1' }\nversion = '0.1-SNAPSHOT'\n";
    const jar = `build/libs/${basename(folder)}-0.1-SNAPSHOT.jar`;
    expect(find({ 'build.gradle': text, gradlew: '' })).toMatchObject([
      { command: ['java', '-jar', jar], env: SPRING, build: gradle('./gradlew', 'bootJar') },
    ]);
  });

  it('is not known of a library', () => {
    expect(find({ 'build.gradle': "plugins { id 'java-library' }\n" })).toEqual([]);
  });
});
