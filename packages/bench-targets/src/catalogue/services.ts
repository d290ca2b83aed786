/** The surroundings of the server of an app: the services and the setup command of its manifest. */
import type { Service } from 'bench-model/manifest';
import { isAbsolute, relative, resolve } from 'node:path';

/** The longest time that a service may take to become ready. */
export const READY_SECONDS = 30;
/** The longest time that a setup command may take. */
export const SETUP_SECONDS = 60;

const OF_SERVICE = /\{([a-z][a-z0-9-]*)\.(\w+)\}/g;
const FIELDS = ['host', 'port', 'url'] as const;
const DATABASE_FIELDS = [...FIELDS, 'user', 'password', 'name'] as const;

/** The address of a running service, by the fields of its placeholders. */
export type ServiceAddress = Record<(typeof FIELDS)[number], string>;

/** The address of a running database. */
export type DatabaseAddress = Record<(typeof DATABASE_FIELDS)[number], string>;

/** The addresses of running services, by their names. */
export type Addresses = Readonly<Record<string, ServiceAddress | DatabaseAddress>>;

/** Returns the fields of a service's placeholders. */
export function fieldsOf(service: Service): readonly string[] {
  return 'use' in service ? DATABASE_FIELDS : FIELDS;
}

/**
 * Returns the placeholder of a text that has no value: a service that is unknown or starts later, or an unknown field.
 * Undefined if all have one.
 */
export function unknownPlaceholder(text: string, services: Record<string, Service>): string | undefined {
  const found = [...text.matchAll(OF_SERVICE)].find(([, name = '', field = '']) => {
    const service = services[name];
    return service === undefined || !fieldsOf(service).includes(field);
  });
  return found?.[0];
}

/** Returns true if a text holds the placeholder of a service. */
export function namesService(text: string): boolean {
  return text.search(OF_SERVICE) >= 0;
}

/** Fills in the addresses of services. */
export function fillAddresses(text: string, addresses: Addresses): string {
  return text.replaceAll(OF_SERVICE, (whole, name: string, field: string) => {
    const address: Readonly<Record<string, string>> = addresses[name] ?? {};
    return address[field] ?? whole;
  });
}

/** Returns true if a path, relative to a folder, leads out of it. An absolute path is not relative. */
export function leavesFolder(folder: string, path: string): boolean {
  if (isAbsolute(path)) return false;
  const near = relative(folder, resolve(folder, path));
  return near === '..' || near.startsWith('../');
}
