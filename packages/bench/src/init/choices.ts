/** What a user asks of `init`, for the server and its requests. */
export interface InitChoices {
  get: string[];
  header: (readonly [string, string])[];
  with: string[];
  lock?: string | undefined;
  envFile?: string | undefined;
  python?: string | undefined;
  node?: string | undefined;
  startTimeout?: number | undefined;
}
