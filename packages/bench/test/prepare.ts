import { readStacks, targetsOf } from '../src/catalogue/stacks.ts';
import { prepareAll } from '../src/measure/prepare.ts';

/** What takes longer is told: on a fresh clone there are minutes of it. */
const TELL_AFTER_MS = 2000;

/** Makes all environments and builds. What is missing is for the tests to say. */
export default async function prepare(): Promise<void> {
  const stacks = readStacks();
  let timer: NodeJS.Timeout | undefined;
  await prepareAll(stacks.flatMap(targetsOf), stacks, (doing) => {
    clearTimeout(timer);
    timer = setTimeout(() => process.stderr.write(`${doing}\n`), TELL_AFTER_MS);
  });
  clearTimeout(timer);
}
