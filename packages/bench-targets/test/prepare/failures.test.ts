import { describe, expect, it } from 'vitest';
import { firstError, lastLine, reasonIn } from '../../src/prepare/failures.ts';

const PNPM = `Error: ERR_PNPM_NO_MATCHING_VERSION

  × installing dependencies
  ├─▶ Failed to resolve dependency tree: No matching version found for
  │   fastify@99.0.0 while fetching it from https://registry.example/
  ╰─▶ No matching version found for fastify@99.0.0 while fetching it from
      https://registry.example/
  help: The latest release of fastify is "5.12.8". Published at 11/2/2026

        If you need the full list of all 334 published versions run "pnpm view
        fastify versions".
`;

const UV = `Using Python 3.13.1 environment at: x
  × No solution found when resolving dependencies:
  ╰─▶ Because there is no version of fastapi==0.999 and you require
      fastapi==0.999, we can conclude that your requirements are
      unsatisfiable.
`;

describe('the line that says what went wrong', () => {
  it.each([
    ['pnpm', PNPM, 'No matching version found for fastify@99.0.0 while fetching it from …'],
    [
      'uv',
      UV,
      'Because there is no version of fastapi==0.999 and you require fastapi==0.999, we can conclude that your requirements are unsatisfiable.',
    ],
    ['a cause', 'error: it failed\n  Caused by: `https://a.example/x`\n', 'Caused by: `…`'],
    ['neither', 'one\ntwo\n', 'two'],
    ['nothing', undefined, ''],
  ])('is complete and contains no address: %s', (_, text, line) => {
    expect(lastLine(text)).toBe(line);
  });

  it('is the last cause that pnpm 12 draws', () => {
    expect(reasonIn(PNPM)).toBe(lastLine(PNPM));
  });
});

/** The end of the output of uv if an extension cannot be compiled. */
const EXTENSION = `error: Failed to build \`cext==1.0\`
  cause: The build backend returned an error
  cause: Call to \`setuptools.build_meta.build_wheel\` failed (exit status: 1)

         [stdout]
         building 'cext' extension
         gcc -g -O3 -Wall -I/root/.cache/uv/builds/include -c cext.c -o build/cext.o

         [stderr]
         cext.c:2:10: fatal error: nothere.h: No such file or directory
             2 | #include <nothere.h>
               |          ^~~~~~~~~~~
         compilation terminated.
         error: Command '['gcc', '-g', '-c', 'cext.c']' returned non-zero exit status 1.
`;

const TRACE = `error: The build backend returned an error
         [stderr]
         Traceback (most recent call last):
           File "/root/.cache/lib/setuptools/build_meta.py", line 317, in run_setup
             exec(code, locals())
         RuntimeError: needs libfoo 3, see https://foo.example
         During handling of the above exception, another exception occurred:
         ValueError: no build
`;

const CARGO = `   Compiling x v0.1.0 (/tmp/x)
warning: unused import: \`std::collections::HashMap\`
 --> src/main.rs:1:5

error[E0308]: mismatched types
 --> src/main.rs:4:18
  |
4 |     let x: i32 = "a";

error[E0425]: cannot find function \`y\` in this scope
error: could not compile \`x\` (bin "x") due to 2 previous errors; 1 warning emitted
`;

const MAVEN = `[INFO] Compiling 1 source file with javac [debug target 17] to target/classes
[INFO] -------------------------------------------------------------
[ERROR] COMPILATION ERROR :
[INFO] -------------------------------------------------------------
[ERROR] /home/me/shop/src/main/java/Shop.java:[7,5] cannot find symbol
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.15.0:compile
`;

describe('the first error of a build', () => {
  it.each([
    [
      'GCC',
      EXTENSION,
      [
        'cext.c:2:10: fatal error: nothere.h: No such file or directory',
        '    2 | #include <nothere.h>',
        '      |          ^~~~~~~~~~~',
      ],
    ],
    ['Python', TRACE, ['RuntimeError: needs libfoo 3, see …']],
    [
      'Rust',
      CARGO,
      ['error[E0308]: mismatched types', ' --> src/main.rs:4:18', '  |', '4 |     let x: i32 = "a";'],
    ],
    [
      'Go',
      '# x\n./main.go:7:7: undefined: http.ListenAndServ\n./main.go:7:26: undefined: b\n',
      ['./main.go:7:7: undefined: http.ListenAndServ'],
    ],
    [
      'TypeScript',
      '> shop@1.0.0 build\n> tsc\n\nsrc/a.ts(1,7): error TS2322: no number\nsrc/b.ts(1,7): error TS2322: none\n',
      ['src/a.ts(1,7): error TS2322: no number'],
    ],
    [
      'Node',
      'node:fs:1\n    throw e;\n\nError: ENOENT: no such file\n    at a.js',
      ['Error: ENOENT: no such file'],
    ],
    [
      'javac',
      "Shop.java:5: error: ';' expected\n    int a\n         ^\n1 error\n",
      ["Shop.java:5: error: ';' expected"],
    ],
    ['Maven', MAVEN, ['[ERROR] …/Shop.java:[7,5] cannot find symbol']],
  ])('is that of %s', (_, log, lines) => {
    expect(firstError(log)?.slice(0, lines.length)).toEqual(lines);
  });

  it('is that of a compiler without its assembler, and not the command that Python quotes', () => {
    const error = "gcc: fatal error: cannot execute 'as': execvp: No such file or directory";
    const quoted = `subprocess.CalledProcessError: Command '['gcc', ${"'-Wall', ".repeat(90)}]' returned 1`;
    expect(firstError(`${error}\ncompilation terminated.\n${quoted}\n`)).toEqual([error]);
    expect(firstError(quoted)).toBeUndefined();
  });

  it('is not known of other output', () => {
    expect(firstError('warning: an error is near\nmake: *** [all] Error 2\n')).toBeUndefined();
  });
});
