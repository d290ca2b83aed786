/**
 * The runtime of a live process, and those of its threads that compile. Both are read off the process itself, so they hold for
 * every stack and for any command of a user.
 */
import { basename } from 'node:path';
import type { LiveRuntime } from 'bench-model/runtimes';
import { listenersOn, readLink, readNames, readText, readWords } from './procfs.ts';

/** How a runtime is recognised; a missing sign says nothing. */
interface Signs {
  /** A library that it maps. */
  library?: RegExp;
  /** The name of its program. */
  program?: RegExp;
  /** Its threads that compile, by the names that the kernel keeps: their first 15 characters. */
  compilers?: RegExp;
}

/** The signs of each runtime. The first that fits counts: a program that loads a JVM warms up like one. */
const SIGNS: Record<Exclude<LiveRuntime, 'native'>, Signs> = {
  jvm: {
    library: /\/lib(jvm|j9vm\d*)\.so$/m,
    // HotSpot, Graal, Truffle and OpenJ9.
    compilers: /^(C[12] CompilerThr|JVMCI|LibGraal|TruffleCompile|JIT Compilation)/,
  },
  dotnet: { library: /\/libcoreclr\.so$/m, compilers: /^\.NET Tiered/ },
  v8: {
    program: /^(node|nodejs|deno)$/,
    // Before Node 22 they have the name of the program, like the main thread.
    compilers: /^(node-V8Worker|V8 ?Default|V8 ?Worker|node$)/,
  },
  jsc: { program: /^bun$/, compilers: /^(JITWorker|JIT )/ },
  python: { program: /^(python|pypy|ruby|php|perl)[\d.]*t?$/i, library: /\/libpython[\d.]+t?\.so/m },
};

/** Returns the runtime of a process. One that cannot be looked into counts by its threads. */
export function runtimeOf(pid: number): LiveRuntime {
  const program = basename(readLink(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '');
  const maps = readText(`/proc/${pid}/maps`) ?? '';
  const threads = readNames(`/proc/${pid}/task`).map((thread) => nameOfThread(pid, thread));
  const found = Object.entries(SIGNS).find(
    ([, { library, program: names, compilers }]) =>
      library?.test(maps) === true ||
      names?.test(program) === true ||
      threads.some((name) => compilers?.test(name)),
  );
  return (found?.[0] as LiveRuntime | undefined) ?? 'native';
}

/**
 * Returns the runtime of a server, which is that of the processes that listen on its port. Launchers beside them, such as npm,
 * count only if the listeners are not known. `family` are all its processes.
 */
export function runtimeOfServer(family: ReadonlySet<number>, port: number): LiveRuntime {
  const listeners = listenersOn(port, [...family]);
  const runtimes = new Set((listeners.length > 0 ? listeners : [...family]).map(runtimeOf));
  const all = [...Object.keys(SIGNS), 'native'] as LiveRuntime[];
  return all.find((runtime) => runtimes.has(runtime)) ?? 'native';
}

/** Returns the names of the threads of a runtime that compile; undefined if it compiles in the threads that answer. */
export function compilersOf(runtime: LiveRuntime): RegExp | undefined {
  return runtime === 'native' ? undefined : SIGNS[runtime].compilers;
}

/** Returns the name of a thread; empty if it has ended. */
export function nameOfThread(pid: number, thread: number | string): string {
  return (readText(`/proc/${pid}/task/${thread}/comm`) ?? '').trimEnd();
}

/** The collectors of the JVM that work in threads of their own. The serial one has none. */
const COLLECTORS =
  /^(G1 |GC Thread|GC Slave|ParGC|Parallel|ZDirector|ZWorker|XWorker|Shenandoah|Concurrent Mark)/;
/** A collector that somebody has chosen. */
const CHOSEN_COLLECTOR = /-XX:\+Use\w*GC\b|-Xgcpolicy/;
/** The variables in which a JVM looks for options. */
const JVM_OPTIONS = /^(JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|JAVA_OPTS)=/;

/** Returns true if a JVM among these processes collects garbage serially, although nobody has asked it to. */
export function collectsSerially(family: Iterable<number>): boolean {
  return [...family].some((pid) => {
    if (runtimeOf(pid) !== 'jvm') return false;
    const options = (readText(`/proc/${pid}/environ`) ?? '')
      .split('\0')
      .filter((one) => JVM_OPTIONS.test(one));
    const isChosen = [...readWords(pid), ...options].some((word) => CHOSEN_COLLECTOR.test(word));
    return (
      !isChosen &&
      !readNames(`/proc/${pid}/task`).some((thread) => COLLECTORS.test(nameOfThread(pid, thread)))
    );
  });
}
