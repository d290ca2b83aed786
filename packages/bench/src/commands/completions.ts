import { defineCommand } from '../cli/command.ts';
import { renderCompletions } from '../cli/completions.ts';
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
