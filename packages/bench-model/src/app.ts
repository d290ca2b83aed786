/** The app of a user as a plan stores it. */
import { Type, type Static } from 'typebox';
import { command, mapOf, shape, text } from './definitions.ts';

export const app = shape('A server program of a user, measured without a manifest (--run).', {
  name: text('The name of its stack.'),
  folder: text('The folder of the project, as typed.'),
  command: command('The command that starts the server.'),
  env: Type.Optional(mapOf(Type.String(), 'Variables that the command sets, as in NAME=value command.')),
});

export type App = Static<typeof app>;
