/** The GET routes without parameters that the log and the sources of a project name. Changes no file. */
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { filesIn, readText } from './starts/files.ts';

/** A path, and the place that names it. */
export interface NamedPath {
  path: string;
  why: string;
}

/** Lines by which frameworks list their routes when they start. */
const IN_LOG = [
  // [GIN-debug] GET    /api/ping/  --> main.main.func1
  /^\[\w+-debug\] GET\s+(\/\S*)\s+-->/gm,
  // [RouterExplorer] Mapped {/cats, GET} route
  /Mapped \{(\/[^},]*), GET\} route/g,
  // GET /users -> handler, in the lists that some print
  /^[ \t]*GET\s+(\/\S*)\s+(?:->|→|=>)/gm,
];

/** Routes as sources declare them, in the frameworks that people use. */
const IN_SOURCES: [files: string, pattern: RegExp][] = [
  ['**/*.py', /@\w+(?:\.\w+)*\.(?:get|route)\(\s*["'](\/[^"']*)["'](?![^)]*methods=\[(?![^\]]*GET))/g],
  // Routes as calls: Starlette, aiohttp, Falcon, Bottle and Litestar, and the handlers of Tornado.
  [
    '**/*.py',
    /(?:@get|@route|\bRoute|\.add_(?:api_route|get|route|url_rule)|\bweb\.get)\(\s*(?:path=)?r?["'](\/[^"']*)["'](?![^)]*methods=\[(?![^\]]*GET))/g,
  ],
  ['**/*.py', /\(\s*r?["'](\/[^"'$]*)\$?["']\s*,\s*[A-Z]\w*/g],
  ['**/*.{js,mjs,cjs,ts,mts}', /\b\w+\.get\(\s*["'`](\/[^"'`]*)["'`]\s*,/g],
  // A server without a framework compares the path that was asked.
  [
    '**/*.{py,js,mjs,cjs,ts,mts,go,pl,php}',
    /\b(?:path(?:name)?|url|PATH_INFO|REQUEST_URI)\b[\])}'"\w]*\s*(?:===?|eq)\s*["'`](\/[^"'`]*)["'`]/gi,
  ],
  ['**/*.{ts,mts}', /@Get\(\s*(?:["'`]([^"'`]*)["'`])?\s*\)/g],
  ['**/*.go', /\.(?:GET|Get|HandleFunc|Handle)\(\s*"(?:GET )?(\/[^"]*)"/g],
  [
    '**/*.rs',
    /\.route\(\s*"(\/[^"]*)"\s*,\s*(?:(?:\w+::)*\w+\([^()]*\)\s*\.)*(?:\w+::)*get\(|#\[get\("(\/[^"]*)"\)\]/g,
  ],
  [
    '**/*.{java,kt}',
    /(?:@(?:GetMapping|RequestMapping|Path|Get)|\bcreateContext|\.get)\(\s*(?:(?:value|path)\s*=\s*)?(?:\{\s*)?"(\/[^"]*)"/g,
  ],
  ['**/*.rb', /^[ \t]*get\s+["'](\/[^"']*)["']/gm],
  ['**/*.php', /Route::get\(\s*["'](\/?[^"']*)["']/g],
];

/** Paths that change something, never end, or show nothing of the service. */
const AVOIDED =
  /log-?out|sign-?out|shutdown|delete|remove|reset|kill|restart|stream|events?$|\/ws\b|\.(?:js|css|png|ico|svg|map)$|\/(?:robots|humans)\.txt$|\/sitemap[^/]*\.xml$|^\/(?:docs?|redoc|reference|swagger|scalar|static|metrics)\b/i;
/** Paths with a parameter, in any notation. */
const WITH_PARAMETER = /[{}<>:*()$[\]]/;

/** Returns the paths that the output of a server lists. */
export function pathsInLog(text: string): NamedPath[] {
  const plain = stripVTControlCharacters(text);
  return IN_LOG.flatMap((pattern) =>
    [...plain.matchAll(pattern)].map(([, path = '']) => ({ path, why: 'its log' })),
  ).filter(isPlain);
}

/** Returns the paths that the sources of a project name. */
export function pathsInFiles(root: string): NamedPath[] {
  const declared = IN_SOURCES.flatMap(([pattern, route]) =>
    filesIn(root, pattern).flatMap((file): NamedPath[] =>
      [...readText(join(root, file)).matchAll(route)].map((found) => ({
        path: trim(found.slice(1).find(Boolean) ?? ''),
        why: file,
      })),
    ),
  );
  const all = [...pathsOfDjango(root), ...declared].filter(isPlain);
  return [...new Map(all.toReversed().map((one) => [one.path, one])).values()].toReversed();
}

/** A route of Django, with the module or the router that it includes instead of a view. */
const IN_URLS =
  /\bpath\(\s*r?["']([^"']*)["']\s*,\s*(include\(\s*(?:\(\s*)?(?:["']([\w.]+)["']|(\w+)\.urls)?)?/g;
/** A route of a router of Django REST framework. */
const REGISTERED = /^(\w+)\.register\(\s*(?:prefix\s*=\s*)?r?["']([^"']+)["']/gm;

/** Resolves the routes of Django from the modules that no other one includes. */
function pathsOfDjango(root: string): NamedPath[] {
  const modules = filesIn(root, '**/*urls*.py').map((file) => {
    const text = readText(join(root, file));
    const routes = [...text.matchAll(IN_URLS)].map(([, path = '', include, module, router]) => ({
      path,
      module,
      router,
      isView: include === undefined,
    }));
    const registered = [...text.matchAll(REGISTERED)].map(([, router, name]) => ({
      router,
      path: `${name}/`,
    }));
    return { file, name: `.${file.slice(0, -'.py'.length).replaceAll('/', '.')}`, routes, registered };
  });
  type Module = (typeof modules)[number];
  const find = (wanted: string): Module | undefined =>
    modules.find(({ name }) => name.endsWith(`.${wanted}`));
  const included = new Set(
    modules.flatMap(({ routes }) =>
      routes.flatMap(({ module }) => (module === undefined ? [] : find(module))),
    ),
  );
  const walk = ({ file, routes, registered }: Module, prefix: string, above: Module[]): NamedPath[] =>
    routes.flatMap(({ path, module, router, isView }): NamedPath[] => {
      const full = prefix + path;
      if (isView) return [{ path: full, why: file }];
      const inner = module === undefined ? undefined : find(module);
      if (inner !== undefined && !above.includes(inner)) return walk(inner, full, [...above, inner]);
      const own = router === undefined ? [] : registered.filter((one) => one.router === router);
      return own.map((one) => ({ path: full + one.path, why: file }));
    });
  return modules.filter((one) => !included.has(one)).flatMap((one) => walk(one, '/', [one]));
}

function isPlain({ path }: NamedPath): boolean {
  return path.startsWith('/') && !WITH_PARAMETER.test(path.split('?')[0] ?? '') && !AVOIDED.test(path);
}

function trim(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
