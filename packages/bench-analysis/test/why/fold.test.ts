import { describe, expect, it } from 'vitest';
import { CallTree, foldProfiles } from '../../src/why/fold.ts';

const FILES: Record<string, string> = {
  'my app.mjs':
    "server.on('request', (request) => {\n  const all = load(request);\n  send(all);\n  send(all);\n});\n",
};

const HOOK = '/srv/bench/packages/bench-targets/src/prepare/hook';
const read = (_: string, file: string): string[] | undefined => FILES[file]?.split('\n');

/** Returns the stacks of a profile as text: `module: function (file:line)`, outermost first. A project's own has a star. */
function show(format: 'collapsed' | 'cpuprofile' | 'perf', text: string): string[] {
  return foldProfiles([{ format, text }], '/srv/shop', read).map(({ frames, samples }) =>
    [
      ...frames.map(({ name, file, module, line, from, isWhole }) => {
        const at = line === undefined ? '' : `:${line}${isWhole ? '+' : ''}`;
        const mark = from === 'project' ? '*' : '';
        return `${mark}${name} (${file}${at}${file === module ? '' : `, ${module}`})`;
      }),
      samples,
    ].join(' > '),
  );
}

describe('the stacks of Python', () => {
  it('name files alike on both sides and the lines of the project, and leave out the inside of the interpreter', () => {
    const lines = [
      '0x7f5e9d84524a (libc.so.6);<module> (/srv/shop/.venv/bin/uvicorn:8);handle (/srv/shop/app/api.py:12);' +
        'App.__call__ (/opt/env/lib/python3.13/site-packages/starlette/routing.py:5);' +
        'JSONEncoder.encode (/usr/lib/python3.13/json/encoder.py:7);PyUnicode_DATA (unicodeobject.h) 3',
      'main (/opt/env/lib/python3.13/site-packages/uvloop/loop.pyx:9);' +
        '0x7f00 (/opt/env/lib/python3.13/site-packages/core/_core.cpython-313-x86_64-linux-gnu.so) 2',
      'run (/usr/lib/python3.15/heapq.py:1);<GC> (~) 1',
      '0x7f5e9d84524a (libc.so.6) 9',
      `run (/usr/lib/python3.15/heapq.py:1);watch.<locals>.notice (${HOOK}/caused.py:130) 2`,
    ];
    expect(show('collapsed', `${lines.join('\n')}\n`)).toEqual([
      '<module> (.venv/bin/uvicorn) > *handle (app/api.py:12) > App.__call__ (starlette/routing.py, starlette) > JSONEncoder.encode (json/encoder.py, json) > 3',
      'main (uvloop/loop.pyx, uvloop) > native code (core/_core.cpython-313-x86_64-linux-gnu.so, core) > 2',
      'run (heapq.py, heapq) > collector (python, garbage collection) > 1',
    ]);
  });

  it('do not count as the project what starts its server', () => {
    const start = '_run_code (<frozen runpy>:88);<module> (/srv/shop/main.py:60);main (/srv/shop/main.py:50)';
    const text = `${start};run (/opt/env/lib/python3.13/site-packages/uvicorn/main.py:5);handle (/srv/shop/main.py:12) 4\n`;
    expect(show('collapsed', text)).toEqual([
      '_run_code (<frozen runpy>, python) > <module> (main.py) > main (main.py) > run (uvicorn/main.py, uvicorn) > *handle (main.py:12) > 4',
    ]);
  });
});

const call = (functionName: string, url = '', lineNumber = 0): object => ({ functionName, url, lineNumber });

describe('the stacks of Node', () => {
  const app = 'file:///srv/shop/my%20app.mjs';
  const send = '/srv/shop/node_modules/.pnpm/x/node_modules/@fastify/send/lib/send.js';
  const nodes = [
    { id: 1, callFrame: call('(root)'), children: [2, 3, 4, 7] },
    { id: 2, callFrame: call('(idle)') },
    { id: 3, callFrame: call('parserOnMessage', 'node:_http_server'), children: [5] },
    { id: 4, callFrame: call('(garbage collector)') },
    {
      id: 5,
      callFrame: call('', app),
      children: [6, 9],
      positionTicks: [3, 2, 3].map((line) => ({ line, ticks: 1 })),
    },
    { id: 7, callFrame: call('turn', `${HOOK}/node.cjs`), children: [8] },
    { id: 8, callFrame: call('post', 'node:inspector') },
    { id: 6, callFrame: call('send', send) },
    { id: 9, callFrame: call('load', send) },
  ];
  const fold = (samples: number[]): string[] => show('cpuprofile', JSON.stringify({ nodes, samples }));

  it('follow the tree, without the idle time and the hook of Bench', () => {
    expect(fold([2, 3, 8])).toEqual(['parserOnMessage (node:_http_server, node) > 1']);
  });

  it('have the line that ran, and that of a call if a function calls by this name once', () => {
    const head = 'parserOnMessage (node:_http_server, node) > *(anonymous) (my app.mjs';
    expect(fold([5, 5, 5, 6, 6, 9])).toEqual([
      `${head}:3) > 1`,
      `${head}:2) > 1`,
      `${head}:3) > 1`,
      `${head}:1+) > send (@fastify/send/lib/send.js, @fastify/send) > 2`,
      `${head}:2) > load (@fastify/send/lib/send.js, @fastify/send) > 1`,
    ]);
  });

  it('charge a collection of garbage to what ran before', () => {
    expect(fold([4, 3, 4])).toEqual([
      'collector (node, garbage collection) > 1',
      'parserOnMessage (node:_http_server, node) > 1',
      'parserOnMessage (node:_http_server, node) > collector (node, garbage collection) > 1',
    ]);
  });
});

describe('the stacks of perf', () => {
  it('name packages of Go, and the system call in the kernel', () => {
    const text = `
\t    ffffffff81638858 tcp_sendmsg ([kernel.kallsyms])
\t    ffffffff821ef691 __x64_sys_write ([kernel.kallsyms])
\t          4a1b2c internal/poll.(*FD).Write (/srv/shop/server)
\t          6a1b2c net/http.(*conn).serve (/srv/shop/server)

\t          7a1b2c main.planted (/srv/shop/server)
\t          7a1b2d slices.SortFunc[go.shape.[]int] (/srv/shop/server)
\t          401000 runtime.goexit.abi0 (/srv/shop/server)
`;
    expect(show('perf', text)).toEqual([
      'net/http.(*conn).serve (server, net/http) > internal/poll.(*FD).Write (server, internal/poll) > write (kernel) > 1',
      'runtime.goexit.abi0 (server, runtime) > slices.SortFunc[go.shape.[]int] (server, slices) > main.planted (server, main) > 1',
    ]);
  });

  it('have the lines of Go, but not those of code that the compiler has put into a function', () => {
    const text = `
\t    4a1b2c main.handle (/srv/shop/server) /srv/shop/main.go:12
\t    6a1b2c main.serve (/srv/shop/server) /usr/local/go/src/strings/builder.go:30

\t    7a1b2c github.com/jackc/pgx.Query (/srv/shop/server) /root/go/pkg/mod/github.com/jackc/pgx/a.go:2
\t    6a1b2c main.serve (/srv/shop/server) /srv/shop/main.go:40
\t    401000 runtime.goexit.abi0 (/srv/shop/server) /usr/local/go/src/runtime/asm.s:9
`;
    expect(show('perf', text)).toEqual([
      '*main.serve (main.go, main) > *main.handle (main.go:12, main) > 1',
      'runtime.goexit.abi0 (server, runtime) > *main.serve (main.go:40, main) > github.com/jackc/pgx.Query (server, github.com/jackc/pgx) > 1',
    ]);
  });

  it('name crates of Rust, and what has no name by its program', () => {
    const text = `
\t    55d0 <actix_http::h1::Dispatcher<S> as core::future::Future>::poll (/srv/shop/server)
\t    55d1 serde_json::ser::to_vec (/srv/shop/server)

\t    7f00 [unknown] (/usr/lib/libc.so.6)
`;
    expect(show('perf', text)).toEqual([
      'serde_json::ser::to_vec (server, serde_json) > <actix_http::h1::Dispatcher<S> as core::future::Future>::poll (server, actix_http) > 1',
      'native code (libc.so.6) > 1',
    ]);
  });
});

const frame = (name: string, line?: number) => ({
  name,
  file: 'a.py',
  module: 'a.py',
  ...(line !== undefined && { from: 'project' as const, line }),
});

const at = (line: number) => [{ frames: [frame('handle', line)], samples: 1 }];

describe('the call tree', () => {
  it('holds each function and each stack once', () => {
    const tree = new CallTree(() => undefined);
    const [outer, inner] = [frame('outer'), frame('inner')];
    const [both, alone] = [{ frames: [outer, inner] }, { frames: [outer], samples: 1 }];
    const first = tree.add([{ ...both, samples: 2 }, alone], '/before');
    const second = tree.add([{ ...both, samples: 5 }], '/after');
    expect(tree.frames).toEqual([outer, inner]);
    expect(tree.tree).toEqual({ parents: [-1, 0], frames: [0, 1] });
    expect([first, second]).toEqual([
      { nodes: [1, 0], samples: [2, 1] },
      { nodes: [1], samples: [5] },
    ]);
  });

  it('knows a line of the project on both sides, although its number has changed', () => {
    const texts: Record<string, string[]> = {
      '/before': ['import json', 'rows = [row for row in old()]', 'same()', 'slow()'],
      '/after': ['# news', 'import json', 'fresh()', 'many = [row for row in old()]', '  same()', 'fast()'],
    };
    const tree = new CallTree((root) => texts[root]);
    for (const line of [2, 3, 4]) tree.add(at(line), '/before');
    for (const line of [3, 5, 6]) tree.add(at(line), '/after');
    expect(tree.linesIn('/before')).toEqual([2, 3, 4, 0]);
    // It was written anew from a similar one.
    expect(tree.linesIn('/after')).toEqual([4, 5, 6, 3]);
    expect(tree.hunksOf(['a.py'], { before: '/before', after: '/after' })).toEqual([
      { file: 'a.py', before: 1, removed: 0, after: 1, added: 1 },
      { file: 'a.py', before: 2, removed: 1, after: 3, added: 2 },
      { file: 'a.py', before: 4, removed: 1, after: 6, added: 1 },
    ]);
  });
});
