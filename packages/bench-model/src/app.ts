/** The app of a user as a plan stores it. */
import { Type, type Static } from 'typebox';
import { command, flag, ordinal, shape, text } from './definitions.ts';

export const app = shape(
  {
    name: text('The name of its stack.'),
    folder: text('The folder of the project, as typed.'),
    command: command('The command that starts the server.'),
    env: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Variables that the command sets, as in NAME=value command.',
      }),
    ),
    lock: Type.Optional(
      text('The lock or the list of requirements, relative to the folder; found there if absent.'),
    ),
    envFile: Type.Optional(text('A file with variables of the server, relative to the folder.')),
    port: Type.Optional(
      ordinal('port: on which it always listens; absent if it takes the one that it is given'),
    ),
    https: flag('It speaks TLS (--https).'),
  },
  { description: 'A server program of a user, measured without a manifest (--app).' },
);

/** A server program of a user, without a manifest. */
export type App = Static<typeof app>;
