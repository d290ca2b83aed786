import { readStacks } from '../../src/catalogue/stacks.ts';
import { testStacks } from './stacks.ts';

testStacks(readStacks().filter(({ language }) => language !== 'python'));
