import { describe, expect, it } from 'vitest';
import type { Target } from 'bench-model/target';
import { toModel } from '../src/model/model.ts';
import { toView } from '../src/view.ts';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const plan = samplePlan('--rounds 2 --connections 10', ['uvicorn']);

/** Returns the notes of a run with two rounds of a target on this build of Python. */
function notesOf(target: Partial<Target>, build: Record<string, string>): string {
  const runtime = { kind: 'python', spec: '3.14t', version: '3.14.6', build } as const;
  const trials = plan.trials.map(({ target: id, round }) => {
    const trial = okTrial(id, sampleMeasured({}), { round });
    return { ...trial, runtime, target: { ...trial.target, id: 'uvicorn[resolved]', ...target } };
  });
  return toView(toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials })).notes.join(
    '\n',
  );
}

describe('a run with --resolve', () => {
  it('lists the versions used instead of the locked ones, only once', () => {
    const notes = notesOf({ resolved: true }, { resolved: 'httptools 0.8.0 instead of 0.9.0' });
    expect(notes.split('--resolve used')).toHaveLength(2);
    expect(notes).toContain(
      'uvicorn[resolved]: on python 3.14.6, --resolve used httptools 0.8.0 instead of 0.9.0.',
    );
  });

  it('says that the locked versions were used if they have wheels', () => {
    expect(notesOf({ resolved: true }, {})).toContain('--resolve used every locked version.');
  });

  it('is the only run whose report mentions --resolve', () => {
    expect(notesOf({}, {})).not.toContain('--resolve');
  });
});
