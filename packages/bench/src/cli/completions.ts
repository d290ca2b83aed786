/** Completions for shells: the commands and options as a script, from the declarations that parse them. */
import type { Command, OptionSpec } from './command.ts';

/** The command whose name can be omitted. */
const USUAL = 'bench';

function optionsOf({ options }: Command<unknown>): [name: string, one: OptionSpec<unknown>][] {
  return [
    ...Object.entries(options),
    ['help', { help: 'show the usual options', read: () => true, many: false }],
  ];
}

/** Returns the script that completes these commands in bash, and in zsh, which reads the completions of bash. */
export function renderCompletions(all: readonly Command<unknown>[]): string {
  const commands = all.filter(({ summary }) => summary !== '');
  const names = commands.map(({ name }) => name);
  const values = commands.flatMap((command) =>
    optionsOf(command).flatMap(([name, { value, read }]) => {
      if (value === undefined) return [];
      const { words } = read;
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
  return `# Completions of bench-http for bash and zsh.
[ -n "$ZSH_VERSION" ] && autoload -U +X bashcompinit && bashcompinit
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

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
