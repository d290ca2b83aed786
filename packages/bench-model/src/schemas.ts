/** The JSON Schemas of stored files, made from the definitions. The files in `schema/` are these. */
import { clusterFile } from './cluster.ts';
import { toDocument } from './definitions.ts';
import { host } from './host.ts';
import { manifest, requestsFile } from './manifest.ts';
import { record } from './record.ts';
import { runFile } from './run.ts';
import { whyFile } from './why.ts';

export const SCHEMAS = {
  stack: toDocument(manifest, {
    title: 'stack.json: how a server program is started, and what it is asked',
    description: 'docs/reference/stack-json.md describes it.',
  }),
  requests: toDocument(requestsFile, {
    title: 'Requests: what a server is asked, and what a correct response is',
    description: 'Read by --requests-file. docs/guides/requests.md describes it.',
  }),
  record: toDocument(record, {
    title: "The record of one trial: one line of a run's trials.jsonl",
    description:
      "A field that was not measured is absent: never 0, never -1. A figure's description begins with its unit.",
  }),
  run: toDocument(runFile, {
    title: "The plan of a run, and the versions that it was made with: a run's run.json",
    description:
      'Written before the first trial: --resume continues with this plan. Later, only `stops` is added.',
  }),
  host: toDocument(host, {
    title: "The machine that a run was measured on: a run's host.json",
    description:
      'A field that the machine does not report is absent. No environment variables, no names of users or hosts, no paths.',
  }),
  why: toDocument(whyFile, {
    title: 'Why',
    description:
      'why.json: the sampled stacks of fresh servers of both sides of a comparison, taken after its trials.',
  }),
  cluster: toDocument(clusterFile, {
    title: 'bench.cluster.json: the hosts that send the load, or that the rounds are spread over',
    description: 'Read by --cluster. docs/guides/several-machines.md describes it.',
  }),
};
