import { generateStacks } from './generated.ts';
import { testStacks } from './stacks.ts';

testStacks(generateStacks());
