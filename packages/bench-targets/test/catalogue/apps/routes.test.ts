import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathsInFiles, pathsInLog } from '../../../src/catalogue/apps/routes.ts';
import { writeFiles } from '../../../../bench-lab/testing/files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-routes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Record<string, string>): void => writeFiles(folder, files);

describe('the routes of a project', () => {
  it('are those that its log lists', () => {
    const log = [
      '[GIN-debug] GET    /api/ping/   --> main.main.func1 (2 handlers)',
      '[GIN-debug] POST   /api/users   --> main.create (2 handlers)',
      '[Nest] LOG [RouterExplorer] Mapped {/cats/:id, GET} route',
      '[Nest] LOG [RouterExplorer] Mapped {/cats, GET} route +1ms',
    ];
    expect(pathsInLog(log.join('\n'))).toEqual(['/api/ping/', '/cats']);
  });

  it.each<[string, string, string[]]>([
    ['a.py', '@app.get("/orders")\n@app.get("/orders/{id}")\n@app.post("/pay")\n', ['/orders']],
    ['a.js', `app.get('/orders', list); app.get('/logout', out); app.get('port')`, ['/orders']],
    ['a.go', 'mux.HandleFunc("GET /orders", list)\nr.GET("/items/:id", one)', ['/orders']],
    [
      'a.py',
      'Route("/orders", list), Route("/pay", pay, methods=["POST"]), WebSocketRoute("/ws", ws)',
      ['/orders'],
    ],
    ['a.py', 'app.add_routes([web.get("/orders", list), web.post("/pay", pay)])', ['/orders']],
    ['a.py', 'app.add_route("/orders", Orders())', ['/orders']],
    ['a.py', '@route("/orders")\n@post("/pay")', ['/orders']],
    ['src/main/java/com/example/Shop.java', 'server.createContext("/orders", this::list);', ['/orders']],
    ['a.rs', '.route("/orders", get(list)).route("/pay", post(pay))', ['/orders']],
    ['src/main/java/com/example/Shop.java', '@GetMapping("/orders")\n@GetMapping("/{id}")', ['/orders']],
    [
      'Program.cs',
      'app.MapGet("/orders", (int? limit) => list); app.MapGet("/orders/{id:int}", one);',
      ['/orders'],
    ],
    ['a.js', `server.route({ method: 'GET', path: '/orders' }); if (url === '/') end()`, ['/orders', '/']],
    ['a.py', 'Application([(r"/orders", List), (r"/orders/(\\d+)", One)])', ['/orders']],
    ['example/a.js', `app.get('/orders', list)`, []],
  ])('of %s with %j are %j', (file, text, paths) => {
    write({ [file]: text });
    expect(pathsInFiles(folder)).toEqual(paths);
  });

  it('are those of Django with the prefixes of the lists around them', () => {
    write({
      'conf/urls.py': 'x = [path("", home), path("api/", include("shop.urls")), path("<int:id>/", one)]',
      'shop/urls.py': 'router.register(r"orders", Orders)\nx = [path("v1/", include(router.urls))]',
    });
    expect(pathsInFiles(folder)).toEqual(expect.arrayContaining(['/', '/api/v1/orders/']));
  });
});
