import type { Status } from '../../../model/requests.ts';

/** Returns true if a status is one of these codes or classes. */
export function isRightStatus(status: number, statuses: readonly Status[]): boolean {
  return statuses.some((one) => one === status || one === `${Math.floor(status / 100)}xx`);
}
