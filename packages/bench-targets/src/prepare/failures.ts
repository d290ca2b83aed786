/** The reasons in the output of tools that failed. They are stored with a run, so addresses are removed. */

/** The first lines of errors: of compilers with their place, and of programs that end with an exception. */
const COMPILERS = [
  // GCC, Clang, Java and others: a file, a line, the word error.
  /^[ \t]*(?:e: |\[ERROR\] )?\S+?[:[(]\d+[,:]?\d*[\])]*:? *(?:- )?(?:fatal )?error\b.*/,
  // Maven: the place of javac without that word.
  /^[ \t]*\[ERROR\] \S+\.\w+:\[\d+,\d+\] .*/,
  // Maven: any other error, but not its headings and its advice.
  /^\S*\[ERROR\] (?!COMPILATION ERROR|Failed to execute|-> \[|\[Help|Re-run|To see|For more|\S+\.\w+:\[)\S.*/,
  // Go.
  /^[ \t]*\S+\.go:\d+(?::\d+)?: .*/,
  // Rust: its place is in the next line.
  /^[ \t]*error(?:\[E\d+\])?: .*\n\s*--> /,
  // The driver of a compiler: it cannot start the assembler, for example.
  /^[ \t]*\S*(?:cc|[cg]\+\+|clang)(?:-[\d.]+)?: (?:fatal )?error: .*/,
  // A linker.
  /^[ \t]*\S*\bld(?:\.\w+)?: cannot find .*/,
];
const EXCEPTION = /^[ \t]*(?:[\w.]+\.)?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: .*/;
/** The end of an error: an empty line, or what the compiler and the program that called it say of their end. */
const END = /^[ \t]*(?:error: |compilation terminated|Traceback |$)/;
/** A longer exception quotes the whole command that failed, and the next one says more. */
const MOST_TELLING = 300;
/** The lines of one error. */
const LINES = 6;

/**
 * Returns the first error of a compiler in a log with its lines, or the first exception, without the places of files of this
 * machine; undefined if there is neither.
 */
export function firstError(log: string): string[] | undefined {
  const lines = withoutPlaces(log).split('\n');
  const isError = (at: number): boolean =>
    COMPILERS.some((pattern) => pattern.test(`${lines[at]}\n${lines[at + 1]}`));
  const compiled = lines.findIndex((_, at) => isError(at));
  if (compiled < 0) {
    const exception = lines.find((line) => line.length <= MOST_TELLING && EXCEPTION.test(line));
    return exception === undefined ? undefined : [exception.trim()];
  }
  const rest = lines.slice(compiled + 1);
  const end = rest.findIndex((line, index) => END.test(line) || isError(compiled + 1 + index));
  const all = [lines[compiled] ?? '', ...rest.slice(0, end < 0 ? undefined : end)].slice(0, LINES);
  const indent = (lines[compiled] ?? '').search(/\S/);
  return all.map((line) => line.slice(Math.min(indent, line.search(/\S|$/))));
}

/** Returns the last line of a command's stderr that names an error or a cause, else the last line. */
export function lastLine(text: string | undefined): string {
  const lines = (text ?? '').trimEnd().split('\n');
  const at = lines.findLastIndex((line) => /^\s*(error|cause|caused by|×|╰─▶|fatal)/i.test(line));
  const from = at < 0 ? lines.length - 1 : at;
  // uv and pnpm wrap their lines at 80 columns and indent the continuation.
  const rest = lines.slice(from + 1);
  const depth = (lines[from] ?? '').search(/\S/) + 4;
  const end = rest.findIndex((line) => line.search(/\S/) < depth);
  return withoutAddresses(
    [lines[from] ?? '', ...rest.slice(0, end < 0 ? undefined : end)]
      .map((line) => line.trim())
      .join(' ')
      .replace(/^(×|╰─▶) /, ''),
  );
}

/** Returns the reason in the log of a package manager of Node, which writes it first, and a pointer to another log last. */
export function reasonIn(log: string): string {
  // pnpm 12 draws a chain of causes.
  if (/^\s*╰─▶/m.test(log)) return lastLine(log);
  const lines = log
    .split('\n')
    .filter((line) => /^\s*(npm (error|ERR!)|ERR_PNPM|\[?ERR|error |.*YN\d{4}:.*error)/i.test(line))
    .map((line) => line.replace(/^\s*npm (error|ERR!)\s*/, '').trim())
    .filter((line) => line !== '' && !/^(code|errno|syscall|path|dest|A complete log)\b/.test(line));
  return firstError(log)?.join('\n') ?? withoutAddresses(lines[0] ?? lastLine(log));
}

function withoutAddresses(log: string): string {
  return log.replaceAll(/\w+:\/\/[^\s`'"]+/g, '…');
}

/** Removes addresses and folders of this machine from a log. */
export function withoutPlaces(log: string): string {
  return withoutAddresses(log).replaceAll(/(?<![\w.])(?:\/[\w.@+~-]+)+\//g, '…/');
}
