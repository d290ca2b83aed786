import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startsOfJava } from '../../../src/catalogue/apps/starts/java.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-java-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function find(files: Record<string, string>): ReturnType<typeof startsOfJava> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return startsOfJava(folder, '');
}

/** What all starts in Java share. */
const JAVA = { folder: '', packages: [], language: 'java', runtime: 'none', isForDevelopment: false };
const MAVEN = ['--quiet', '--batch-mode', '-DskipTests', 'package'];
const SPRING = { SERVER_PORT: '{port}', SERVER_ADDRESS: '{host}' };
const PLUGIN = '<plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin>';
const PARENT = '<parent><artifactId>spring-boot-starter-parent</artifactId><version>3.5.1</version></parent>';

describe('the start of a project of Maven', () => {
  it('is each main class, with the packages that it needs', () => {
    const starts = find({
      'pom.xml': '<project><artifactId>shop</artifactId><dependency>io.javalin</dependency></project>',
      'src/main/java/com/example/Shop.java':
        'package com.example;\n\npublic class Shop {\n  public static void main(String[] args) {}\n}\n',
      'src/main/java/com/example/Order.java': 'package com.example;\n\nclass Order {}\n',
      'src/main/kotlin/Tool.kt': 'fun main() {}\n',
    });
    const build = [['mvn', ...MAVEN, 'dependency:copy-dependencies', '-DincludeScope=runtime']];
    const path = 'target/classes:target/dependency/*';
    expect(starts).toEqual([
      {
        command: ['java', '-cp', path, 'com.example.Shop'],
        env: {},
        build,
        ...JAVA,
        framework: 'javalin',
        why: 'src/main/java/com/example/Shop.java: the main class com.example.Shop',
      },
      expect.objectContaining({ command: ['java', '-cp', path, 'ToolKt'], build }),
    ]);
  });

  it.each([
    ['<artifactId>shop</artifactId><version>1.2</version>', 'shop-1.2'],
    [`${PARENT}<artifactId>shop</artifactId>`, 'shop-3.5.1'],
    [
      `<!-- <artifactId>old</artifactId> -->${PARENT}<artifactId>shop</artifactId><version>1.2</version>`,
      'shop-1.2',
    ],
    [
      '<artifactId>shop</artifactId><version>${revision}</version><properties><revision>7</revision></properties>',
      'shop-7',
    ],
    ['<artifactId>shop</artifactId><version>1</version><build><finalName>app</finalName></build>', 'app'],
  ])('is the jar of Spring, by %s', (text, jar) => {
    expect(find({ 'pom.xml': `<project>${text}<build>${PLUGIN}</build></project>` })).toMatchObject([
      {
        command: ['java', '-jar', `target/${jar}.jar`],
        env: SPRING,
        build: [['mvn', ...MAVEN]],
        framework: 'spring-boot',
      },
    ]);
  });

  it('is built by the wrapper of the project', () => {
    const text = `<project><artifactId>shop</artifactId><version>1</version>${PLUGIN}</project>`;
    expect(find({ 'pom.xml': text, mvnw: '' })).toMatchObject([{ build: [['./mvnw', ...MAVEN]] }]);
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
        framework: 'unknown',
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

  it('is built by Maven if Gradle can build it too', () => {
    const starts = find({
      'pom.xml':
        '<project><artifactId>shop</artifactId><artifactId>spring-boot-maven-plugin</artifactId></project>',
      'build.gradle': "plugins { id 'org.springframework.boot' version '3.5.0' }\n",
    });
    expect(starts).toMatchObject([{ why: 'pom.xml: spring-boot-maven-plugin' }]);
  });

  it('is not known of a library', () => {
    expect(find({ 'build.gradle': "plugins { id 'java-library' }\n" })).toEqual([]);
  });
});
