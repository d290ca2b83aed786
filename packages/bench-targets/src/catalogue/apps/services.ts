/** The surroundings of the server of an app: the services and the setup command of its manifest. */
import type { Service } from 'bench-model/stack';
import { isAbsolute, relative, resolve } from 'node:path';

/** The longest time that a service may take to become ready. */
export const READY_SECONDS = 30;
/** The longest time that a setup command may take. */
export const SETUP_SECONDS = 60;

const OF_SERVICE = /\{([a-z][a-z0-9-]*)\.(\w+)\}/g;
const FIELDS = ['host', 'port', 'url'] as const;

/** The address of a running service, by the fields of its placeholders. */
export type ServiceAddress = Partial<Record<(typeof FIELDS)[number], string>>;

/**
 * Returns the placeholder of a text that has no value: a service that is unknown or starts later, or an unknown field.
 * Undefined if all have one.
 */
export function unknownPlaceholder(text: string, services: Record<string, Service>): string | undefined {
  const found = [...text.matchAll(OF_SERVICE)].find(([, name = '', field = '']) => {
    const service = services[name];
    if (service === undefined) return true;
    return !('use' in service ? field === 'url' : FIELDS.some((one) => one === field));
  });
  return found?.[0];
}

/** Returns true if a text holds the placeholder of a service. */
export function namesService(text: string): boolean {
  return text.search(OF_SERVICE) >= 0;
}

/** Fills in the addresses of services. */
export function fillAddresses(text: string, addresses: Readonly<Record<string, ServiceAddress>>): string {
  return text.replaceAll(
    OF_SERVICE,
    (whole, name: string, field: keyof ServiceAddress) => addresses[name]?.[field] ?? whole,
  );
}

/** Returns true if a path, relative to a folder, leads out of it. An absolute path is not relative. */
export function leavesFolder(folder: string, path: string): boolean {
  if (isAbsolute(path)) return false;
  const near = relative(folder, resolve(folder, path));
  return near === '..' || near.startsWith('../');
}
