import type { CrashPoint } from '@tollgate/journal';

import { createPayingWallet } from '../../apps/agent-worker/test/paying-lane.js';
import type { PaymentWorkerTask } from '../../apps/agent-worker/test/payment-worker.js';
import { LaneFixture, QUICK } from '../../libs/journal/test/lane-fixture.js';
import { listTransfers } from '../../packages/client/test/paid-server.js';
import { rememberSettled, startSigningShop, type SigningShop } from '../../packages/client/test/signing-shop.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { startChild } from '../../tools/devnet/processes/child-process.js';
import { bundleProgram } from '../harness/stack/bundle-program.js';

/**
 * Before and after the signature; stored and not shown; shown and the answer not read; read and not stored; stored, and
 * the job's end told to nobody.
 */
export const POINTS: readonly CrashPoint[] = ['F4', 'F5', 'F6', 'F15', 'F17', 'F16', 'F10'];
/** At these points nothing has left the worker. */
const UNSHOWN: readonly CrashPoint[] = ['F4', 'F5', 'F6', 'F15'];
const PROCESS_WITHIN_MS = 60_000;

/** Kills a worker at each point of a job that pays by signature, and lets another go on. Returns the faults, as text. */
export async function killSignedPayments(): Promise<string[]> {
  const fixture = await LaneFixture.start();
  const shop = await startSigningShop(fixture.chain, 2);
  rememberSettled(shop);
  const faults: string[] = [];
  try {
    for (const point of POINTS) faults.push(...(await killAt(fixture, shop, point)));
  } finally {
    await fixture.endWorkers();
    await fixture.stop();
    await shop.close();
  }
  return faults;
}

async function killAt(fixture: LaneFixture, shop: SigningShop, point: CrashPoint): Promise<string[]> {
  await fixture.useNewWallet();
  const { chain, lane, journal } = fixture;
  await transferTokens(chain, { to: lane.address, amountBaseUnits: 1_000_000n });
  shop.shown.length = 0;
  const submitted = await journal.submit({ ...fixture.request(), operation: 'payment', input: { url: shop.url } });
  const jobId = 'jobId' in submitted ? submitted.jobId : '';
  await runUntilKilled(fixture, point);
  const shownBefore = shop.shown.length;
  const paying = createPayingWallet({ rpcUrl: chain.rpcUrl, address: lane.address, journal });
  fixture.startRunner(QUICK, { planner: paying.wallet, judgeStep: paying.wallet.judgeStep });
  try {
    const job = await fixture.waitForState(jobId, 'FINAL');
    const signatures = new Set(shop.shown.map(({ payment }) => payment.signature)).size;
    const keys = new Set(shop.shown.map(({ headers }) => headers['idempotency-key'])).size;
    const transfers = (await listTransfers(chain, lane.address)).length;
    const facts = {
      signatures,
      keys,
      transfers,
      answered: job.details['answer'] === undefined ? 0 : 1,
      ends: (await fixture.readEvents()).filter(({ type }) => type === 'jobCompleted').length,
    };
    const wrong = Object.entries(facts).filter(([, count]) => count !== 1);
    if (UNSHOWN.includes(point) !== (shownBefore === 0)) wrong.push(['shown before the kill', shownBefore]);
    return wrong.map(([what, count]) => `${point}: ${what} is ${count}`);
  } finally {
    await fixture.endWorkers();
    await paying.payments.stop();
  }
}

async function runUntilKilled({ chain, server, privateKey }: LaneFixture, crashAt: CrashPoint): Promise<void> {
  const { rpcUrl, chainId } = chain;
  const task: PaymentWorkerTask = {
    rpcUrl,
    chainId,
    privateKey,
    crashAt,
    settings: QUICK,
    owner: `killed at ${crashAt}`,
    redisUrl: server.url,
  };
  const worker = await startChild({
    name: task.owner,
    command: process.execPath,
    args: [await bundleProgram('apps/agent-worker/test/payment-worker.ts')],
    env: { ...process.env, TASK: JSON.stringify(task) },
  });
  try {
    await worker.waitForLine(new RegExp(`crash point ${crashAt}$`), PROCESS_WITHIN_MS);
    const { signal } = await worker.exited;
    if (signal !== 'SIGKILL') throw new Error(`the worker was to be killed at ${crashAt}, and ended by ${signal}`);
  } finally {
    await worker.end('SIGKILL');
  }
}
