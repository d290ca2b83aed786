import type { Calibrated, Calibration, MachineDuring } from 'bench-model/calibration';
import type { Host } from 'bench-model/host';
import { countOf, formatWhole } from 'bench-report/format';
import { renderRows } from 'bench-report/terminal';
import { describeMachine } from 'bench-report/view';
import { wrap } from 'bench-report/width';

const WIDTH = 80;
const COLUMNS = ['known answer', 'reported', 'bias (95 % interval)', 'allowed', ''];

/** Renders the bias of this instrument on this machine as text. */
export function renderCalibration({ answers, machine }: Calibration, host: Host, run: string): string {
  const groups = Map.groupBy(answers, ({ group }) => group);
  const rows = [...groups].flatMap(([group, own]) => [[group, '', '', '', ''], ...own.map(renderAnswer)]);
  const notes = [
    'reported: by the planted server. bias: measured by Bench − reported, the centre of the rounds',
    ...answers.flatMap(({ name, isComputed }) =>
      isComputed === true
        ? [`${name}: reported is computed from the length and the interval of the stalls`]
        : [],
    ),
    ...(answers.some(({ isPart }) => isPart)
      ? [
          'also on bare sockets: the part that plain sockets measure in turns with the driver. It is the machine’s',
        ]
      : []),
    ...explainVerdicts(answers),
    describeRounds(machine),
  ];
  return [
    'Calibration: what planted servers reported, and what Bench measured',
    `run ${run}`,
    describeMachine(host),
    '',
    renderRows(COLUMNS, rows, ['known answer', '']),
    '',
    ...notes.map((note) => wrap(`  ${note}`, WIDTH)),
    '',
  ].join('\n');
}

function renderAnswer({
  name,
  isPart = false,
  reported,
  bias,
  interval,
  tolerance,
  verdict,
}: Calibrated): string[] {
  const digits = reported === undefined || reported < 1000 ? 1 : 0;
  const signed = (value: number): string => {
    const text = formatFigure(Math.abs(value), digits);
    return Number(text) === 0 ? text : `${value < 0 ? '−' : '+'}${text}`;
  };
  return [
    `${isPart ? '    ' : '  '}${name}`,
    isPart ? '' : reported === undefined ? '—' : formatFigure(reported, digits),
    bias === undefined
      ? '—'
      : `${signed(bias)} ${interval === undefined ? '(—)' : `(${signed(interval.low)} to ${signed(interval.high)})`}`,
    tolerance === undefined ? '' : `±${formatFigure(tolerance, digits)}`,
    verdict === 'outside' || verdict === 'not measured' ? verdict.toUpperCase() : (verdict ?? ''),
  ];
}

function formatFigure(value: number, digits: number): string {
  return digits === 0 ? formatWhole(Math.round(value)) : value.toFixed(digits);
}

/** Explains each verdict other than `inside`. A part is named with the row that it belongs to. */
function explainVerdicts(answers: readonly Calibrated[]): string[] {
  let whole = '';
  return answers.flatMap(({ name, isPart, verdict, why }) => {
    if (isPart !== true) whole = name;
    const known = isPart === true ? `${whole}, ${name}` : name;
    return why === undefined ? [] : [`${verdict}: ${known}: ${why}`];
  });
}

function describeRounds({ rounds, disturbed, stealCores, otherProcessesCores }: MachineDuring): string {
  const during = [
    ...(stealCores ? [`the hypervisor took ${describeShare(stealCores)} of a core`] : []),
    ...(otherProcessesCores ? [`other processes used ${describeShare(otherProcessesCores)}`] : []),
  ];
  return [
    `${countOf(rounds, 'round')}, ${disturbed === 0 ? 'none' : formatWhole(disturbed)} of them disturbed by the machine`,
    ...during,
  ].join('; ');
}

function describeShare({ low, high }: { low: number; high: number }): string {
  const [least, most] = [low, high].map((cores) => Math.max(0, Math.round(cores * 100)));
  return least === most ? `${most} %` : `${least} to ${most} %`;
}
