import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startChain } from '../../tools/devnet/chain/chain.js';
import { repositoryRoot } from '../../tools/devnet/processes/repository.js';
import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { waitForStopRequest } from '../../tools/devnet/processes/stop-request.js';
import { createOperatorKey } from '../../tools/devnet/stack/create-operator-key.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { startUpstream } from '../flows/start-upstream.js';
import { connectOperator, type AskOperator } from '../harness/agents/operator-client.js';
import { startBalancedClient } from '../harness/network/balanced-client.js';
import { createRandom } from '../harness/random.js';
import { planAgentJobs } from '../proofs/plan-agent-jobs.js';
import { buildCommit } from './build-commit.mjs';
import { judgeLoad } from './judge-load.js';
import { createRecord, startLoad, type LoadOptions, type LoadRecord } from './load.js';

export interface UpgradeTestOptions {
  commit: string;
  /** Load between two replacements. */
  seconds: number;
}

interface Version {
  name: string;
  checkout: string;
}

interface Run extends LoadOptions {
  stack: Stack;
  askBook: AskOperator;
  seconds: number;
  signal: AbortSignal;
  say: (line: string) => void;
}

const WALLETS = ['north', 'south'];
const PLANNED_JOBS = 5_000;
const SHOWN_FAULTS = 20;
const ROUTES = `routes:
  - { path: /v1/quotes/:symbol, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /v1/first/:symbol, price: "0.001", settle: before, upstream: "\${UPSTREAM}" }
`;

/** Replaces the services of a commit by those of this checkout and back, under load. Resolves with the exit code. */
export async function runUpgradeTest({ commit, seconds }: UpgradeTestOptions): Promise<number> {
  const abort = new AbortController();
  void waitForStopRequest().then((reason) => {
    console.log(`\n${reason}: stopping…`);
    abort.abort();
  });
  // The build has reported its error itself.
  const old = await buildCommit(repositoryRoot(), commit).catch(() => null);
  if (!old) return 1;
  const cleanups: (() => Promise<unknown>)[] = [() => old.remove()];
  try {
    abort.signal.throwIfAborted();
    const run = await startRun(old.checkout, cleanups, { seconds, signal: abort.signal });
    const versions = { old: { name: old.id, checkout: old.checkout }, now: { name: 'this folder', checkout: '.' } };
    const faults = await upgradeAndReturn(run, versions);
    showOutcome(faults, run.stack);
    return faults.length === 0 ? 0 : 1;
  } catch (error) {
    if (!abort.signal.aborted) console.error(error instanceof Error ? error.message : error);
    return abort.signal.aborted ? 130 : 1;
  } finally {
    console.log('stopping the processes and removing the worktree');
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

function showOutcome(faults: readonly string[], stack: Stack): void {
  if (faults.length === 0) {
    console.log(
      '\nPassed: every payment was served, none was charged twice, no job was sent twice, and the book has it all.',
    );
    return;
  }
  console.log(`\nThe services' last lines:\n${stack.logs()}\n`);
  for (const fault of faults.slice(0, SHOWN_FAULTS)) console.log(`FAULT: ${fault}`);
  console.log(
    `\nFailed: ${faults.length} faults${faults.length > SHOWN_FAULTS ? `, the first ${SHOWN_FAULTS} shown` : ''}.`,
  );
}

/** Starts the stack of old services, and everything that the load needs. */
async function startRun(
  checkout: string,
  cleanups: (() => Promise<unknown>)[],
  { seconds, signal }: Pick<Run, 'seconds' | 'signal'>,
): Promise<Run> {
  const keep = <Part extends { stop(): Promise<unknown> }>(part: Part): Part => {
    cleanups.push(() => part.stop());
    signal.throwIfAborted();
    return part;
  };
  const startedAtMs = Date.now();
  const say = (line: string) => console.log(`${((Date.now() - startedAtMs) / 1000).toFixed(0).padStart(4)} s  ${line}`);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-upgrade-'));
  cleanups.push(async () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'routes.yaml'), ROUTES);

  say('starting a chain with protocols');
  const chain = keep(await startChain({ protocols: true, blockTimeSeconds: 1 }));
  let sold = 0;
  const upstream = keep(await startUpstream((_, response) => response.end(`answer ${(sold += 1)}`)));
  say('starting the old services');
  const stack = keep(
    await startStack({
      chain,
      checkout,
      gateways: 2,
      verifiers: 2,
      agentWorkers: 2,
      agentWallets: Object.fromEntries(WALLETS.map((name) => [name, {}])),
      book: { folder: join(folder, 'book'), signingKey: randomBytes(32).toString('hex') },
      serviceEnv: { bookkeeper: { RECONCILE_GRACE_SECONDS: '5', OPERATOR_RATE_LIMIT_PER_MINUTE: '0' } },
      env: {
        ROUTES_FILE: join(folder, 'routes.yaml'),
        UPSTREAM: upstream.url,
        SIGNED_PAYMENTS: 'true',
        // The clients' balancer polls readiness every 100 ms.
        DRAIN_MS: '1000',
        LANE_POLL_MS: '100',
      },
      onReady: (part) => say(`${part} is ready`),
    }),
  );
  const client = startBalancedClient(stack.gateways.map(({ url }) => url));
  cleanups.push(async () => client.stop());
  const { token } = await stack.agents!.createApiKey(['submit', 'read']);
  const random = createRandom(1);
  const plannedJobs = planAgentJobs(chain, { count: PLANNED_JOBS, wallets: WALLETS, random });
  const askBook = connectOperator(stack.bookkeeper!.url, await createOperatorKey(stack.redis.url));
  return { stack, chain, client, token, plannedJobs, askBook, record: createRecord(), seconds, signal, say };
}

/**
 * The bookkeeper first, which books what the others report; then workers before gateways, gateways before verifiers. The
 * way back is the reverse, without the bookkeeper: it may have changed its tables.
 */
async function upgradeAndReturn(run: Run, { old, now }: { old: Version; now: Version }): Promise<string[]> {
  const { bookkeeper, agentWorkers, gateways, verifiers } = run.stack;
  const services = [...agentWorkers, ...gateways, ...verifiers];
  run.say(`upgrade under load: ${old.name} -> ${now.name}`);
  const faults = await replaceUnderLoad(run, [bookkeeper!, ...services], now);
  run.say(`and back: ${now.name} -> ${old.name}`);
  return [...faults, ...(await replaceUnderLoad(run, services.reverse(), old))];
}

async function replaceUnderLoad(run: Run, services: readonly ServiceProcess[], to: Version): Promise<string[]> {
  const { client, record, seconds, signal, say } = run;
  const load = startLoad(run);
  try {
    await sleep(seconds * 1000, undefined, { signal });
    for (const service of services) {
      const stoppedAtMs = Date.now();
      const { code } = await service.kill('SIGTERM', 60_000);
      if (code !== 0) record.failures.push(`${service.name} ended with exit code ${code} on SIGTERM`);
      await service.restart({}, to.checkout);
      await client.untilAllReady();
      const tookSeconds = ((Date.now() - stoppedAtMs) / 1000).toFixed(1);
      say(`${service.name} is now ${to.name}, after ${tookSeconds} s. ${summarize(record)}`);
      await sleep(seconds * 1000, undefined, { signal });
    }
  } finally {
    await load.stop();
  }
  say(`load stopped. ${summarize(record)}; comparing with the journal and the chain`);
  const { failures, charges, answers, failedJobs, jobs, book } = await judgeLoad(run);
  const faults = [...failures, ...charges, ...answers, ...failedJobs, ...jobs, ...book];
  say(`${faults.length} faults`);
  // Each direction reports its own results.
  record.failures = [];
  return faults;
}

function summarize({ prices, purchases, jobs, retries }: LoadRecord): string {
  const count = (kind: string) => purchases.filter((purchase) => purchase.kind === kind).length;
  return `So far ${prices} prices, ${count('signed')} signed payments, ${count('by hash') + count('by bare hash')} by hash, ${jobs.length} jobs, ${retries.length} retries`;
}
