/** The model of a report: its definition, and the types derived from it. */
import { Type, type Static, type TSchema } from 'typebox';
import type { Comparison } from 'bench-analysis/comparison';
import type { Fall, Knee, NoKnee } from 'bench-analysis/ladder';
import {
  amount,
  as,
  count,
  flag,
  mapOf,
  named,
  oneOf,
  ordinal,
  shape,
  span,
  text,
  texts,
} from 'bench-model/definitions';
import { sent } from 'bench-model/requests';
import { METRIC_IDS, type MetricId } from 'bench-model/metrics';
import { attestation, interpreter, resolvedRuntime, scale, target } from 'bench-model/target';
import { companionHost, companionHeads } from 'bench-model/companions';
import { counts } from 'bench-model/figures';
import { plan } from 'bench-model/plan';
import { REASON_CODES } from 'bench-model/reasons';
import { host } from 'bench-model/host';
import { budget, collection, limit } from 'bench-model/measured';
import { placement, reason, record, serverProcess, STATUSES, time } from 'bench-model/record';
import { idleCloses, toldCounts } from 'bench-model/load';
import { judgedHost, leftOut, versions } from 'bench-model/run';
import { TIME_FIELD_NAMES, type TimeField } from 'bench-machine/time-report';
import { VERDICTS } from 'bench-model/options';
import { REPORT_SCHEMA } from 'bench-model/versions';

const metric = named('metric', oneOf(METRIC_IDS));
const value = (description: string) => Type.Number({ description });

/** One value for each metric that has one. */
function forEachMetric<Value extends TSchema>(of: Value, description: string) {
  const each = Object.fromEntries(METRIC_IDS.map((id) => [id, Type.Optional(of)]));
  return Type.Unsafe<Partial<Record<MetricId, Static<Value>>>>(shape(each, { description }));
}

const interval = named(
  'interval',
  shape({ low: value('value: the lower end'), high: value('value: the upper end') }),
);

const range = named('range', shape({ least: amount('value: the least'), most: amount('value: the most') }));

/** The smallest and the largest value. */
export type Range = Static<typeof range>;

const figureFields = {
  median: amount('value: median of the rounds that count, in the unit of the metric'),
  least: amount('value: the least of these rounds'),
  most: amount('value: the most of these rounds'),
  rounds: ordinal('count: rounds that count: the valid ones, or all if none is valid'),
  atLeast: Type.Boolean({ description: 'True if the median is a lower bound.' }),
  within: Type.Optional(
    amount('share: by which it can change at most, where failed checks bound it; absent if it is valid'),
  ),
  valid: Type.Boolean({
    description: 'False if a reason invalidates it in every round: shown, but never ranked.',
  }),
  interval: Type.Optional(
    as(
      interval,
      'The 95 % confidence interval of the median. Absent below six rounds, and if the figure is invalid or a lower bound.',
    ),
  ),
};

const simpleFigure = named('simpleFigure', shape(figureFields));

const figure = named(
  'figure',
  shape(
    {
      ...figureFields,
      rank: Type.Optional(
        ordinal(
          'count: 1 + the number of targets at this rung that are better; figures that the rounds do not distinguish share a rank. Absent for a figure that is invalid, a lower bound, or of one round',
        ),
      ),
      reasons: Type.Array(oneOf(REASON_CODES), {
        description: 'Codes of the reasons that invalidate it in at least one round.',
        uniqueItems: true,
      }),
    },
    { description: 'One metric of a target at a rung, over its rounds.' },
  ),
);

/** One metric of a target at a rung, over its rounds. */
export type ModelFigure = Static<typeof figure>;

const moments = Type.Array(
  shape({
    seconds: amount('s: since the window opened'),
    value: amount('value: right answers per second until then, or bytes'),
  }),
  { maxItems: 25 },
);

const point = named(
  'point',
  shape(
    {
      id: text('The trial: its record and its files have this id.'),
      round: ordinal('count: from 1 on'),
      order: count('count: position in the run, from 0 on'),
      seed: count('seed: of the random choices of the trial'),
      startedAt: text('When it began: ISO 8601, UTC.'),
      status: oneOf(STATUSES),
      limit: Type.Optional(limit),
      reasons: Type.Array(reason),
      figures: forEachMetric(
        shape({
          value: amount('value: in the unit of the metric'),
          valid: Type.Boolean({ description: 'False if a reason invalidates it.' }),
          atLeast: Type.Boolean({ description: 'True if it is a lower bound.' }),
        }),
        'Its figures; empty if it failed.',
      ),
      counts: Type.Optional(as(toldCounts, 'The requests of the window, also if the trial failed later.')),
      goodputOverTime: Type.Optional(
        as(moments, 'Right answers per second in consecutive spans of the window, each at its end.'),
      ),
      memoryOverTime: Type.Optional(as(moments, 'Bytes of the process tree in the window.')),
      p50OverTime: Type.Optional(
        as(moments, 'µs: median latency in consecutive spans of a window of at least 10 s.'),
      ),
      p99OverTime: Type.Optional(
        as(moments, 'µs: the same for p99; without spans of fewer than 1,000 answers.'),
      ),
      cpuOverTime: Type.Optional(
        as(moments, 'µs: CPU for each right answer in consecutive spans of the window.'),
      ),
      collections: Type.Optional(
        Type.Array(collection, { description: 'The garbage collections of at least 1 ms in the window.' }),
      ),
      logTail: Type.Optional(
        Type.Array(Type.String(), { description: 'The last lines of the log, if the trial has a reason.' }),
      ),
      files: texts("The log and the raw time(1) report, relative to the run's folder."),
    },
    { description: 'One trial.' },
  ),
);

/** One trial of a row. */
export type Point = Static<typeof point>;

const distribution = named(
  'distribution',
  shape(
    {
      answers: ordinal('count: right answers'),
      unanswered: count(
        'count: requests that timed out or were still open at the end: slower than every answer',
      ),
      rounds: ordinal('count: rounds merged'),
      valid: Type.Boolean({
        description: 'False if p99 is invalid in every round; then all rounds are merged.',
      }),
      points: Type.Array(
        shape({
          percentile: Type.Number({ description: 'percent: of the requests', minimum: 0, maximum: 100 }),
          us: amount('µs: the latency that this share of the requests did not exceed'),
        }),
        { description: 'In ascending order; each has at least ten answers beyond it.' },
      ),
      maxUs: amount('µs: the slowest answer'),
    },
    {
      description:
        'The latencies of the right answers of all rounds together: a percentile may differ from the median of the rounds.',
    },
  ),
);

const route = text('The request that it was loaded with; absent if requests are not measured one at a time.');

const row = named(
  'row',
  shape(
    {
      target: text(),
      class: target.properties.class,
      connections: ordinal('count: connections'),
      route: Type.Optional(route),
      rounds: ordinal('count: trials'),
      statuses: shape({
        ok: count('count: trials'),
        suspect: count('count: trials'),
        failed: count('count: trials'),
      }),
      right: Type.Optional(
        Type.Number({
          description: 'share: of right answers among the requests that ended in the windows',
          minimum: 0,
          maximum: 1,
        }),
      ),
      checked: Type.Optional(
        shape({
          bodies: count('count: answers of which every byte was compared'),
          answers: count('count: answers; of the others, the status and the length'),
        }),
      ),
      figures: forEachMetric(figure, 'One figure for each metric that was measured.'),
      growth: Type.Optional(
        as(
          simpleFigure,
          'bytes: the memory that the server gained for each answer, if requests are measured alone.',
        ),
      ),
      timing: Type.Optional(
        shape(
          {
            metric: text('The name in Server-Timing.'),
            told: as(simpleFigure, 'µs: the time that the server reported.'),
            rest: as(simpleFigure, 'µs: the rest of the latency.'),
          },
          { description: 'The median latency in two parts.' },
        ),
      ),
      limits: Type.Array(limit, { description: 'The limits of its trials, the most frequent first.' }),
      reasons: Type.Array(shape({ reason, rounds: ordinal('count: trials with this reason') }), {
        description: 'One for each code, with the text of the first trial.',
      }),
      answered: Type.Optional(
        mapOf(
          count('count: answers in the windows'),
          'The answers to the requests of a user by their status, right or wrong. Absent if all were 200, or if the engine does not report it.',
        ),
      ),
      idle: Type.Optional(
        Type.Union(
          [
            shape({
              cause: Type.Literal('queue'),
              atOnce: ordinal('count: requests that it served at the same time, by Little’s law'),
              aloneUs: amount('µs: an answer without a load'),
            }),
            shape({
              cause: Type.Literal('pause'),
              us: amount('µs: the median latency, which nearly all answers have, also without a load'),
            }),
            shape({ cause: Type.Literal('wait'), us: amount('µs: the median latency, also without a load') }),
          ],
          {
            description: 'The likely cause of the latency of an idle server; absent if nobody asked for it.',
          },
        ),
      ),
      budget: Type.Optional(
        as(budget, 'Present if the server was saturated although cores were idle: one loop, or a GIL.'),
      ),
      deferredShare: Type.Optional(
        amount(
          'share: CPU between the turns of its server, of the CPU in these turns; median of the rounds. Absent if servers did not take turns',
        ),
      ),
      opened: Type.Optional(
        shape(
          {
            perSecond: amount('per second: connections'),
            share: amount('ratio: connections to requests that ended'),
            p50: Type.Optional(amount('µs: median time to connect')),
            p99: Type.Optional(amount('µs: 99 % of the connects took no longer')),
          },
          {
            description:
              'The connections that were opened in its windows: medians of the rounds. Absent if the engine does not count them.',
          },
        ),
      ),
      turnover: Type.Optional(
        shape(
          {
            began: count('count: processes that began'),
            ended: count('count: processes that ended'),
            trials: ordinal('count: trials in which processes came or went'),
            failed: count('count: requests of these trials that got no answer'),
            share: amount('share: of the requests of these trials that ended'),
          },
          {
            description:
              'The processes of its servers that came and went in the windows, and the requests that were lost there. Absent if none did.',
          },
        ),
      ),
      idleCloses: Type.Optional(as(idleCloses, 'Idle closes of all its trials. Absent without any.')),
      background: Type.Optional(
        shape(
          {
            answered: count('count: background requests'),
            cancelled: count('count: background requests, unfinished at the end'),
            longestUs: amount('µs: the longest background request'),
          },
          { description: 'The requests beside the load, over all trials.' },
        ),
      ),
      routes: Type.Optional(
        Type.Array(
          shape({
            request: text('Method and path.'),
            counts: as(counts, 'The requests of the windows, all rounds together.'),
            p50: Type.Optional(amount('µs: median of the rounds in which p50 is valid')),
            p99: Type.Optional(amount('µs: median of the rounds in which p99 is valid')),
          }),
          { description: 'Each request of a user; absent if there is one.' },
        ),
      ),
      curve: Type.Optional(
        Type.Array(
          shape({
            share: Type.Optional(span('share: of the capacity; absent for a rate')),
            perSecond: span('per second: requests that were due'),
            served: amount('per second: right answers'),
            p50: Type.Optional(amount('µs: median latency')),
            p99: Type.Optional(amount('µs: p99 latency')),
            'p99.9': Type.Optional(amount('µs: p99.9 latency')),
            cpu: Type.Optional(amount('µs: CPU of the server for each right answer')),
            limit,
          }),
          {
            description: 'Latency over load (--load): medians of the rounds. Absent if it was not measured.',
          },
        ),
      ),
      burst: Type.Optional(text('The effect of a burst of load (--burst), in words.')),
      knee: Type.Optional(
        text('What keeps it from carrying more load (--slo), in words; absent if the steps do not tell.'),
      ),
      trials: Type.Array(point, { description: 'In the order of the rounds.' }),
      distribution: Type.Optional(distribution),
    },
    { description: 'A target at a place, over its rounds.' },
  ),
);

/** A target at a place, over its rounds. */
export type ModelRow = Static<typeof row>;

const server = named(
  'server',
  shape(
    {
      target,
      runtime: Type.Optional(resolvedRuntime),
      interpreter: Type.Optional(as(interpreter, 'Absent for a binary, and if it is not known.')),
      attested: Type.Optional(
        as(
          attestation,
          'The properties that the first server attested, such as its versions; absent if it attested none.',
        ),
      ),
      collected: Type.Optional(
        count(
          'count: Node processes that collected all garbage before the load, the fewest over its trials; absent if none was asked to',
        ),
      ),
      processes: Type.Array(serverProcess, {
        description: 'The processes of a server that was already running; more than one if it was restarted.',
      }),
    },
    { description: 'A measured target as it was found.' },
  ),
);

/** A measured target as it was found. */
export type ModelServer = Static<typeof server>;

const knee = Type.Unsafe<Knee | NoKnee>(
  shape({
    at: Type.Optional(ordinal('count: connections of the lowest rung within 5 % of the highest goodput')),
    above: Type.Optional(
      ordinal('count: connections of the last rung below it that fell short in every round'),
    ),
    queuesFrom: Type.Optional(amount('count: connections above which requests must queue, an upper bound')),
    why: Type.Optional(
      oneOf(
        [
          'open-loop',
          'too-few-rungs',
          'none-valid',
          'still-rising',
          'not-measured',
          'lower-bound',
          'invalid',
        ] as const satisfies NoKnee['why'][],
        'The reason for having no knee.',
      ),
    ),
    connections: Type.Optional(ordinal('count: connections of the rung that decides this')),
  }),
);

const ladder = named(
  'ladder',
  shape(
    {
      target: text(),
      route: Type.Optional(route),
      class: target.properties.class,
      rungs: Type.Array(ordinal('count: connections'), {
        description: 'In ascending order; each is a row of this target.',
      }),
      knee,
      fall: Type.Optional(
        Type.Unsafe<Fall>(
          shape({
            connections: ordinal('count: connections from which on goodput falls'),
            share: amount('share: of the highest goodput that is lost there'),
          }),
        ),
      ),
    },
    { description: 'A target over its rungs: the effect of more connections.' },
  ),
);

/** A target over its rungs. */
export type ModelLadder = Static<typeof ladder>;

const comparison = named(
  'comparison',
  Type.Unsafe<Comparison>(
    shape({
      verdict: oneOf(VERDICTS),
      why: Type.Optional(
        oneOf(['too-few-rounds', 'unbounded', 'wide'] as const, 'The reason why it is undecided.'),
      ),
      byMoreThanThreshold: Type.Boolean({
        description: 'True if the whole interval lies beyond the threshold.',
      }),
      rounds: count('count: rounds that it rests on'),
      bounded: count('count: invalid rounds with bounds, within which the interval holds'),
      unbounded: count('count: rounds without a bound above or below, such as those of failed trials'),
      estimate: Type.Optional(value('log ratio: above 0 the candidate is worse')),
      interval: Type.Optional(as(interval, 'Log ratios. Absent if there are too few rounds for one.')),
      ratio: Type.Optional(
        shape(
          {
            estimate: amount('ratio: of the candidate to the baseline'),
            interval: Type.Optional(
              as(interval, 'All intervals at one number of connections hold at once with 95 % confidence.'),
            ),
            range: as(interval, 'The range over the single rounds.'),
          },
          { description: 'The candidate divided by the baseline, in the unit of the metric.' },
        ),
      ),
      neededRounds: Type.Optional(ordinal('count: rounds that would probably show a difference of 6 %')),
    }),
  ),
);

const comparedTable = named(
  'comparisons',
  shape(
    {
      by: metric,
      threshold: amount('share: the smallest difference that matters'),
      baseline: text('A target; @ and a runtime; a copy of the project; an engine; or undisturbed.'),
      rows: Type.Array(
        shape({
          connections: ordinal('count: connections'),
          route: Type.Optional(route),
          candidate: text(),
          baseline: text(),
          comparison,
          rank: Type.Optional(
            ordinal('count: rank among the targets with this baseline at this rung, the baseline included'),
          ),
        }),
      ),
    },
    {
      description:
        'All comparisons of one metric. Those at one rung share an error of 5 %, with all requests that are measured there, in a sequential test those at all rungs.',
    },
  ),
);

/** All comparisons of one metric within the run. */
export type ModelComparisons = Static<typeof comparedTable>;

const scaledRow = shape({
  target: text(),
  scale,
  isShared: Type.Boolean({
    description: 'True if the load ran on its cores too, so that it could not use all of them.',
  }),
  speedUp: Type.Optional(
    as(simpleFigure, 'ratio: goodput ÷ that of one worker of one thread in the same round.'),
  ),
  efficiency: Type.Optional(as(simpleFigure, 'ratio: speed-up ÷ cores.')),
  coresUsed: Type.Optional(amount('cores: median of the CPU that it used')),
  processes: Type.Optional(count('count: the most processes of its tree at the end of a window')),
  rounds: Type.Array(shape({ round: ordinal('count: from 1 on'), speedUp: amount('ratio: of this round') })),
});

const threadRace = shape({
  connections: ordinal('count: connections'),
  route: Type.Optional(route),
  cores: ordinal('count: cores of both'),
  candidate: text('The target with several threads in one process.'),
  baseline: text('The target with several processes.'),
  comparison,
});

/** Threads against processes at one place. */
export type ModelThreadRace = Static<typeof threadRace>;

const scaling = shape({
  of: text('The target with one worker of one thread.'),
  connections: ordinal('count: connections'),
  route: Type.Optional(route),
  rows: Type.Array(scaledRow, { minItems: 1 }),
});

/** The scaling of one target at one rung. */
export type ModelScaling = Static<typeof scaling>;

const problem = named(
  'problem',
  shape(
    {
      reason: as(reason, 'With the text of the first trial that has it.'),
      isFatal: Type.Boolean({ description: 'True if a trial with this reason has no figures.' }),
      places: Type.Array(
        shape({
          target: text(),
          connections: ordinal('count: connections'),
          route: Type.Optional(route),
          rounds: ordinal('count: trials with this reason'),
          of: ordinal('count: trials there'),
        }),
        { description: 'The rows that have it.', minItems: 1 },
      ),
    },
    { description: 'One kind of reason to distrust a figure.' },
  ),
);

/** One kind of reason to distrust figures, with the rows that have it. */
export type Problem = Static<typeof problem>;

/** A field of a report; the median of an even number of counts may be a fraction. */
const medianField = (name: TimeField) =>
  amount(String((time.properties[name] as { description?: string }).description));

const usage = named(
  'usage',
  shape(
    {
      target: text(),
      connections: ordinal('count: connections'),
      rounds: ordinal('count: rounds with a report'),
      format: time.properties.format,
      fields: Type.Unsafe<Partial<Record<TimeField, number>>>(
        shape(Object.fromEntries(TIME_FIELD_NAMES.map((name) => [name, Type.Optional(medianField(name))])), {
          description: 'A field that the platform does not keep is absent.',
        }),
      ),
      answers: Type.Optional(amount('count: answers in its whole life, right or wrong')),
      cpuUsPerAnswer: Type.Optional(
        amount('µs: user and system CPU for each of these answers, start-up and warm-up included'),
      ),
    },
    {
      description:
        'The report of /usr/bin/time over the whole life of the server: the median of each field over the rounds that did not fail.',
    },
  ),
);

const metricHead = shape({
  id: metric,
  label: text(),
  unit: text(),
  better: oneOf(['higher', 'lower'] as const),
});

const loadHost = shape({
  name: text(),
  cpuModel: Type.Optional(text()),
  cores: Type.Optional(ordinal('cores: logical ones')),
  share: amount('share: of all right answers, those that it got'),
  skewMs: amount('ms: the most by which one of its windows opened off the plan'),
  clockErrorMs: amount('ms: the most by which its clock was known wrongly'),
});

/** A host that sent load, over all trials of a run. */
export type LoadHost = Static<typeof loadHost>;

const roundHost = shape({
  ...judgedHost.properties,
  rounds: Type.Array(ordinal('count: from 1 on'), { description: 'The rounds that ran on it.' }),
});

/** A host that rounds were to be spread over, and the rounds that ran on it. */
export type RoundHost = Static<typeof roundHost>;

const fields = {
  run: text('Id of the run.'),
  repeat: text('The command that measures the same plan again.'),
  plan,
  host,
  versions,
  leftOut: Type.Array(leftOut, { description: 'Targets that could not be launched here.' }),
  quick: flag('A first impression (--quick): too short for comparisons.'),
  rounds: shape({
    measured: count('count: complete rounds'),
    planned: ordinal('count: rounds of the plan'),
  }),
  metrics: Type.Array(metricHead, {
    description: 'The metrics of the figures, in the order of their columns.',
  }),
  servers: Type.Array(server),
  placement: Type.Optional(placement),
  companions: Type.Optional(companionHeads),
  sent: Type.Optional(
    as(sent, 'The requests of a user, each with the weakest check that a trial made of its answers.'),
  ),
  age: Type.Optional(
    shape(
      {
        seconds: as(range, 's: since the launch of the process.'),
        answers: Type.Optional(as(range, 'count: answers that the process had given.')),
      },
      { description: 'The age of the server processes when their windows opened.' },
    ),
  ),
  hosts: Type.Optional(
    Type.Array(loadHost, {
      description: 'The hosts that sent the load; absent if this machine did.',
      minItems: 1,
    }),
  ),
  companionHosts: Type.Optional(
    Type.Array(shape({ companion: text('Its name.'), host: companionHost }), {
      description: 'The other hosts that companions ran on; absent if all ran beside the servers.',
      minItems: 1,
    }),
  ),
  roundHosts: Type.Optional(
    Type.Array(roundHost, {
      description: 'The hosts that the rounds were spread over; absent if they ran on one machine.',
      minItems: 1,
    }),
  ),
  rows: Type.Array(row, {
    description:
      'Sorted by rung, by request if several targets are measured with it, and then by CPU per request; rows without one are last.',
  }),
  ladders: Type.Array(ladder),
  comparisons: Type.Array(comparedTable, {
    description:
      'One table for each metric; none for a quick run, or for fewer than two targets. Every further table is another chance to find a difference that is not there.',
  }),
  scalings: Type.Optional(
    Type.Array(scaling, {
      description:
        'The scaling of each target at each rung; absent if nothing was scaled (--scale). CPU per request and memory are in `rows`.',
      minItems: 1,
    }),
  ),
  threadRaces: Type.Optional(
    Type.Array(threadRace, {
      description:
        'Threads of one process against processes on the most cores, by goodput: on each runtime, and the best of any runtime.',
      minItems: 1,
    }),
  ),
  problems: Type.Array(problem, { description: 'Each kind of reason once.' }),
  times: Type.Array(usage, {
    description: 'The resources that each target used at each rung, as time(1) reports them, by rung.',
  }),
};

const model = shape(fields);

/** Everything that a report shows, as typed values. */
export type Model = Static<typeof model>;

/** The document of `report --json`: the model, and the records that it was made from. */
export const reportDocument = shape({
  schema: Type.Literal(REPORT_SCHEMA, { description: 'version: of this schema' }),
  ...fields,
  notes: texts('The notes below the tables, in words.'),
  trials: Type.Array(named('record', record), {
    description: 'The complete records, in the order in which they were measured.',
  }),
});

export const REPORT_HEAD = {
  title: 'The report of a run as JSON: report --json',
  description:
    'A figure that was not measured is absent: never 0, never -1. A number described as value has the unit of its metric.',
};
