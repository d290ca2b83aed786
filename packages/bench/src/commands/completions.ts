import { commandLine } from 'bench-machine/home';
import { BenchError } from 'bench-model/errors';
import { defineCommand } from '../cli/command.ts';
import { renderCompletions, SHELLS, type Shell } from '../cli/completions.ts';
import { findCommands, loadCommand } from '../cli/main.ts';
import { print } from '../terminal/shell.ts';

export default defineCommand({
  name: 'completions',
  about: 'Prints the completions of bench-http for bash, zsh or fish: commands, options and their values.',
  arguments: {
    terms: '<shell>',
    noun: 'shell',
    help: SHELLS.join(', '),
    example: commandLine('completions bash'),
  },
  options: {},
  notes: `Write them to a file that your shell reads:
  bash  ~/.local/share/bash-completion/completions/bench-http
  zsh   _bench-http in a folder of fpath
  fish  ~/.config/fish/completions/bench-http.fish`,
  read(_values, [typed]): Shell {
    const shell = SHELLS.find((one) => one === typed);
    if (shell !== undefined) return shell;
    throw new BenchError('usage', `there are no completions for ${typed}`, `name ${SHELLS.join(', ')}`);
  },
  async run(shell) {
    print(renderCompletions(shell, await Promise.all([...findCommands().values()].map(loadCommand))));
  },
});
