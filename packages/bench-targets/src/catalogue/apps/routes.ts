/** The routes without parameters that the log and the sources of a project name. Changes no file. */
import { stripVTControlCharacters } from 'node:util';
import { filesIn, readText } from './files.ts';

/** Lines by which frameworks list their routes when they start. */
const IN_LOG = [
  // [GIN-debug] GET    /api/ping/  --> main.main.func1
  /^\[\w+-debug\] GET\s+(\/\S*)\s+-->/gm,
  // [RouterExplorer] Mapped {/cats, GET} route
  /Mapped \{(\/[^},]*), GET\} route/g,
  // GET /users -> handler, in the lists that some print
  /^[ \t]*GET\s+(\/\S*)\s+(?:->|→|=>)/gm,
];

const SOURCES = '**/*.{py,js,mjs,cjs,ts,mts,go,rs,java,kt,cs,rb}';
/** Routes as sources declare them: `@app.get("/a")`, `router.get('/a', …)`, `HandleFunc("GET /a", …)`, `.route("/a", get(…))`, `[(r"/a", List)]`, `{ path: '/a' }`. */
const IN_SOURCES =
  /(?:\b(?:get|add_get|route|add_(?:api_)?route|url_rule|Route|HandleFunc|Handle|MapGet|GetMapping|RequestMapping|createContext)\(|[[,]\s*\(|\b(?:path|pathname|url)\s*(?::|[!=]==?))\s*r?["'`](?:GET )?(\/[^"'`]*)["'`](?![^)\n]*methods=\[(?![^\]]*GET))(?!\s*,\s*(?:post|put|delete)\()/gi;

/** Routes of Django: `path("orders/", list)`, `path("api/", include("shop.urls"))`, `router.register("orders", Orders)`. */
const IN_DJANGO =
  /\bpath\(\s*r?["']([^"']*)["']\s*,\s*(?:include\(\s*["']([\w.]+)["'])?|router\.register\(\s*r?["']([^"']*)["']/g;
const IN_ROUTER = /\bpath\(\s*r?["']([^"']*)["']\s*,\s*include\(\s*\w*router\.urls/;

/** Paths that change something, never end, or show nothing of the service. */
export const AVOIDED =
  /\b(?:panic|crash|quit|exit)\b|log-?out|sign-?out|shutdown|delete|remove|reset|kill|restart|stream|events?$|\/ws\b|\.(?:js|css|png|ico|svg|map)$|\/(?:robots|humans)\.txt$|\/sitemap[^/]*\.xml$|^\/(?:docs?|redoc|reference|swagger|scalar|static|metrics)\b/i;
/** Paths with a parameter, in any notation. */
const WITH_PARAMETER = /^[^?]*[{}<>:*()$[\]]/;

/** Returns the paths that the output of a server lists. */
export function pathsInLog(text: string): string[] {
  const plain = stripVTControlCharacters(text);
  return IN_LOG.flatMap((pattern) => pathsIn(plain, pattern));
}

/** Returns the paths that the sources of a project name. */
export function pathsInFiles(root: string): string[] {
  const found = filesIn(root, SOURCES).flatMap((file) => pathsIn(readText(root, file), IN_SOURCES));
  return [...new Set([...found, ...pathsOfDjango(root)])];
}

/** Returns the routes in the `urls.py` files of Django, also with the prefix of the list that includes theirs. */
function pathsOfDjango(root: string): string[] {
  const files = filesIn(root, '**/urls.py');
  const read = (file: string, prefix: string): string[] => {
    const text = readText(root, file);
    const ofRouter = IN_ROUTER.exec(text)?.[1] ?? '';
    return [...text.matchAll(IN_DJANGO)].flatMap(([, path = '', module, registered]) => {
      const inner = files.find((one) => one.endsWith(`${module?.replaceAll('.', '/')}.py`));
      if (inner !== undefined && inner !== file) return read(inner, `${prefix}${path}`);
      return [`${prefix}${registered === undefined ? path : `${ofRouter}${registered}/`}`];
    });
  };
  return files.flatMap((file) => read(file, '/')).filter(isAskable);
}

/** Returns the paths that can be asked as they are. */
function pathsIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, path = '']) => (isAskable(path) ? [path] : []));
}

function isAskable(path: string): boolean {
  return !WITH_PARAMETER.test(path) && !AVOIDED.test(path);
}
