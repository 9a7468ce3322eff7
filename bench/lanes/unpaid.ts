import { writePaymentsFile } from '../../tools/devnet/chain/payments-file.js';
import { startTwoChains } from '../../tools/devnet/chain/two-chains.js';
import { startProgram, type Program } from '../../tools/devnet/processes/start-program.js';
import { startBenchChain } from '../chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { repeatRequest, type Target } from '../load.js';
import { startPeers, startRawFastify } from '../peers.js';
import { runRounds, type Case } from '../run-rounds.js';
import { startTollgate } from '../tollgate.js';
import { withCleanup } from '../with-cleanup.js';

const BASELINE = 'raw Fastify';
const NEST_HOOK = "Nest's bare onRequest hook";

/** Headers that Node writes by itself. */
const SERVERS_OWN = new Set(['connection', 'content-length', 'date', 'keep-alive']);

/** What Chromium sends for a page. */
const BROWSER = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'sec-fetch-dest': 'document',
};

/** The headers of the 402 carry every option. */
const SIGNED = { SIGNED_PAYMENTS: 'true' };

interface UnpaidTarget extends Target {
  headers?: Record<string, string>;
  /** 402 unless given. */
  status?: number;
}

/** The 402 that every first request gets: one gateway process beside one process of each other server. */
export function runUnpaidLane({ rounds, quick, peers, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    progress('starting the servers');
    const chain = keep(await startBenchChain());
    const { url, roles } = await startTollgate({ chain }, keep);
    const single = await startTollgate({ chain, env: SIGNED }, keep);
    const chains = keep(await startTwoChains());
    writePaymentsFile(chains.paymentsFile, chains, { isWdevOnBoth: true });
    const several = await startTollgate({ chain: chains, env: SIGNED }, keep);
    const answer = await fetch(url);
    const body = await answer.text();
    const raw = keep(await startRawFastify(body));
    const nest = keep(await startNestHook(answer, body));
    const gateway = { url, roles: { server: roles['gateway'] ?? [] } };
    const targets: UnpaidTarget[] = [
      { name: BASELINE, url: `${raw.url}/api/weather`, roles: { server: [raw.pid] } },
      { name: NEST_HOOK, url: `${nest.url}/api/weather`, roles: { server: [nest.pid] } },
      { name: 'tollgate', ...gateway },
      {
        name: 'tollgate, one option in its headers',
        url: single.url,
        roles: { server: single.roles['gateway'] ?? [] },
      },
      {
        name: 'tollgate, four options in its headers',
        url: several.url,
        roles: { server: several.roles['gateway'] ?? [] },
      },
      { name: 'tollgate, the page for a browser', ...gateway, headers: BROWSER },
      // A key with a space, which would be refused after a payment too.
      { name: 'tollgate, refused before a price', ...gateway, headers: { 'idempotency-key': 'a b' }, status: 400 },
    ];
    for (const peer of peers ? await startPeers(chain, keep, progress) : []) {
      targets.push({ name: peer.name, url: peer.url, roles: { server: peer.roles['server'] ?? [] } });
    }

    const seconds = quick ? 1 : 2;
    const measure = ({ headers = {}, status = 402, ...target }: UnpaidTarget, connections: number) =>
      repeatRequest(target, { connections, seconds, headers, status });
    for (const target of targets) {
      progress(`warming up ${target.name}`);
      await measure(target, 32);
    }
    const cases = (quick ? [32] : [1, 32, 128]).map((connections): Case => ({
      name: `${connections} connection${connections === 1 ? '' : 's'}`,
      baseline: BASELINE,
      comparedWith: [NEST_HOOK],
      subjects: targets.map((target) => ({ name: target.name, measure: () => measure(target, connections) })),
    }));
    return {
      lane: 'unpaid',
      title: 'answers 402 to a request without payment',
      baseline: BASELINE,
      rows: await runRounds(cases, rounds, progress),
      notes: [
        `Raw Fastify answers one ready-made body of ${body.length} bytes, the gateway's, without any logic; Nest's hook answers it with the gateway's headers too.`,
      ],
    };
  });
}

/** The least that a NestJS application does for a 402: it answers the gateway's bytes before Nest's own pipeline. */
function startNestHook({ headers }: Response, body: string): Promise<Program> {
  const own = [...headers].filter(([name]) => !SERVERS_OWN.has(name));
  return startProgram(['bench/programs/nest-hook.ts'], {
    ANSWER: JSON.stringify({ headers: Object.fromEntries(own), body }),
  });
}
