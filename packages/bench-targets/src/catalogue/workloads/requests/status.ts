import type { Status } from 'bench-model/requests';

/** Returns true if a status is one of these codes or classes. */
export function isRightStatus(status: number, statuses: readonly Status[]): boolean {
  return statuses.some((one) => one === status || one === `${Math.floor(status / 100)}xx`);
}
