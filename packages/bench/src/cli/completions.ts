/** Completions for shells: the commands and options as scripts, from the declarations that parse them. */
import type { Command, OptionSpec } from './command.ts';
import { wordsOf } from './values.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The command whose name can be omitted. */
const USUAL = 'bench';

/** Returns the script that completes these commands in a shell. */
export function renderCompletions(shell: Shell, commands: readonly Command<unknown>[]): string {
  const shown = commands.filter(({ summary }) => summary !== '');
  return { bash: renderBash, zsh: renderZsh, fish: renderFish }[shell](shown);
}

function optionsOf({ options }: Command<unknown>): [name: string, one: OptionSpec<unknown>][] {
  return [
    ...Object.entries(options),
    ['help', { help: 'show the usual options', read: () => true, many: false }],
  ];
}

/** The first words of the help of an option: a menu has a line for it. */
function brief({ help }: Pick<OptionSpec<unknown>, 'help'>): string {
  return help.split(/[;:.] /)[0] ?? '';
}

function renderBash(commands: readonly Command<unknown>[]): string {
  const names = commands.map(({ name }) => name);
  const values = commands.flatMap((command) =>
    optionsOf(command).flatMap(([name, { value, read }]) => {
      if (value === undefined) return [];
      const words = wordsOf(read);
      const reply =
        words === undefined ? '' : `COMPREPLY=($(compgen -W ${quote(words.join(' '))} -- "$word")); `;
      return [`    '${command.name} --${name}') ${reply}return ;;`];
    }),
  );
  const options = commands.map(
    (command) =>
      `    ${command.name}) words=${quote(
        optionsOf(command)
          .map(([name]) => `--${name}`)
          .join(' '),
      )} ;;`,
  );
  // Where it replies with nothing, the shell completes files.
  return `# Completions of bench-http for bash.
_bench_http() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command=${USUAL} words
  COMPREPLY=()
  case \${COMP_WORDS[1]} in ${names.join(' | ')}) command=\${COMP_WORDS[1]} ;; esac
  if [ "$COMP_CWORD" = 1 ] && [ "\${word#-}" = "$word" ]; then
    COMPREPLY=($(compgen -W ${quote(names.join(' '))} -- "$word"))
    return
  fi
  case "$command $before" in
${values.join('\n')}
  esac
  [ "\${word#-}" = "$word" ] && return
  case $command in
${options.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _bench_http bench-http
`;
}

function renderZsh(commands: readonly Command<unknown>[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`);
  const cases = commands.map((command) => {
    const specs = optionsOf(command).map(([name, one]) => {
      const words = one.value === undefined ? undefined : wordsOf(one.read);
      const action = words === undefined ? '_files' : `(${words.join(' ')})`;
      const value =
        one.value === undefined ? '' : `:${escapeZsh(one.value.replaceAll(/[<>]/g, ''))}:${action}`;
      return `        ${quote(`${one.many ? '*' : ''}--${name}[${escapeZsh(brief(one))}]${value}`)}`;
    });
    return `    ${command.name})\n      _arguments \\\n${specs.join(' \\\n')} \\\n        '*:file:_files' ;;`;
  });
  return `#compdef bench-http
# Completions of bench-http for zsh.
_bench_http() {
  local -a commands=(
${described.join('\n')}
  )
  local command=${USUAL}
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe 'command' commands
    return
  fi
  if (( \${commands[(I)$words[2]:*]} )); then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $command in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _bench_http ]; then _bench_http "$@"; else compdef _bench_http bench-http; fi
`;
}

function renderFish(commands: readonly Command<unknown>[]): string {
  const others = commands.map(({ name }) => name).filter((name) => name !== USUAL);
  const isOther = `__fish_seen_subcommand_from ${others.join(' ')}`;
  const lines = commands.flatMap((command) => {
    const when = command.name === USUAL ? `not ${isOther}` : `__fish_seen_subcommand_from ${command.name}`;
    return [
      `complete -c bench-http -n __fish_use_subcommand -f -a ${command.name} -d ${quoteFish(command.summary)}`,
      ...optionsOf(command).map(([name, one]) => {
        const words = one.value === undefined ? undefined : wordsOf(one.read);
        const value =
          one.value === undefined ? '' : words === undefined ? ' -r' : ` -x -a '${words.join(' ')}'`;
        return `complete -c bench-http -n '${when}' -l ${name}${value} -d ${quoteFish(brief(one))}`;
      }),
    ];
  });
  return `# Completions of bench-http for fish.\n${lines.join('\n')}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function quoteFish(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}

/** Brackets and colons end a part of a specification. */
function escapeZsh(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
}
