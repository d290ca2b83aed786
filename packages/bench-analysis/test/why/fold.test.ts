import { describe, expect, it } from 'vitest';
import { CallTree, foldProfiles, withoutClasses } from '../../src/why/fold.ts';

/** Returns the stacks of a profile as text: `module: function (file)`, outermost first. */
function show(format: 'collapsed' | 'cpuprofile' | 'perf', text: string): string[] {
  return foldProfiles([{ format, text }], '/srv/shop').map(({ frames, samples }) =>
    [
      ...frames.map(({ name, file, module }) => `${name} (${file}${file === module ? '' : `, ${module}`})`),
      samples,
    ].join(' > '),
  );
}

describe('the stacks of Python', () => {
  it('name files alike on both sides, and leave out the inside of the interpreter', () => {
    const lines = [
      '0x7f5e9d84524a (libc.so.6);<module> (/opt/env/bin/uvicorn);handle (/srv/shop/app/api.py);' +
        'App.__call__ (/opt/env/lib/python3.13/site-packages/starlette/routing.py);' +
        'JSONEncoder.encode (/usr/lib/python3.13/json/encoder.py);PyUnicode_DATA (unicodeobject.h) 3',
      'main (/opt/env/lib/python3.13/site-packages/uvloop/loop.pyx);' +
        '0x7f00 (/opt/env/lib/python3.13/site-packages/core/_core.cpython-313-x86_64-linux-gnu.so) 2',
      'run (/usr/lib/python3.15/heapq.py);<GC> (~) 1',
      '0x7f5e9d84524a (libc.so.6) 9',
    ];
    expect(show('collapsed', `${lines.join('\n')}\n`)).toEqual([
      '<module> (uvicorn) > handle (app/api.py) > App.__call__ (starlette/routing.py, starlette) > JSONEncoder.encode (json/encoder.py, json) > 3',
      'main (uvloop/loop.pyx, uvloop) > native code (core/_core.cpython-313-x86_64-linux-gnu.so, core) > 2',
      'run (heapq.py, heapq) > collector (python, garbage collection) > 1',
    ]);
  });
});

const call = (functionName: string, url = ''): object => ({ functionName, url });

describe('the stacks of Node', () => {
  it('follow the tree, without the idle time and the profiler itself', () => {
    const nodes = [
      { id: 1, callFrame: call('(root)'), children: [2, 3, 4, 7] },
      { id: 2, callFrame: call('(idle)') },
      { id: 3, callFrame: call('parserOnMessage', 'node:_http_server'), children: [5] },
      { id: 4, callFrame: call('(garbage collector)') },
      { id: 5, callFrame: call('', 'file:///srv/shop/my%20app.mjs'), children: [6] },
      { id: 7, callFrame: call('turn', '/bench/profile.cjs'), children: [8] },
      { id: 8, callFrame: call('post', 'node:inspector') },
      {
        id: 6,
        callFrame: call('send', '/srv/shop/node_modules/.pnpm/x/node_modules/@fastify/send/lib/send.js'),
      },
    ];
    expect(show('cpuprofile', JSON.stringify({ nodes, samples: [2, 6, 6, 5, 4, 8] }))).toEqual([
      'parserOnMessage (node:_http_server, node) > (anonymous) (my app.mjs) > send (@fastify/send/lib/send.js, @fastify/send) > 2',
      'parserOnMessage (node:_http_server, node) > (anonymous) (my app.mjs) > 1',
      'collector (node, garbage collection) > 1',
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

const frame = (name: string) => ({ name, file: 'a.py', module: 'a.py' });

describe('the call tree', () => {
  it('holds each function and each stack once', () => {
    const tree = new CallTree();
    const [outer, inner] = [frame('outer'), frame('inner')];
    const first = tree.add([
      { frames: [outer, inner], samples: 2 },
      { frames: [outer], samples: 1 },
    ]);
    const second = tree.add([{ frames: [outer, inner], samples: 5 }]);
    expect(tree.frames).toEqual([outer, inner]);
    expect(tree.tree).toEqual({ parents: [-1, 0], frames: [0, 1] });
    expect([first, second]).toEqual([
      { nodes: [1, 0], samples: [2, 1] },
      { nodes: [1], samples: [5] },
    ]);
  });
});

it('functions are named without their classes, for a Python that does not know them', () => {
  const place = { file: 'shop.py', module: 'shop.py' };
  const names = ['Shop.__init__', 'run.<locals>.inner', 'main'];
  const stacks = [{ frames: names.map((name) => ({ ...place, name })), samples: 2 }];
  expect(withoutClasses(stacks)[0]?.frames.map(({ name }) => name)).toEqual(['__init__', 'inner', 'main']);
});
