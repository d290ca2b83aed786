import { commandLine } from 'bench-machine/home';
import { defineCommand, type Command } from '../cli/command.ts';
import type { BenchRequest } from '../plan/request.ts';
import { UPGRADE } from './bench.ts';

/** The options of `bench` that its help shows; the command takes all of them. */
const SHOWN = ['app', 'run', 'get', 'connections', 'with', 'by', 'budget', 'fail-on', 'dry-run', 'wait'];

const shown = defineCommand({
  name: 'upgrade',
  about:
    'Compares the runtime of a project with the newer ones on this machine. Builds an environment for each, leaves out those for which a package has no wheel, prefers builds of one maker, and measures in turns until each difference is decided. With --with, compares packages with the locked ones instead.',
  arguments: {
    terms: '[target...]',
    noun: 'target',
    help: 'stack[/variant][@runtime] (default: the stack.json of this project)',
    example: commandLine('upgrade'),
  },
  options: Object.fromEntries(
    SHOWN.flatMap((name) => (UPGRADE.options[name] === undefined ? [] : [[name, UPGRADE.options[name]]])),
  ),
  notes: `Takes the options of ${commandLine('bench')} that choose no runtime.`,
  read: () => undefined,
  run: () => Promise.resolve(),
});

/** `bench-http upgrade [target...]`: the runtime of now against the newer ones. */
const upgrade: Command<BenchRequest> = {
  ...shown,
  options: UPGRADE.options,
  parse: (words) => UPGRADE.parse(words),
  run: (request) => UPGRADE.run(request),
};
export default upgrade;
