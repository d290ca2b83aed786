/** Removes secrets from every record and every output. They are sent, but never kept or shown. */

/** Replaces the value of a secret header in a record. */
export const NOT_KEPT = '(not kept)';

/** Replaces a secret in a URL, which cannot contain a blank. */
export const NOT_KEPT_IN_URL = '(not-kept)';

/** Shorter values occur by chance in unrelated words and figures. */
const SHORTEST_HIDDEN = 6;

/** The words that make the name of a header, a parameter or a variable the name of a secret. */
const SECRET_NAME =
  /(?:^|[^a-z])(?:keys?|sig|auth|pass|pwd|jwt|bearer|sid)(?:$|[^a-z])|token|secret|passw|requirepass|passphrase|signature|credential|authori[sz]ation|authentication|cookie|session|api-?key|access-?key/;

/** Values that this process sends and must never show. */
const hidden = new Set<string>();

/** Returns true if a header, parameter or variable of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-').toLowerCase());
}

/**
 * Moves the credentials of a URL into the value of an Authorization header, which is absent if the URL has none.
 * The given URL stays unchanged.
 */
export function splitCredentials(given: URL): { url: URL; authorization?: string } {
  const url = new URL(given);
  url.username = '';
  url.password = '';
  if (given.username === '' && given.password === '') return { url };
  const pair = `${decode(given.username)}:${decode(given.password)}`;
  return { url, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** Returns a URL, or a path with a query, without its credentials and the values of its secret parameters. */
export function redactUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, `$1${NOT_KEPT_IN_URL}@`)
    .replaceAll(/([?&;#])([^=&;#?]+)=([^&;#]+)/g, (whole, before: string, name: string) =>
      isSecretName(decode(name)) ? `${before}${name}=${NOT_KEPT_IN_URL}` : whole,
    );
}

/** Returns headers with the values of secret ones replaced. A value that only names a placeholder holds no secret. */
export function redactHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretName(name) && !isPlaceholder(value) ? NOT_KEPT : redact(value),
    ]),
  );
}

/** Returns true for a value such as `Bearer {token}` or `{env:KEY}`: a scheme at most, and placeholders. */
function isPlaceholder(value: unknown): boolean {
  return (
    typeof value === 'string' && /^(?:[A-Za-z]+ )?(?:\w+=)?\{(?:env:\w+|[A-Za-z_][\w.-]*)\}$/.test(value)
  );
}

/** Makes `redact` replace these values wherever they occur, such as in the answer of a server that repeats its request. */
export function hide(values: Iterable<string | undefined>): void {
  for (const value of values) {
    if (value !== undefined && value.length >= SHORTEST_HIDDEN) hidden.add(value);
  }
}

/** Returns the secrets in the headers and the URL of a request, in every spelling that a server may repeat. */
export function secretsOf({
  headers = {},
  url = '',
}: {
  headers?: Record<string, string>;
  url?: string;
}): string[] {
  const parsed = URL.parse(url);
  const parameters = [...(parsed?.searchParams ?? [])].filter(([name]) => isSecretName(name));
  const values = Object.entries(headers).filter(
    ([name, value]) => isSecretName(name) && !isPlaceholder(value),
  );
  const found = [
    ...parameters.map(([, value]) => value),
    ...values.flatMap(([, value]) => [value, ...credentialsOf(value)]),
    decode(parsed?.password ?? ''),
    parsed?.password ?? '',
  ];
  return [...new Set(found.flatMap((value) => [value, encodeURIComponent(value)]))].filter(Boolean);
}

/** A secret in plain text: the variable or the option that holds it, and its value. */
export interface Literal {
  name: string;
  value: string;
}

/** Returns the secrets in environment variables: values of variables with secret names, and passwords in URLs. */
export function literalsInEnvironment(env: Readonly<Record<string, string>>): Literal[] {
  return Object.entries(env).flatMap(([name, value]) => literalsIn(name, value));
}

/** Returns the secrets in a command: values of options with secret names, and passwords in URLs. */
export function literalsInCommand(words: readonly string[]): Literal[] {
  return words.flatMap((word, index) => {
    const [, assigned, value = ''] = /^(-{0,2}[\w.-]+)=(.+)$/s.exec(word) ?? [];
    if (assigned !== undefined) return literalsIn(assigned, value);
    const before = words[index - 1] ?? '';
    // The name of a secret is an option, and the word after it no other one.
    const isValue = /^--?[a-z][\w-]*$/i.test(before) && !word.startsWith('-');
    return literalsIn(isValue ? before : '', word);
  });
}

/** Returns the values to hide for secrets in plain text, in every spelling that a program may print. */
export function valuesOf(literals: readonly Literal[]): string[] {
  return literals.flatMap(({ value }) => [value, encodeURIComponent(value)]);
}

/** Values of settings that have the name of a secret by chance, such as `MAX_KEYS=100000`. */
const SETTING = /^(?:\d+(?:\.\d+)?[a-z]{0,2}|true|false|yes|no|on|off|none)$/i;

/** Stands for a placeholder; valid as a host and as a port. */
const FILLED = '0';

function literalsIn(name: string, value: string): Literal[] {
  // A placeholder is no secret: its value comes from elsewhere.
  const filled = value.replaceAll(/\{[\w.:-]+\}/g, FILLED);
  const inUrl = secretsOf({ url: filled }).filter((one) => one !== FILLED);
  if (inUrl.length > 0) return inUrl.map((one) => ({ name: name === '' ? 'the URL' : name, value: one }));
  if (filled !== value) return [];
  const isSetting = SETTING.test(value) && !/pass/i.test(name);
  return isSecretName(name) && !isSetting && value !== '' ? [{ name, value }] : [];
}

/** The parts of an Authorization value that are secret by themselves: the token, and the password of `Basic`. */
function credentialsOf(value: string): string[] {
  const [, scheme = '', token = ''] = /^(\S+)\s+(\S+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [token];
  return [token, Buffer.from(token, 'base64').toString().split(':').slice(1).join(':')];
}

/**
 * Returns a value without secrets, for a record or an output: texts without the credentials and secret parameters of
 * URLs and without hidden values, objects called `headers` without the values of secret headers, and objects called `login`
 * without their body.
 */
export function redact<T>(value: T): T {
  return redactAny(value) as T;
}

function redactAny(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactAny);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, redactField(name, one)]),
  );
}

/** Headers lose the values of secret ones, and a login its body: it is a password. */
function redactField(name: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return redactAny(value);
  const object = value as Record<string, unknown>;
  if (name === 'headers') return redactHeaders(object);
  if (name !== 'login' || object['body'] === undefined) return redactAny(object);
  return { ...(redactAny({ ...object, body: undefined }) as object), body: NOT_KEPT };
}

function redactText(text: string): string {
  let clean = text
    .replaceAll(
      /(?:\b[a-z][a-z\d+.-]*:\/\/|[?&][^\s"'<>`\\=&]+=)[^\s"'<>`\\]+?(?=[.,:;]*(?:[\s"'<>`\\]|$))/gi,
      redactUrl,
    )
    // The spelling of libpq.
    .replaceAll(/\b(password)=(?!\()[^\s&;"']+/gi, `$1=${NOT_KEPT_IN_URL}`);
  // The longest first, because one may be part of another.
  for (const value of [...hidden].toSorted((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(value, NOT_KEPT);
  }
  return clean;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
