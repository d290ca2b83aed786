import { expect, it } from 'vitest';
import type { ServerBudget } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { describeBudget, describeDetail } from '../src/detail.ts';
import { toModel } from '../src/model/model.ts';
import { listNotes } from '../src/notes.ts';
import { okTrial, readGoldenRun, sampleMeasured } from '../../bench-lab/testing/samples.ts';

const LOOP: ServerBudget = { by: 'threads', usedCores: 0.97, usableCores: 1 };

const limitedBy = (budget: ServerBudget, limit: 'server' | 'waiting' = 'server'): Trial =>
  okTrial('vanilla', sampleMeasured({ given: { limit, budget } }));

it.each<[ServerBudget, string]>([
  [LOOP, 'its busiest thread used 0.97 cores; it can use 1 core at most'],
  [
    { by: 'threads', usedCores: 1.9, usableCores: 2 },
    'its busiest 2 threads used 1.90 cores; they can use 2 cores at most',
  ],
  [
    { by: 'gil', usedCores: 0.98, usableCores: 1 },
    'its process used 0.98 cores; under a GIL, Python code can use 1 core at most',
  ],
  [{ by: 'cores', usedCores: 1.9, usableCores: 2 }, 'the server used 1.90 cores and can use 2 cores at most'],
])('describes the CPU budget %j', (budget, text) => {
  expect(describeBudget(budget)).toBe(text);
});

it('the report says that a saturated server could not use all its cores', () => {
  const { trials: _, ...run } = readGoldenRun();
  const notesOf = (trial: Trial): string[] => listNotes(toModel({ ...run, trials: [trial] }), 'full');
  const note = `The limit of vanilla at 10 is the server: ${describeBudget(LOOP)}.`;
  expect(notesOf(limitedBy(LOOP))).toContain(note);
  expect(notesOf(limitedBy(LOOP, 'waiting')).join('\n')).not.toContain('busiest thread');
  expect(notesOf(limitedBy({ ...LOOP, by: 'cores' })).join('\n')).not.toContain('is the server');
  expect(describeDetail([limitedBy(LOOP)])).toContain(describeBudget(LOOP));
  expect(listNotes(toModel({ ...run, trials: [limitedBy(LOOP)] }), 'brief')).toContain(
    '1 server was saturated with idle cores beside it: an event loop, a thread or a GIL uses at most one core.',
  );
});
