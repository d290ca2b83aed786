/**
 * The classes of the processes of a study, by all turns and by those at the usual pace of the machine:
 *
 *     pnpm exec node packages/bench-lab/experiments/warm/pace.ts results/published/<study>
 */
import { studyProcess } from 'bench-analysis/warmup/process';
import { pairsOf, studyTargets } from 'bench-analysis/warmup/study';
import { readStudy } from 'bench-analysis/results/study/store';

const study = readStudy(process.argv[2] ?? '');
for (const { id, whole } of studyTargets(study)) {
  const all = whole.map(({ process: number }) => {
    const stored = study.processes.find((one) => one.target.id === id && one.process === number)!;
    return studyProcess(pairsOf(stored))?.class ?? 'too short';
  });
  const usual = whole.map(({ course }) => course?.class ?? 'does not count');
  console.log(`${id}\n  all turns:   ${count(all)}\n  usual pace:  ${count(usual)}`);
}

function count(names: readonly string[]): string {
  return [...Map.groupBy(names, (name) => name)].map(([name, same]) => `${same.length} ${name}`).join(', ');
}
