/** Chooses the sampler of this platform. */
import { TrialError } from 'bench-model/errors';
import { openDarwinSampler } from './darwin.ts';
import { LinuxSampler } from './linux.ts';
import type { Sampler, SamplerOptions } from './sampler.ts';

/** Opens the sampler of this platform. Throws a trial error if the process of the server is not running, or on any platform except Linux and macOS. */
export async function openSampler(options: SamplerOptions): Promise<Sampler> {
  if (process.platform === 'linux') return new LinuxSampler(options);
  if (process.platform === 'darwin') return openDarwinSampler(options);
  throw new TrialError(`resources cannot be sampled on ${process.platform}`, 'use Linux or macOS');
}
