/** Completions for shells: the commands and options as a script, from the declarations that parse them. */
import { quote } from 'bench-machine/subprocess';
import { defineCommand, type Command } from '../cli/command.ts';
import { findCommands, loadCommand } from '../cli/main.ts';
import { print } from '../terminal/shell.ts';

export default defineCommand({
  name: 'completions',
  about: 'Prints the completions of bench-http for bash and zsh: commands, options and their values.',
  options: {},
  notes: `Write them to a file that your shell reads:
  bash  ~/.local/share/bash-completion/completions/bench-http
  zsh   any file, with a line in ~/.zshrc after compinit: source <file>`,
  async run() {
    print(renderCompletions(await Promise.all([...findCommands().values()].map(loadCommand))));
  },
});

/** The command whose name can be omitted. */
const USUAL = 'bench';

/** Returns the script that completes these commands in bash, and in zsh, which reads the completions of bash. */
export function renderCompletions(all: readonly Command<unknown>[]): string {
  const commands = all.filter(({ summary }) => summary !== '');
  const names = commands.map(({ name }) => name);
  const values = commands.flatMap((command) =>
    Object.entries(command.options).flatMap(([name, { value, read }]) => {
      if (value === undefined) return [];
      const words = read.words?.join(' ');
      const reply = words === undefined ? '' : `COMPREPLY=($(compgen -W ${quote(words)} -- "$word")); `;
      return [`    '${command.name} --${name}') ${reply}return ;;`];
    }),
  );
  const options = commands.map((command) => {
    const words = [...Object.keys(command.options), 'help'].map((name) => `--${name}`);
    return `    ${command.name}) words=${quote(words.join(' '))} ;;`;
  });
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
