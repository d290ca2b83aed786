/** `bench.config.json`: the runs of a CI job, and the budgets that they must keep. */
import type { BenchRequest } from '../plan/request.ts';
import { dirname, resolve } from 'node:path';
import type { Budget } from 'bench-analysis/budgets';
import { chooseBaselines } from 'bench-analysis/baselines';
import { documentOf } from 'bench-machine/home';
import { readJsonFile, refuseErrors, type JsonFile } from 'bench-targets/catalogue/json-file';
import { BenchError, refuseFirst, UsageError, type Refusal } from 'bench-model/errors';
import { answersFor } from 'bench-statistics/histogram';
import { checkBy } from 'bench-model/json-schema';
import { METRICS } from 'bench-model/metrics';
import { writtenBudget, type WrittenBudget } from 'bench-model/budgets';
import { present } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { UNITS, type Unit } from 'bench-model/units';
import type { Command, OptionSpec } from './command.ts';
import { suggest } from 'bench-model/suggest';
import { toShare } from './values.ts';

/** Rounds of a run whose configuration names no number: enough for an interval, also with several rows. */
const ROUNDS = 12;

/** Options that belong to a command line, not to the file. Budgets have the rates. */
const OF_COMMAND_LINE = 'quick rate fail-on why dry-run detail json wait resume again'.split(' ');

const HINT = `${documentOf('guides/ci.md')} shows a complete bench.config.json`;

type Value = string | number | boolean | (string | number)[];

interface ConfigFile {
  bench: Record<string, Value> & { targets?: string[] };
  budgets: WrittenBudget[];
}

export interface Config {
  /** The folder of the file: its paths are relative to it. */
  folder: string;
  /** The budgets with their places in the file, such as `bench.config.json:12`. */
  budgets: { budget: Budget; place: string }[];
  /** One run for each rate that budgets name; the rate is undefined for that of the options. */
  runs: { rate: number | undefined; request: () => BenchRequest }[];
}

/** The command whose options the file has. */
type Bench = Command<BenchRequest>;

/** Returns the JSON Schema of the file: the options of `bench` by their names, and the budgets. */
export function configSchema({ options: all }: Bench): object {
  const options = Object.entries(all).filter(([name]) => !OF_COMMAND_LINE.includes(name));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'bench.config.json: what a job of CI measures, and the budgets that it must keep',
    definitions: { list: { anyOf: [VALUE, { type: 'array', minItems: 1, items: VALUE }] } },
    type: 'object',
    required: ['bench', 'budgets'],
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      bench: {
        description:
          'The options of bench by their names, without the dashes. Paths are relative to the file.',
        type: 'object',
        additionalProperties: false,
        properties: {
          targets: {
            description: 'stack[/variant][@runtime], globs allowed; the stack.json of the project by default',
            type: 'array',
            items: { type: 'string', minLength: 1 },
          },
          ...Object.fromEntries(options.map(([name, spec]) => [name, schemaOf(spec)])),
        },
      },
      budgets: { type: 'array', minItems: 1, items: writtenBudget },
    },
  };
}

const VALUE = { type: ['string', 'number'] };

function schemaOf({ value, help, many }: OptionSpec<unknown>): object {
  if (value === undefined) return { description: help, type: 'boolean' };
  const isList = many || value.includes('list');
  return { description: help, ...(isList ? { $ref: '#/definitions/list' } : VALUE) };
}

/** Reads a configuration. Throws a usage error with file, line and pointer if it is missing or not valid. */
export function readConfig(file: string, command: Bench): Config {
  const read = readJsonFile(file, { missing: HINT, wrong: HINT });
  refuseErrors(checkBy('config')(read.value), read, { what: 'the configuration', hint: HINT });
  const { bench, budgets } = read.value as ConfigFile;
  const own = budgets.map((one, index) => ({
    budget: toBudget(one, index, read),
    place: read.at(['budgets', index]),
  }));
  const rates = [...new Set(own.map(({ budget }) => budget.rate))];
  return {
    folder: dirname(resolve(file)),
    budgets: own,
    runs: rates.map((rate) => ({ rate, request: () => toRequest(command, bench, { rate, read }) })),
  };
}

/** Parses the options as a command line. An error names their place in the file. */
function toRequest(
  command: Bench,
  bench: ConfigFile['bench'],
  { rate, read }: { rate: number | undefined; read: JsonFile },
): BenchRequest {
  const { targets = [], ...options } = bench;
  const words = Object.entries(options).flatMap(([name, value]) => wordsOf(command, name, value));
  const hasRounds = ['rounds', 'budget', 'by', 'threshold'].some((name) => name in options);
  try {
    return command.parse([
      ...targets,
      ...words,
      ...(hasRounds ? [] : [`--rounds=${ROUNDS}`]),
      ...(rate === undefined ? [] : [`--rate=${rate}`]),
    ]);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    const [, name = ''] = /--([\w-]+)/.exec(error.message) ?? [];
    const path = name in options ? ['bench', name] : ['bench'];
    throw new BenchError(error.code, `${read.at(path)}: /${path.join('/')}: ${error.message}`, error.hint);
  }
}

function wordsOf(command: Bench, name: string, value: Value): string[] {
  if (typeof value === 'boolean') return value ? [`--${name}`] : [];
  const values = [value].flat().map(String);
  return command.options[name]?.many === true
    ? values.map((one) => `--${name}=${one}`)
    : [`--${name}=${values.join(',')}`];
}

function toBudget(one: WrittenBudget, index: number, read: JsonFile): Budget {
  const { metric, atMost, atLeast, against, worseByAtMost, request, ...rest } = one;
  const place = { ...rest, ...present({ route: request }) };
  const fail = (field: string | undefined, problem: string, hint = HINT): never => {
    const path = ['budgets', index, ...(field === undefined ? [] : [field])];
    throw new UsageError(`${read.at(path)}: /${path.join('/')}: ${problem}`, hint);
  };
  const { better, unit } = METRICS[metric];
  const [limit, wrong] =
    better === 'lower' ? (['atMost', 'atLeast'] as const) : (['atLeast', 'atMost'] as const);
  const figure = limit === 'atMost' ? atMost : atLeast;
  const isFigure = figure !== undefined && against === undefined && worseByAtMost === undefined;
  const isRelative = figure === undefined && against !== undefined && worseByAtMost !== undefined;
  if (one[wrong] !== undefined)
    return fail(wrong, `${metric} is better if it is ${better}, so its limit is "${limit}"`);
  if (isFigure) {
    const value = toFigure(figure, unit);
    if (value !== undefined) return { metric, ...place, limit: { kind: 'figure', value } };
    const problem = `"${figure}" is not a figure with a unit of ${metric}`;
    return fail(limit, problem, `e.g. ${UNITS[unit].example}`);
  }
  if (isRelative) {
    const part = toShare(worseByAtMost);
    if (part > 0 && part < 1) return { metric, ...place, limit: { kind: 'worse', share: part, against } };
    const problem = `"${worseByAtMost}" is not a percentage above 0% and below 100%`;
    return fail('worseByAtMost', problem, 'e.g. 3%');
  }
  return fail(undefined, `a budget has either "${limit}", or "against" and "worseByAtMost"`);
}

/** Reads a figure such as `20 ms` in the unit of its metric; undefined if it is not one. */
function toFigure(typed: string, unit: Unit): number | undefined {
  const [, digits, name = ''] = /^(\d+(?:\.\d+)?)\s*(\S+)$/.exec(typed.trim()) ?? [];
  const { written } = UNITS[unit];
  const factor = Object.hasOwn(written, name) ? written[name] : undefined;
  const value = Number(digits) * (factor ?? 0);
  return value > 0 ? value : undefined;
}

/**
 * Throws a usage error if a budget names a rung, a request or a target that its run does not have, or a percentile that needs more
 * responses than a round has requests.
 */
export function refuseUnmeasured(
  { place, budget }: Config['budgets'][number],
  plan: Pick<Plan, 'rungs' | 'routes' | 'targets' | 'load' | 'windowSeconds'>,
): void {
  const { connections, route, of, limit } = budget;
  const { rungs, targets, routes = [] } = plan;
  const names = targets.flatMap(({ id, copy }) => (copy === undefined ? [id] : [id, copy.name]));
  const routeCure = suggest(route ?? '', routes) ?? `name one of ${routes.join(', ')}`;
  const refusals: Refusal[] = [
    [
      connections !== undefined && !rungs.includes(connections),
      `the run does not measure "connections": ${connections}`,
      `add ${connections} to "connections", which has ${rungs.join(', ')}`,
    ],
    [
      route !== undefined && !routes.includes(route),
      `the run does not measure "request": "${route}" alone`,
      routes.length === 0 ? 'omit "request": the run sends one request, or several mixed' : routeCure,
    ],
    [
      of !== undefined && !names.includes(of),
      `the run has no target "${of}"`,
      suggest(of ?? '', names) ?? names.join(', '),
    ],
    ...refuseUnsupported(budget, plan),
  ];
  refuseFirst(refusals, `${place}: `);
  if (limit.kind !== 'worse') return;
  try {
    chooseBaselines(targets, limit.against);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    throw new UsageError(`${place}: ${error.message}`, error.hint);
  }
}

/** Refuses a percentile of too few responses. In a closed loop, their number is not known before it is measured. */
function refuseUnsupported(
  { metric, connections }: Budget,
  { load, windowSeconds, rungs }: Pick<Plan, 'rungs' | 'load' | 'windowSeconds'>,
): Refusal[] {
  const needed = answersFor(metric);
  if (needed === undefined || load.mode === 'closed' || load.mode === 'promise') return [];
  const refuse = (requests: number, enough: number, cure: string): Refusal[] => [
    [
      requests < enough,
      `a ${metric} needs ${needed} responses in each round, and this run sends only ${Math.floor(requests)} requests`,
      `set ${cure}`,
    ],
  ];
  if (load.mode === 'amount') return refuse(load.requests, needed, `"amount": ${needed}`);
  // Requests in flight at the end of a window have no response yet.
  const open = Math.max(...rungs.filter((rung) => connections === undefined || rung === connections));
  const seconds = Math.ceil((10 * (needed + open)) / load.perSecond) / 10;
  return refuse(load.perSecond * windowSeconds, needed + open, `"duration": ${seconds}`);
}
