/** Removes secrets from every record and every output. They are sent, but never kept or shown. */
import { orUndefined } from 'bench-model/errors';
import { wordsOfSchemas } from 'bench-model/words';

/** Replaces the value of a secret header in a record. */
export const NOT_KEPT = '(not kept)';

/** Replaces a secret in a URL, which cannot contain a blank. */
export const NOT_KEPT_IN_URL = '(not-kept)';

/** Shorter values occur by chance in unrelated words and figures. */
const SHORTEST_HIDDEN = 6;

/** The words that make the name of a header, a parameter or a variable the name of a secret. */
const SECRET_NAME =
  /(?:^|[^a-z])(?:keys?|sk|pat|sig|auth|pass|pwd|pin|otp|jwt|bearer|sid)(?:$|[^a-z])|token|secret|passw|requirepass|passphrase|signature|credential|authori[sz]ation|authentication|cookie|session|sess-?id|api-?key|access-?key/;

/**
 * Variables that a shell or a desktop sets. Their names sound secret, but their values are folders, sockets and words such
 * as `ubuntu`, which occur in any message.
 */
const OF_SYSTEM =
  /^(?:(?:OLD)?PWD|XAUTHORITY|SSH_AUTH_SOCK|(?:DESKTOP|GNOME|KDE|XDG|DBUS)_[A-Z_]*SESSION[A-Z_]*|(?:DESKTOP_)?SESSION(?:_MANAGER)?)$/;

/** Values that this process sends and must never show. A process that runs several commands, as tests do, clears it before each. */
export const hidden = new Set<string>();

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

/**
 * The scheme and the credentials of a URL, up to the `@` before its host. People write `/` and blanks into passwords,
 * although a URL must escape them. Digits before a `/` are a port, as in `http://h:80/mail?to=me@example.org`.
 */
const CREDENTIALS =
  /(\b[a-z][a-z\d+.-]*:\/\/)([^\s/?#:@"'<>`\\]*:(?!\d+(?:[/?#\s"'<>`\\]|$))(?:(?!:\/\/)[^\n"'<>`\\]){0,200}?|[^\s/?#"'<>`\\]*)@(?=[^\s@/?#"'<>`\\]*(?:[/?#\s"'<>`\\]|$))/gi;

/** Returns a URL, or a path with a query, without its credentials and the values of its secret parameters. */
export function redactUrl(url: string): string {
  return url
    .replaceAll(CREDENTIALS, `$1${NOT_KEPT_IN_URL}@`)
    .replaceAll(/([?&;#])([^=&;#?]+)=([^&;#]+)/g, (whole, before: string, name: string) =>
      isSecretName(decode(name)) ? `${before}${name}=${NOT_KEPT_IN_URL}` : whole,
    );
}

/** Returns headers with the values of secret ones replaced. A value that only names a placeholder holds no secret. */
export function redactHeaders(headers: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      holdsSecret(name, value) ? NOT_KEPT : redact(value),
    ]),
  );
}

/** Returns true if a header of this name and value holds a secret. */
export function holdsSecret(name: string, value: unknown): boolean {
  return isSecretName(name) && !isPlaceholder(value);
}

/** Returns true for a value such as `Bearer {token}` or `{env:KEY}`: a scheme at most, and placeholders. */
function isPlaceholder(value: unknown): boolean {
  return (
    typeof value === 'string' && /^(?:[A-Za-z]+ )?(?:\w+=)?\{(?:env:\w+|[A-Za-z_][\w.-]*)\}$/.test(value)
  );
}

/**
 * Makes `redact` replace these values wherever they occur, such as in the response of a server that repeats its request, in every
 * spelling that a program may print.
 */
export function hide(values: Iterable<string>): void {
  for (const value of values)
    for (const spelt of [value, encodeURIComponent(value.toWellFormed())])
      if (spelt.length >= SHORTEST_HIDDEN) hidden.add(spelt);
}

/** Returns the secrets in the headers, the URL and the body of a request, in every spelling that a server may repeat. */
export function secretsOf({
  headers = {},
  url = '',
  body = '',
}: {
  headers?: Record<string, string>;
  url?: string;
  body?: string;
}): string[] {
  const parsed = URL.parse(url);
  const parameters = [...(parsed?.searchParams ?? [])].filter(([name]) => isSecretName(name));
  const values = Object.entries(headers).filter(([name, value]) => holdsSecret(name, value));
  const found = [
    ...parameters.map(([, value]) => value),
    ...values.flatMap(([, value]) => [value, ...credentialsOf(value)]),
    ...fieldsIn(body).flatMap(({ name, value }) => (isSecretField(name, value) ? [value] : [])),
    ...passwordsIn(url).flatMap((password) => [decode(password), password]),
  ];
  return [...new Set(found.flatMap((value) => [value, encodeURIComponent(value)]))].filter(Boolean);
}

/** The passwords in the URLs of a text, as they are written. */
function passwordsIn(text: string): string[] {
  return [...text.matchAll(CREDENTIALS)].map(([, , credentials = '']) =>
    credentials.split(':').slice(1).join(':'),
  );
}

/** A secret in plain text: the variable or the option that holds it, and its value. */
export interface Literal {
  name: string;
  value: string;
}

/** Returns the secrets in environment variables: values of variables with secret names, and passwords in URLs. */
export function literalsInEnvironment(env: Readonly<Record<string, string | undefined>>): Literal[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value === undefined || OF_SYSTEM.test(name) ? [] : literalsIn(name, value),
  );
}

/** Returns the secrets in a command: values of options with secret names, and passwords in URLs. */
export function literalsInCommand(words: readonly string[]): Literal[] {
  return words.flatMap((word, index) => literalsInWord(word, words[index - 1]));
}

function literalsInWord(word: string, before = ''): Literal[] {
  const [, assigned, value = ''] = /^(-{0,2}[\w.-]+)=(.+)$/s.exec(word) ?? [];
  if (assigned !== undefined) return literalsIn(assigned, value);
  // The name of a secret is an option, and the word after it no other one.
  const isValue = /^--?[a-z][\w-]*$/i.test(before) && !word.startsWith('-');
  return literalsIn(isValue ? before : '', word);
}

/** Returns the words of a command without secrets: values of options that name one, and credentials in URLs. */
export function redactCommand(words: readonly string[]): string[] {
  return words.map((word, index) => removeFrom(word, literalsInWord(word, words[index - 1])));
}

/** Returns the words of a command line of Bench without secrets: in headers, URLs, bodies and commands of servers. */
export function redactWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const isHeader = word.startsWith('--header=') || words[index - 1] === '--header';
    const [, before = '', name = '', value] = /^((?:--header=)?([^:]+):\s*)(.+)$/s.exec(word) ?? [];
    if (isHeader && holdsSecret(name, value)) return `${before}${NOT_KEPT}`;
    return removeFrom(word, literalsInCommand(word.split(/\s+/)));
  });
}

function removeFrom(text: string, literals: readonly Literal[]): string {
  return redact(literals.reduce((left, { value }) => left.replaceAll(value, NOT_KEPT), text));
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
  return isSecret(name, value) ? [{ name, value }] : [];
}

function isSecret(name: string, value: string): boolean {
  const isSetting = SETTING.test(value) && !/pass|pwd/i.test(name);
  return isSecretName(name) && !isSetting && value !== '';
}

/** A field of JSON: the quoted name with its colon, the name, and a text or a number. */
const JSON_FIELD = /("((?:[^"\\]|\\.)+)"\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/g;

/** A field of a form, or a variable at the start of a line. */
const FORM_FIELD = /(?<=^|&)([\w.[\]%+-]+)=(?!\(not)([^&\s]+)/gm;

/** The fields of the JSON or the form that a text holds. */
function fieldsIn(text: string): Literal[] {
  const ofJson = [...text.matchAll(JSON_FIELD)].map(([, , name = '', value = '']) => ({
    name,
    value: unquote(value),
  }));
  const ofForm = [...text.matchAll(FORM_FIELD)].map(([, name = '', value = '']) => ({
    name: decode(name),
    value: decode(value),
  }));
  return [...ofJson, ...ofForm];
}

/** Returns a text without the secret fields of the JSON or the form that it holds. */
function redactFields(text: string): string {
  return text
    .replaceAll(JSON_FIELD, (whole, before: string, name: string, value: string) =>
      isSecretField(name, unquote(value)) ? `${before}"${NOT_KEPT}"` : whole,
    )
    .replaceAll(FORM_FIELD, (whole, name: string, value: string) =>
      isSecretField(decode(name), value) ? `${name}=${NOT_KEPT_IN_URL}` : whole,
    );
}

function isSecretField(name: string, value: string): boolean {
  return isSecret(name, value) && !isPlaceholder(value);
}

function unquote(json: string): string {
  return json.replaceAll(/^"|"$/g, '');
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
export function redact<T>(value: T): T;
export function redact(value: unknown): unknown {
  // A word of the records themselves, such as `postgres`, is also the password of many databases.
  if (typeof value === 'string')
    return hidden.has(value) && wordsOfSchemas().has(value) ? value : redactText(value);
  if (Array.isArray(value)) return value.map((one: unknown) => redact(one));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, redactField(name, one)]),
  );
}

/** Headers lose the values of secret ones, and a login its body: it is a password. */
function redactField(name: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return redact(value);
  const object = value as Record<string, unknown>;
  if (name === 'headers') return redactHeaders(object);
  if (name !== 'login' || object['body'] === undefined) return redact(object);
  return { ...redact({ ...object, body: undefined }), body: NOT_KEPT };
}

function redactText(text: string): string {
  let clean = text
    .replaceAll(CREDENTIALS, `$1${NOT_KEPT_IN_URL}@`)
    .replaceAll(
      /(?:\b[a-z][a-z\d+.-]*:\/\/|[?&][^\s"'<>`\\=&]+=)[^\s"'<>`\\]+?(?=[.,:;]*(?:[\s"'<>`\\]|$))/gi,
      redactUrl,
    )
    // The spelling of libpq.
    .replaceAll(/\b(password)=(?!\()[^\s&;"']+/gi, `$1=${NOT_KEPT_IN_URL}`);
  clean = redactFields(clean);
  // The longest first, because one may be part of another.
  for (const value of [...hidden].toSorted((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(value, NOT_KEPT);
  }
  return clean;
}

function decode(text: string): string {
  return orUndefined(() => decodeURIComponent(text)) ?? text;
}
