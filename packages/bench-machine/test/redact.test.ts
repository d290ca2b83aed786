import { describe, expect, it } from 'vitest';
import {
  hide,
  isSecretName,
  literalsInCommand,
  literalsInEnvironment,
  redact,
  redactCommand,
  redactUrl,
  secretsOf,
  splitCredentials,
} from '../src/redact.ts';

describe('the name of a secret', () => {
  it.each([
    'Authorization',
    'proxy-authorization',
    'cookie',
    'Set-Cookie',
    'x-api-key',
    'apiKey',
    'api_key',
    'key',
    'access_token',
    'accessToken',
    'clientSecret',
    'password',
    'passwd',
    'X-Amz-Signature',
    'X-Amz-Credential',
    'sig',
    'auth',
    'sessionid',
    'jwt',
    'STRIPE_SK',
    'PHPSESSID',
    'GITHUB_PAT',
    'OTP',
  ])('can be %s', (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    'accept',
    'content-type',
    'monkey',
    'keyword',
    'design',
    'author',
    'page',
    'x-request-id',
    'passage',
    'desk',
    'pattern',
    'spin',
  ])('cannot be %s', (name) => expect(isSecretName(name)).toBe(false));
});

describe('a secret in plain text', () => {
  it.each<[Record<string, string>, string[]]>([
    [{ API_TOKEN: 'tok-1', PORT: '3000', MAX_KEYS: '100000', SESSION_TTL: '30m' }, ['API_TOKEN=tok-1']],
    [
      { DATABASE_URL: 'postgres://me:open%20it@db/shop' },
      ['open it', 'open%20it', 'open%2520it'].map((one) => `DATABASE_URL=${one}`),
    ],
    [{ DB_PASSWORD: '123456' }, ['DB_PASSWORD=123456']],
    [{ DATABASE_URL: '{db.url}', API_TOKEN: '{env:API_TOKEN}', REDIS: 'redis://:{db.port}@{db.host}/0' }, []],
    [{ url: 'redis://:hidden-1@{host}:{port}/0' }, ['url=hidden-1']],
    [{ DB: 'postgres://me:open/se same@db/shop' }, ['DB=open/se same', 'DB=open%2Fse%20same']],
    [
      { PWD: '/home/me/shop', OLDPWD: '/home/me', DESKTOP_SESSION: 'ubuntu', XDG_SESSION_TYPE: 'wayland' },
      [],
    ],
    [{ SESSION_SECRET: 'tok-1', APP_PWD: 'tok-2' }, ['SESSION_SECRET=tok-1', 'APP_PWD=tok-2']],
  ])('is found in the environment %j', (env, found) => {
    expect(literalsInEnvironment(env).map(({ name, value }) => `${name}=${value}`)).toEqual(found);
  });

  it.each([
    ['serve --token tok-1 --port {port}', ['--token=tok-1']],
    ['serve --api-key=tok-1 -secret tok-2', ['--api-key=tok-1', '-secret=tok-2']],
    ['redis-server --requirepass tok-1', ['--requirepass=tok-1']],
    ['serve --db postgres://me:tok-1@db/shop', ['--db=tok-1']],
    ['serve postgres://me:tok-1@db/shop', ['the URL=tok-1']],
    ['serve --auth --port 3000 --token {env:TOKEN} token', []],
  ])('is found in the command %s', (line, found) => {
    expect(literalsInCommand(line.split(' ')).map(({ name, value }) => `${name}=${value}`)).toEqual(found);
  });
});

describe('redactCommand', () => {
  it('removes secrets, however they are passed', () => {
    const command = ['node', 'a.js', '--token', 'abc', '--api-key=abc', '-p', '3000', 'PASSWORD=abc'];
    expect(redactCommand(command)).toEqual([
      'node',
      'a.js',
      '--token',
      '(not kept)',
      '--api-key=(not kept)',
      '-p',
      '3000',
      'PASSWORD=(not kept)',
    ]);
    expect(redactCommand(['--db', 'postgres://me:abc@localhost/x']).join(' ')).not.toContain('abc');
  });
});

describe('a URL', () => {
  it.each([
    ['http://me:open%20sesame@127.0.0.1:3000/a?b=1', 'http://(not-kept)@127.0.0.1:3000/a?b=1'],
    ['http://sk_live_123@127.0.0.1/', 'http://(not-kept)@127.0.0.1/'],
    ['postgresql://u:p@ss@db:5432/name', 'postgresql://(not-kept)@db:5432/name'],
    ['http://h/a?page=2&token=abc&x=1', 'http://h/a?page=2&token=(not-kept)&x=1'],
    ['/a?api%5Fkey=abc#access_token=d', '/a?api%5Fkey=(not-kept)#access_token=(not-kept)'],
    ['http://h/a?token=', 'http://h/a?token='],
    ['http://h/mail?to=me@example.org', 'http://h/mail?to=me@example.org'],
    ['http://h:80/mail?to=me@example.org', 'http://h:80/mail?to=me@example.org'],
    ['postgres://me:open/sesame@db/shop', 'postgres://(not-kept)@db/shop'],
    ['postgres://me:open se?same#1@db:5432/shop', 'postgres://(not-kept)@db:5432/shop'],
    ['redis://:secret@[::1]:6379/0', 'redis://(not-kept)@[::1]:6379/0'],
  ])('%s is kept as %s', (url, kept) => {
    expect(redactUrl(url)).toBe(kept);
    expect(redactUrl(kept)).toBe(kept);
  });

  it('gives its credentials to an Authorization header', () => {
    const { url, authorization } = splitCredentials(new URL('http://me:open%20sesame@127.0.0.1:3000/a'));
    expect(url.href).toBe('http://127.0.0.1:3000/a');
    expect(authorization).toBe(`Basic ${Buffer.from('me:open sesame').toString('base64')}`);
    expect(splitCredentials(new URL('http://127.0.0.1/'))).toEqual({ url: new URL('http://127.0.0.1/') });
  });
});

describe('a record', () => {
  it('keeps everything but secrets', () => {
    const record = {
      url: 'http://me:pw@h/a?token=abc',
      headers: { accept: '*/*', authorization: 'Bearer abc', 'x-api-key': 'k' },
      reasons: [{ text: 'status 404: Cannot GET /a?b=1&token=abc: (host=h password=abc user=me)' }],
      count: 3,
      absent: undefined,
      none: null,
    };
    expect(redact(record)).toEqual({
      url: 'http://(not-kept)@h/a?token=(not-kept)',
      headers: { accept: '*/*', authorization: '(not kept)', 'x-api-key': '(not kept)' },
      reasons: [
        {
          text: 'status 404: Cannot GET /a?b=1&token=(not-kept): (host=h password=(not-kept) user=me)',
        },
      ],
      count: 3,
      absent: undefined,
      none: null,
    });
    expect(redact(redact(record))).toEqual(redact(record));
  });

  it.each([
    ['{"user":"me","password":"open \\"sesame\\""}', '{"user":"me","password":"(not kept)"}'],
    [
      '{"login":{"pin": 1234, "apiKey":"a"},"id":"{id}"}',
      '{"login":{"pin": 1234, "apiKey":"(not kept)"},"id":"{id}"}',
    ],
    ['{"password":1234}', '{"password":"(not kept)"}'],
    ['{"password":"{env:PASSWORD}","token":"{token}"}', '{"password":"{env:PASSWORD}","token":"{token}"}'],
    ['password=open&user=me', 'password=(not-kept)&user=me'],
    ['user=me&password=open', 'user=me&password=(not-kept)'],
    ['got {"password":"x"}: status 400', 'got {"password":"(not kept)"}: status 400'],
    [
      'cannot reach postgres://me:a b/c@db:5432/x: refused',
      'cannot reach postgres://(not-kept)@db:5432/x: refused',
    ],
    [
      'http://127.0.0.1:3000/a failed, ask me@example.org',
      'http://127.0.0.1:3000/a failed, ask me@example.org',
    ],
  ])('keeps %s as %s', (text, kept) => {
    expect(redact({ body: text })).toEqual({ body: kept });
    expect(redact(kept)).toBe(kept);
  });

  it('contains no secret of a body that a server echoes', () => {
    hide(secretsOf({ body: '{"user":"me","password":"correct-horse-1"}' }));
    expect(redact('it said: no user with correct-horse-1')).toBe('it said: no user with (not kept)');
  });

  it('contains no secret that a server echoes', () => {
    const basic = `Basic ${Buffer.from('me:correct horse').toString('base64')}`;
    hide(
      secretsOf({
        headers: { authorization: basic, accept: 'text/plain' },
        url: 'http://h/?token=tok+en%21',
      }),
    );
    expect(redact('it said: correct horse, correct%20horse, tok en!, text/plain')).toBe(
      'it said: (not kept), (not kept), (not kept), text/plain',
    );
    expect(redact({ basic })).toEqual({ basic: '(not kept)' });
  });

  it('keeps its own words, even if one of them is a password', () => {
    hide(['postgres']);
    const record = { kind: 'postgres', log: 'no password postgres' };
    expect(redact(record)).toEqual({ kind: 'postgres', log: 'no password (not kept)' });
  });

  it('hides no value so short that it occurs in other text', () => {
    hide(['12', '']);
    expect(redact('12,345 requests')).toBe('12,345 requests');
  });
});
