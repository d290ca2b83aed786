import { existsSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { copyTwin, makeTwins, plantTwins, TRIAL_UNITS, unitsOf } from '../../src/measure/twins.ts';

const TWIN = readManifest(fileURLToPath(new URL('../../planted/twin/stack.json', import.meta.url)));

/** Twins whose requests cost this without work, and this for each unit of it, in µs. */
function twinsOf(bareUs: number, unitUs: number) {
  return makeTwins(bareUs + TRIAL_UNITS.low * unitUs, bareUs + TRIAL_UNITS.high * unitUs);
}

describe('twins', () => {
  it('differ in total cost by exactly the planted share', () => {
    const bareUs = 20;
    const unitUs = 0.005;
    const twins = twinsOf(bareUs, unitUs);
    const costOf = (count: number) => bareUs + count * unitUs;
    expect(costOf(twins.units.base)).toBeCloseTo(100);
    for (const effect of [0.015, 0.03, 0.06, 0.1])
      expect(costOf(unitsOf(twins, effect)) / costOf(twins.units.base)).toBeCloseTo(1 + effect, 4);
    expect(unitsOf(twins, 0)).toBe(twins.units.base);
  });

  it('cost at least twice as much as the server without work', () => {
    const { units } = twinsOf(80, 0.01);
    expect(80 + units.base * 0.01).toBeCloseTo(160);
  });

  it('cannot be made if work costs nothing', () => {
    expect(() => makeTwins(20, 20)).toThrow('3000 units of work cost 0 µs more than 1000');
  });

  it('differ only in their units', () => {
    const { variants, default: first } = plantTwins(TWIN, { base: 7, dearer: 9 });
    expect(first).toBe('base');
    expect(variants['base']?.command.slice(0, -1)).toEqual(variants['dearer']?.command.slice(0, -1));
    expect([variants['base']?.command.at(-1), variants['dearer']?.command.at(-1)]).toEqual(['7', '9']);
  });

  it('spend units after the response that they are told to', () => {
    const { variants } = plantTwins(TWIN, { base: 7 }, ['--later', '2']);
    expect(variants['base']?.command.join(' ')).toMatch(/--later 2 --units 7$/);
  });

  it('can be in another folder', () => {
    using place = mkdtempDisposableSync(join(tmpdir(), 'bench-twin-'));
    const copy = copyTwin(TWIN, join(place.path, 'twin'));
    expect([copy.name, copy.root]).toEqual(['twin-copy', join(place.path, 'twin')]);
    expect(existsSync(join(copy.root, 'server.ts'))).toBe(true);
  });
});
