/**
 * The interpreter that a live server runs, and its build. A build is a property of the program, so the same
 * program is asked in a separate process, once: nothing is loaded into the server.
 */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { isTrusted, readProgram } from 'bench-machine/identity';
import { familyOf } from 'bench-machine/procfs';
import { run, type RunOptions } from 'bench-machine/subprocess';
import type { Interpreter, RuntimeKind } from 'bench-model/target';

const ANSWER_MS = 5000;

/** The names of the interpreters that can be asked. */
const PYTHON = /^(python|pypy)[\d.]*t?$/i;
const NODE = /^(node|nodejs)$/;

/** Other programs that run code and print `name version` if they are asked for it. */
const OTHERS = /^(java|ruby|php)[\d.]*$/;

/** The words of a CPython about its build, as `sysconfig` and `platform` give them. A missing one is empty. */
export interface PythonWords {
  implementation: string;
  version: string;
  /** sys.version, which names a distribution. */
  said: string;
  /** sys.base_prefix: the folder that it is installed in. */
  prefix: string;
  /** PYTHON_BUILD_STANDALONE: set by the builds that uv installs. */
  standalone: string;
  compiler: string;
  /** CONFIG_ARGS: the arguments of configure, each in quotes. */
  configured: string;
  /** PY_CORE_CFLAGS: the flags that the interpreter was compiled with. */
  compiled: string;
  /** PY_LDFLAGS_NODIST: the flags that it was linked with. */
  linked: string;
  isDebug: boolean;
  hasTailCalls: boolean;
}

/** All that a Python says. */
export interface SaidByPython extends PythonWords {
  isFreeThreaded: boolean;
  /** True if it has a JIT that can be switched on, and if that is on by default. */
  hasJit: boolean;
  isJitOn: boolean;
  executable: string;
}

const ASK_PYTHON = `
import json, platform, sys, sysconfig
def get(name): return str(sysconfig.get_config_var(name) or "")
print(json.dumps({
    "implementation": platform.python_implementation(),
    "version": platform.python_version(),
    "said": sys.version,
    "prefix": sys.base_prefix,
    "standalone": get("PYTHON_BUILD_STANDALONE"),
    "compiler": platform.python_compiler(),
    "configured": get("CONFIG_ARGS"),
    "compiled": get("PY_CORE_CFLAGS"),
    "linked": get("PY_LDFLAGS_NODIST"),
    "isDebug": get("Py_DEBUG") == "1",
    "hasTailCalls": "1" in (get("Py_TAIL_CALL_INTERP"), get("_Py_TAIL_CALL_INTERP")),
    "isFreeThreaded": get("Py_GIL_DISABLED") == "1",
    "hasJit": getattr(sys, "_jit", None) is not None and sys._jit.is_available(),
    "isJitOn": getattr(sys, "_jit", None) is not None and sys._jit.is_enabled(),
    "executable": sys.executable,
}))`;

/** The variables of a Node about its build, as `process.config` gives them. */
interface NodeWords {
  version: string;
  variables: Record<string, unknown>;
}

const ASK_NODE =
  'console.log(JSON.stringify({ version: process.versions.node, variables: process.config.variables }))';

/** Returns the interpreter that a process or one of its children runs; undefined if none is known or it cannot be asked. */
export async function readInterpreterOf(pid: number, kind?: RuntimeKind): Promise<Interpreter | undefined> {
  const pids = new Set([pid, ...(process.platform === 'linux' ? familyOf([pid]) : [])]);
  for (const one of pids) {
    const program = await readProgram(one);
    const isOfKind = program !== undefined && (kind ?? kindOf(program)) === kindOf(program);
    const found = isOfKind && isTrusted(program) ? await readInterpreter(program) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the kind of interpreter that a program is by its name. */
function kindOf(program: string): RuntimeKind {
  const name = basename(program);
  return PYTHON.test(name) ? 'python' : NODE.test(name) ? 'node' : 'none';
}

const known = new Map<string, Promise<Interpreter | undefined>>();

/** Asks an interpreter for its build, once as long as the program is not replaced. */
export function readInterpreter(program: string): Promise<Interpreter | undefined> {
  const { ino, mtimeMs } = statSync(program, { throwIfNoEntry: false }) ?? {};
  const key = `${program} ${ino} ${mtimeMs}`;
  const asking = known.get(key) ?? ask(program).catch(() => undefined);
  known.set(key, asking);
  return asking;
}

async function ask(program: string): Promise<Interpreter | undefined> {
  const kind = kindOf(program);
  // Without the environment, which could load the code of a user.
  const surroundings = { timeoutMs: ANSWER_MS, env: { PATH: '/usr/bin:/bin' }, cwd: '/' };
  if (kind === 'none') {
    if (!OTHERS.test(basename(program))) return undefined;
    const [, implementation = '', version = ''] =
      /^(\S+) (\d\S*)/m.exec((await run([program, '--version'], surroundings)).stdout) ?? [];
    return implementation === '' ? undefined : { implementation, version };
  }
  if (kind === 'python') return describePython(await askPython(program, surroundings));
  const { stdout } = await run([program, '-e', ASK_NODE], surroundings);
  return describeNode(JSON.parse(stdout) as NodeWords);
}

/** Asks a Python for its build. Throws if it does not answer. */
export async function askPython(program: string, options: RunOptions = {}): Promise<SaidByPython> {
  const { stdout } = await run([program, '-I', '-S', '-c', ASK_PYTHON], options);
  return JSON.parse(stdout) as SaidByPython;
}

/** The makers of builds, each with what their interpreters say of themselves. */
const MAKERS: Record<string, (words: PythonWords) => boolean> = {
  'python-build-standalone': ({ standalone, prefix }) => standalone === '1' || /\/uv\/python\//.test(prefix),
  conda: ({ said, prefix }) => /conda/i.test(said) || /conda|mamba/i.test(prefix),
  Homebrew: ({ prefix }) => /\/Cellar\/|linuxbrew/.test(prefix),
  'python.org': ({ prefix }) => prefix.startsWith('/Library/Frameworks/Python.framework'),
  'Fedora or Red Hat': ({ said, compiler }) => /Red Hat/.test(`${said} ${compiler}`),
  'Debian or Ubuntu': ({ configured: args }) => /'--prefix=\/usr'/.test(args) && /-linux-gnu/.test(args),
  pyenv: ({ prefix }) => /\/\.?pyenv\/versions\//.test(prefix),
};

/** Returns who built a Python; undefined if it does not tell. */
export function makerOf(words: PythonWords): string | undefined {
  return Object.keys(MAKERS).find((maker) => MAKERS[maker]?.(words));
}

/** Returns the build that the words of a Python describe. An option that they leave open is absent. */
export function describePython(words: PythonWords): Interpreter {
  const { implementation, version, compiler, configured, compiled, linked, isDebug, hasTailCalls } = words;
  const named = compiler.trim();
  const interpreter = { implementation, version, ...(named !== '' && { compiler: named }) };
  const args = [...configured.matchAll(/'([^']*)'/g)].map(([, arg = '']) => arg);
  if (implementation !== 'CPython' || args.length === 0) return interpreter;
  const pgo = isSet(args, '--enable-optimizations') || /-fprofile(-instr)?-use|-prof-use/.test(compiled);
  const lto = isSet(args, '--with-lto') || /-flto/.test(`${compiled} ${linked}`);
  // Debian and Ubuntu pass these options to make and remove their flags from sysconfig.
  const isPackaged = args.includes('--prefix=/usr');
  const level = /.*(?<flag>-O\S*)/s.exec(compiled)?.groups?.['flag'];
  const maker = makerOf(words);
  return {
    ...interpreter,
    ...(maker !== undefined && { maker }),
    ...(level === undefined || isPackaged ? {} : { optimisation: level }),
    ...(isPackaged && !pgo ? {} : { pgo }),
    ...(isPackaged && !lto ? {} : { lto }),
    bolt: isSet(args, '--enable-bolt'),
    tailCalls: hasTailCalls || isSet(args, '--with-tail-call-interp'),
    assertions: isSet(args, '--with-assertions') || (compiled !== '' && !compiled.includes('-DNDEBUG')),
    debug: isDebug,
  };
}

/** Returns true if an option of configure is given, with any value but `no`. */
function isSet(args: string[], option: string): boolean {
  return args.some((arg) => arg === option || (arg.startsWith(`${option}=`) && !arg.endsWith('=no')));
}

/** Returns the build that the variables of a Node describe. */
export function describeNode({ version, variables }: NodeWords): Interpreter {
  const isOn = (name: string): boolean => [true, 1, 'true'].includes(variables[name] as boolean);
  return {
    implementation: 'node',
    version,
    pgo: isOn('enable_pgo_use'),
    lto: isOn('enable_lto') || isOn('enable_thin_lto'),
    pointerCompression: isOn('v8_enable_pointer_compression'),
    debug: isOn('debug_node'),
  };
}
