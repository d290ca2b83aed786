import { readStacks } from 'bench-targets/catalogue/stacks';
import { testStacks } from './stacks.ts';

const stacks = readStacks();
testStacks([
  // First: two workers of uvicorn are tested once, and it imports less than FastAPI.
  ...stacks.filter(({ name }) => name === 'uvicorn'),
  ...stacks.filter(({ framework }) => framework === 'fastapi'),
]);
