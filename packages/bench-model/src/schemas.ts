/** The JSON Schemas of stored files, made from the definitions. The files in `schema/` are these. */
import { CLUSTER_HEAD, clusterFile } from './cluster.ts';
import { toDocument } from './definitions.ts';
import { host, HOST_HEAD } from './host.ts';
import { manifest, REQUESTS_HEAD, requestsFile, STACK_HEAD } from './manifest.ts';
import { record, RECORD_HEAD } from './record.ts';
import { runFile, RUN_HEAD } from './run.ts';
import { whyFile, WHY_HEAD } from './why.ts';

export const SCHEMAS = {
  stack: toDocument(manifest, STACK_HEAD),
  requests: toDocument(requestsFile, REQUESTS_HEAD),
  record: toDocument(record, RECORD_HEAD),
  run: toDocument(runFile, RUN_HEAD),
  host: toDocument(host, HOST_HEAD),
  why: toDocument(whyFile, WHY_HEAD),
  cluster: toDocument(clusterFile, CLUSTER_HEAD),
};
