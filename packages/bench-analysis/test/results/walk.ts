/** Walks through values and schemas. */

type Json = Record<string, unknown>;

export function pathsOf(value: unknown, path = ''): string[] {
  if (value === null || typeof value !== 'object') return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inside]) => {
    const own = path === '' ? key : `${path}.${key}`;
    return [...(isList ? [] : [own]), ...pathsOf(inside, own)];
  });
}

const FIGURES = ['count', 'ordinal', 'amount', 'span'].map((name) => `#/definitions/${name}`);

/** Returns every number with its description, at any depth, except for definitions that only set a range. */
export function figuresOf(schema: unknown, path = ''): [string, string][] {
  if (schema === null || typeof schema !== 'object') return [];
  const { type, $ref, description = '' } = schema as { type?: string; $ref?: string; description?: string };
  const isRange = FIGURES.includes(path);
  const isFigure = type === 'integer' || type === 'number' || ($ref !== undefined && FIGURES.includes($ref));
  const inside = Object.entries(schema).flatMap(([key, value]) =>
    figuresOf(value, path === '' ? `#/${key}` : `${path}/${key}`),
  );
  return isFigure && !isRange ? [[path, description], ...inside] : inside;
}

/** Returns the objects that accept any field. Those under `allOf` narrow an object that is described elsewhere. */
export function openObjects(schema: unknown, path: string): string[] {
  if (schema === null || typeof schema !== 'object') return [];
  const { type, additionalProperties, properties } = schema as Json;
  const isMap = typeof additionalProperties === 'object' && properties === undefined;
  const isOpen = type === 'object' && !path.includes('/allOf/') && additionalProperties !== false && !isMap;
  const inside = Object.entries(schema).flatMap(([key, value]) => openObjects(value, `${path}/${key}`));
  return isOpen ? [path, ...inside] : inside;
}
