import { parseArgs } from 'node:util';

import { LANES, type LaneName } from './lanes/run-lane.js';

export interface BenchOptions {
  lanes: LaneName[];
  rounds: number;
  quick: boolean;
  full: boolean;
  peers: boolean;
  /** Writes flame graphs of each lane's processes. */
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
                      redis      paid answers with a replica that must acknowledge and with clusters, claims with clusters
                      book       paid answers and commits with the book on and off, what a bookkeeper takes in, and when a refund has its job
                      readings   a probe and a payment's way into the book while the whole book is read
                      transport  the verify queue only, beside other transports
                      growth     cost with 1, 2, 4 processes and with a full ledger
                      footprint  start-up time and memory of each process
                      jobs        transactions a second from one wallet, beside senders without a journal
                      job-growth  the same with 1, 2, 4 workers and 1, 8 wallets
                      job-latency from a job's acceptance to transactionSubmitted, beside sending directly
                      swap-jobs   swap jobs a second of one wallet and one token, by an agent worker process
                      job-cost    what the journal of a job costs Redis
                      reconcile   the book against a provider's logs, and the search in it, at 1,000,000 payments
  --rounds <n>      rounds to take the median of (default 5)
  --quick           one short round: does it run?
  --full            also the cases that take minutes (ten million ledger entries, 100,000 ended jobs,
                    bursts of ten minutes)
  --no-peers        without the published servers (nothing is installed)
  --profile         also writes a flame graph of each lane's gateway, verifier and of the load (jobs: the worker), as
                    <lane>-<process>.svg beside the JSON; the figures are then too low
  --against <path>  runs each lane in turn in that checkout (old) and in this one (new), old first and last, without the
                    published servers; prints new/old, and between which ratios old differs from old
  --output <file>   where the JSON goes (default bench/results/<time>.json)
  --help            this text
`;

/** Reads the command line; throws an error that says what to correct. Null if the help was asked for. */
export function parseOptions(args: string[]): BenchOptions | null {
  const { values } = parseArgs({
    args,
    options: {
      lane: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
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
    full: values.full,
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
