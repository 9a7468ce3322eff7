import { parseArgs } from 'node:util';

import { LANES, type LaneName } from './lanes/run-lane.js';

export interface BenchOptions {
  lanes: LaneName[];
  rounds: number;
  quick: boolean;
  peers: boolean;
  /** Writes CPU profiles of each lane's processes. */
  profile: boolean;
  /** The checkout to compare with; null: measure this one alone. */
  against: string | null;
  output: string;
}

export const HELP = `npm run bench -- [options]

Measures Tollgate beside other servers on this machine: in one run, in interleaved rounds; prints medians and ratios and
writes them to a JSON file. Nothing here is a test: no figure fails the run.

  --lane <name>     only this lane; may be given several times:
                      unpaid     402 answers, beside raw Fastify and the published servers
                      paid       paid answers, beside one process without the queue and the published servers
                      distant    the same with the chain's RPC 50 ms away
                      signed     answers paid by EIP-3009 authorizations, beside the published servers, RPC local and 50 ms away
                      ledger     the ledger only, beside a bare SET NX
                      redis      paid answers with a replica that must acknowledge and with a cluster
                      book       paid answers with the book on and off, what a bookkeeper takes in, and when a refund has its job
                      transport  the verify queue only, beside other transports
                      jobs       transactions a second from one wallet, beside senders without a journal
  --rounds <n>      rounds to take the median of (default 5)
  --quick           one short round: does it run?
  --no-peers        without the published servers (nothing is installed)
  --profile         also writes CPU profiles of each lane's gateway, verifier and of the load (jobs: the worker), as
                    .cpuprofile in <lane>/ beside the JSON, for Chrome DevTools; the figures are then too low
  --against <path>  runs each lane in turn in that checkout (old) and in this one (new), old first and last, without the
                    published servers; prints new/old, and between which ratios old differs from old
  --output <file>   where the JSON goes (default bench/results/<time>.json)
  --help            this text

Example: npm run bench -- --quick --lane unpaid --no-peers
`;

/** Reads the command line; throws an error that says what to correct. Null if the help was asked for. */
export function parseOptions(args: string[]): BenchOptions | null {
  const { values } = parseArgs({
    args,
    options: {
      lane: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'no-peers': { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      against: { type: 'string' },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number of at least 1');
  return {
    lanes: (values.lane ?? LANES).map(parseLane),
    rounds,
    quick: values.quick,
    peers: !values['no-peers'],
    profile: values.profile,
    against: values.against ?? null,
    output: values.output ?? `bench/results/${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`,
  };
}

function parseLane(name: string): LaneName {
  const lane = LANES.find((known) => known === name);
  if (!lane) throw new Error(`unknown lane ${name}; choose from ${LANES.join(', ')}`);
  return lane;
}
