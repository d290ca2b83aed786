import { readStacks } from 'bench-targets/catalogue/stacks';
import { testStacks } from './stacks.ts';

testStacks(
  readStacks().filter(
    ({ language, framework, name }) => language === 'python' && framework !== 'fastapi' && name !== 'uvicorn',
  ),
);
