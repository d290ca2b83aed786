/** The part of the manifest's services in a record. */
import { Type, type Static } from 'typebox';
import { command, oneOf, shape, span, text } from '../../definitions.ts';
import { resources } from '../../model.ts';

const service = shape(
  {
    name: text(),
    kind: oneOf(['program', 'postgres'] as const),
    per: oneOf(['trial', 'run'] as const, 'Its lifetime. A database of PostgreSQL lives as long as a trial.'),
    command: Type.Optional(command('As in the manifest.')),
    version: Type.Optional(text('The kind and the version of PostgreSQL.')),
  },
  { description: 'A service of the manifest.' },
);

const head = shape(
  {
    services: Type.Array(service),
    setup: Type.Optional(command('The command that ran before the server started, as in the manifest.')),
  },
  { description: 'The services and the setup command of the server, by its manifest.' },
);

/** The services and the setup of a target. */
export type DeclaredServices = Static<typeof head>;

const use = shape(
  {
    startSeconds: span('s: until all services were ready'),
    setupSeconds: Type.Optional(span('s: the setup command')),
    resources: Type.Optional(resources),
  },
  {
    description:
      'The share of the services in the trial. The resources are those of the only service; absent if there are several.',
  },
);

/** The share of the services in a trial. */
export type ServicesUse = Static<typeof use>;

export const servicesRecord = { head, use, canBeLimit: true as const };
