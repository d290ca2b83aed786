/** The requests of a user with the contents of the files that they name. */
import type { UserLogin, UserRequest, Locate, Status } from 'bench-model/requests';
import { compileSchema, type SchemaCheck } from './schema.ts';
import { nameRequest } from './sent.ts';
import { readText, refuseChanged, sha256Of } from './texts.ts';

/** The right statuses of a request that names none. */
export const ANY_SUCCESS: readonly Status[] = ['2xx'];

/** One request with the contents of its files. */
export interface Kind {
  request: UserRequest;
  name: string;
  body: string | undefined;
  expected: string | undefined;
  schema: string | undefined;
  checkSchema: SchemaCheck | undefined;
  statuses: readonly Status[];
}

/** All requests, the body of the login, and the contents of the files by their names with the @. */
export interface Parts {
  kinds: Kind[];
  loginBody: string | undefined;
  contents: ReadonlyMap<string, string>;
}

/**
 * Reads the files of requests, each once. Throws a usage error, with the place that `locate` gives, if one cannot be read, has
 * changed since the run was planned, or is not a schema. `planned` are the digests of the files at that time.
 */
export function readParts(
  { requests, login }: { requests: readonly UserRequest[]; login?: UserLogin | undefined },
  locate: Locate,
  planned: Readonly<Record<string, string>> = {},
): Parts {
  const contents = new Map<string, string>();
  const read = (text: string | undefined, where: string): string | undefined => {
    if (text === undefined) return undefined;
    const content = contents.get(text) ?? readText(text, where);
    if (!text.startsWith('@')) return content;
    refuseChanged(planned[text], sha256Of(content), `${where} ${text}`);
    contents.set(text, content);
    return content;
  };
  const kinds = requests.map((request, index): Kind => {
    const { body, schema, statuses = ANY_SUCCESS } = request.expect ?? {};
    const where = locate(index, 'expect');
    const schemaText = read(schema, where);
    return {
      request,
      name: nameRequest(request),
      body: read(request.body, locate(index, 'body')),
      expected: read(body, where),
      schema: schemaText,
      checkSchema: schemaText === undefined ? undefined : compileSchema(schemaText, where),
      statuses,
    };
  });
  return { kinds, loginBody: read(login?.body, 'the body of the login'), contents };
}

/** Locates requests by their names, for those that are in no file. */
export function locateByName(requests: readonly UserRequest[]): Locate {
  return (index) => {
    const request = requests[index];
    return request === undefined ? 'the requests' : nameRequest(request);
  };
}
