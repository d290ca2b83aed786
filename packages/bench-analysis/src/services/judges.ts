/** The judges of companions by their parts of a stored record. Pure. */
import type { CompanionName, CompanionRecords } from 'bench-model/companions';
import { judgeBackground } from './background/judge.ts';
import type { CompanionJudge } from './judge.ts';
import { DATABASE_JUDGE } from './database/judge.ts';
import { SERVICES_JUDGE } from './declared/judge.ts';
import { watchUpstream } from './upstream/judge.ts';

/** Returns the judge of each companion by its measurements in a trial. How many fixtures an upstream owed is not stored. */
export const COMPANION_JUDGES: {
  [Name in CompanionName]: (use: CompanionRecords[Name]) => CompanionJudge;
} = {
  upstream: (use) => watchUpstream(() => use),
  database: () => DATABASE_JUDGE,
  services: () => SERVICES_JUDGE,
  background: (use) => ({ judge: () => judgeBackground(use) }),
};
