import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { startBenchChain } from '../bench-chain.js';
import { createBenchWallet } from '../jobs/bench-wallet.js';
import { openJournal, type BenchJournal } from '../jobs/open-journal.js';
import {
  createJavaScriptSigner,
  sendAndReadReceipts,
  sendNaively,
  sendPipelined,
  sendPresigned,
  type DirectOptions,
} from '../jobs/send-directly.js';
import { adoptLane, startRunner, submitJobs, waitUntilEnded } from '../jobs/transfer-jobs.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { summarize } from '../load/time-each.js';
import { watchProcessors } from '../process-usage.js';
import { formatNumber } from '../report.js';
import { runRounds, type Case, type Sample } from '../run-rounds.js';
import { withCleanup } from '../with-cleanup.js';

const BASELINE = 'pipelined, no journal';
const IN_JAVASCRIPT = 'pipelined, signs in JavaScript';
const WITH_RECEIPTS = 'pipelined, reads receipts';
const NAIVE = 'naive loop';
const OURS = 'tollgate';

interface Counts {
  naive: number;
  others: number;
}

/** Transfers from one wallet until each is mined; for Tollgate until each job has ended and its end is on disk. */
export function runJobsLane(options: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const { rounds, quick, progress } = options;
    const cases: Case[] = [];
    for (const [name, blockTimeSeconds, counts] of [
      ['automine', undefined, quick ? { naive: 100, others: 1000 } : { naive: 300, others: 4000 }],
      ['1 s blocks', 1, quick ? { naive: 2, others: 2000 } : { naive: 4, others: 6000 }],
    ] as const) {
      progress(`starting a chain with ${name}`);
      const chain = keep(await startBenchChain(blockTimeSeconds === undefined ? {} : { blockTimeSeconds }));
      cases.push(createCase(name, chain, await openJournal(keep), counts));
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

function createCase(name: string, chain: Devnet, store: BenchJournal, { naive, others }: Counts): Case {
  const roles = { sender: [process.pid], redis: [store.redisPid], chain: [chain.pid] };
  const direct = (send: (options: DirectOptions) => Promise<Sample>, count: number) => async (): Promise<Sample> => {
    const wallet = await createBenchWallet(chain.rpcUrl);
    const readCores = watchProcessors(roles);
    const sample = await send({ rpcUrl: chain.rpcUrl, chainId: chain.chainId, wallet, count });
    return { ...sample, detail: readCores() };
  };
  return {
    name,
    baseline: BASELINE,
    comparedWith: [IN_JAVASCRIPT],
    subjects: [
      { name: NAIVE, measure: direct(sendNaively, naive) },
      { name: BASELINE, measure: direct(sendPipelined, others) },
      {
        name: IN_JAVASCRIPT,
        measure: direct((options) => sendPipelined({ ...options, createSigner: createJavaScriptSigner }), others),
      },
      { name: WITH_RECEIPTS, measure: direct(sendAndReadReceipts, others) },
      { name: 'raw, signed before', measure: direct(sendPresigned, others) },
      { name: OURS, measure: () => carryOut(chain, store, others) },
    ],
  };
}

async function carryOut(chain: Devnet, { journal, redisPid }: BenchJournal, count: number): Promise<Sample> {
  const { rpcUrl, chainId } = chain;
  const wallet = await createBenchWallet(rpcUrl);
  const lane = await adoptLane(journal, chainId, wallet);
  await submitJobs(journal, lane, count);
  const readCores = watchProcessors({ sender: [process.pid], redis: [redisPid], chain: [chain.pid] });
  const startedMs = performance.now();
  const { stop } = startRunner({ journal, rpcUrl, chainId, wallet });
  await waitUntilEnded(journal, [lane]);
  const sample = summarize(count, performance.now() - startedMs, []);
  const detail = readCores();
  await stop();
  return { ...sample, detail };
}
