import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Chain, createKeySigner, createLaneId, Journal, LaneRunner, type LaneId } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { privateKeyToAddress } from 'viem/accounts';

import type { Devnet, DevnetAccount } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { startRedis } from '../../tools/devnet/processes/redis.js';
import { startBenchChain } from '../chain.js';
import {
  createJavaScriptSigner,
  sendAndReadReceipts,
  sendDirectly,
  sendNaively,
  sendPipelined,
  TRANSFER,
} from '../direct-senders.js';
import { noteProgress } from '../fail-when-stalled.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { summarize, timeEach } from '../load.js';
import { watchProcessors } from '../process-usage.js';
import { formatNumber } from '../report.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import { readRedisPid } from '../tollgate.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

const BASELINE = 'pipelined, no journal';
const IN_JAVASCRIPT = 'pipelined, signs in JavaScript';
const NAIVE = 'naive loop';
const OURS = 'tollgate';
const SUBMITTED_AT_ONCE = 200;
/** A real chain is looked at less often, and its nodes keep fewer transactions of one account. */
const RUNNER_SETTINGS = { pollMs: 20, maxInFlight: 4096, jobsAtOnce: 128 };

interface Counts {
  naive: number;
  others: number;
}

/** Transfers from one wallet until each is mined; for Tollgate until each job has ended and its end is on disk. */
export function runJobsLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const cases: Case[] = [];
    for (const [name, blockTime, counts] of [
      ['automine', {}, quick ? { naive: 100, others: 1000 } : { naive: 300, others: 4000 }],
      ['1 s blocks', { blockTimeSeconds: 1 }, quick ? { naive: 2, others: 2000 } : { naive: 4, others: 6000 }],
    ] as const) {
      progress(`starting a chain with ${name}`);
      cases.push(await createCase(name, keep(await startBenchChain(blockTime)), counts, keep));
    }
    const rows = await runRounds(cases, rounds, progress);
    return {
      lane: 'jobs',
      title: 'transactions a second from one wallet, one process, appendfsync always',
      baseline: BASELINE,
      rows,
      notes: cases.map(({ name }) => {
        const rate = (subject: string) => rows.find((row) => row.case === name && row.subject === subject)?.perSecond;
        return `${name}: ${formatNumber((rate(OURS) ?? NaN) / (rate(NAIVE) ?? NaN))} times the naive loop.`;
      }),
    };
  });
}

async function createCase(name: string, chain: Devnet, counts: Counts, keep: KeepUntilEnd): Promise<Case> {
  const { url } = keep(await startRedis());
  const redis = new Redis(url);
  keep({ stop: async () => redis.disconnect() });
  // On a busy machine a whole batch may wait; it is measured, not given up.
  const journal = new Journal({ redis, timeoutMs: 30_000, maxOpenJobs: 100_000 });
  await journal.open();
  const roles = { sender: [process.pid], redis: [await readRedisPid(url)], chain: [chain.pid] };
  const subject = (
    own: string,
    send: (wallet: DevnetAccount) => Promise<Sample>,
    prepare: (wallet: DevnetAccount) => Promise<void> = () => Promise.resolve(),
  ) => ({
    name: own,
    measure: async (): Promise<Sample> => {
      const wallet = await createWallet(chain.rpcUrl);
      await prepare(wallet);
      const readCores = watchProcessors(roles);
      const sample = await send(wallet);
      return { ...sample, detail: readCores() };
    },
  });
  const { naive, others: count } = counts;
  const createSigner = createJavaScriptSigner;
  return {
    name,
    baseline: BASELINE,
    comparedWith: [IN_JAVASCRIPT],
    subjects: [
      subject(NAIVE, (wallet) => sendDirectly(chain, sendNaively, { wallet, count: naive })),
      subject(BASELINE, (wallet) => sendDirectly(chain, sendPipelined, { wallet, count })),
      subject(IN_JAVASCRIPT, (wallet) => sendDirectly(chain, sendPipelined, { wallet, count, createSigner })),
      subject('pipelined, reads receipts', (wallet) => sendDirectly(chain, sendAndReadReceipts, { wallet, count })),
      subject(
        OURS,
        (wallet) => carryOut(chain, journal, wallet, count),
        (wallet) => submitAll(chain, journal, wallet, count),
      ),
    ],
  };
}

/** A new wallet with plenty of native coin. */
async function createWallet(rpcUrl: string): Promise<DevnetAccount> {
  const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
  const address = privateKeyToAddress(privateKey).toLowerCase() as Hex;
  await callRpc(rpcUrl, 'anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`]);
  return { privateKey, address };
}

async function submitAll(
  { chainId }: Devnet,
  journal: Journal,
  { address }: DevnetAccount,
  count: number,
): Promise<void> {
  const lane = createLaneId(chainId, address);
  await journal.adopt(lane, { pendingNonce: 0 });
  await timeEach(SUBMITTED_AT_ONCE, Array(count).keys(), () => submit(journal, lane));
}

/** Jobs that wait in the journal, until all have ended. */
async function carryOut(
  { rpcUrl, chainId }: Devnet,
  journal: Journal,
  { address, privateKey }: DevnetAccount,
  count: number,
): Promise<Sample> {
  const chain = new Chain({ chainId, rpcUrls: [rpcUrl] });
  const runner = new LaneRunner({
    journal,
    chain,
    signer: createKeySigner(privateKey),
    planner: {
      plan: () =>
        Promise.resolve({
          steps: [{ label: 'Transfer 1 wei', ...TRANSFER }],
          preview: { text: 'Transfer 1 wei' },
          floorsHash: 'none',
          needsApproval: false,
        }),
    },
    judgeStep: () => Promise.resolve({ outcome: 'done' }),
    owner: `bench-${process.pid}-${address}`,
    onTrouble: (error) => console.error(error),
    settings: RUNNER_SETTINGS,
  });
  const startedMs = performance.now();
  runner.start();
  const lane = createLaneId(chainId, address);
  let open = count;
  while (open > 0) {
    await sleep(20);
    const { openJobs } = await journal.readLane(lane);
    if (openJobs < open) noteProgress();
    open = openJobs;
  }
  const sample = summarize(count, performance.now() - startedMs, []);
  await runner.stop();
  await chain.close();
  return sample;
}

async function submit(journal: Journal, lane: LaneId): Promise<void> {
  const result = await journal.submit({
    lane,
    operation: 'transfer',
    input: { to: TRANSFER.to, amount: '0.000000000000000001' },
    wallet: 'main',
    keyId: 'bench',
    idempotencyKey: randomBytes(12).toString('hex'),
    fingerprint: 'bench',
  });
  if (result.outcome !== 'accepted') throw new Error(`a job was not accepted: ${JSON.stringify(result)}`);
}
