import { acceptJob, createKeySigner } from '@tollgate/journal';

import type { Devnet } from '../../tools/devnet/chain/chain.js';
import { startBenchChain } from '../bench-chain.js';
import { createBenchWallet, createTransfer } from '../jobs/bench-wallet.js';
import { openJournal, type BenchJournal } from '../jobs/open-journal.js';
import { ask, connectEndpoint } from '../jobs/send-directly.js';
import { timeToSubmitted } from '../jobs/time-to-submitted.js';
import { adoptLane, createRequest, startRunner } from '../jobs/transfer-jobs.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { timeEach } from '../load/time-each.js';
import { runRounds, type Sample } from '../run-rounds.js';
import { withCleanup } from '../with-cleanup.js';

const DIRECT = 'direct send';

/** The time from a job's acceptance until a node has its transaction and the lane has reported it. */
export function runJobLatencyLane({ rounds, quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const chain = keep(await startBenchChain());
    const store = keep(await openJournal());
    const count = quick ? 100 : 400;
    const cases = [1, 16].map((atOnce) => ({
      name: `${atOnce} at a time`,
      baseline: DIRECT,
      subjects: [
        { name: DIRECT, measure: () => sendDirectly(chain, { count, atOnce }) },
        { name: 'accepted to submitted', measure: () => accept(chain, store, { count, atOnce }) },
      ],
    }));
    return {
      lane: 'job-latency',
      title: "from a job's acceptance to transactionSubmitted, automine, appendfsync always",
      baseline: DIRECT,
      rows: await runRounds(cases, rounds, progress),
      notes: [`${DIRECT}: the nonce is known; signed, sent, and the hash in hand.`],
    };
  });
}

interface Load {
  count: number;
  atOnce: number;
}

async function sendDirectly({ rpcUrl, chainId }: Devnet, { count, atOnce }: Load): Promise<Sample> {
  const signer = createKeySigner((await createBenchWallet(rpcUrl)).privateKey);
  const rpc = connectEndpoint({ rpcUrl, chainId });
  let next = 0;
  const send = async (nonce: number): Promise<unknown> =>
    ask(rpc, 'eth_sendRawTransaction', [await signer.sign(createTransfer(chainId, nonce))]);
  const sample = await timeEach(atOnce, () => (next < count ? send(next++) : undefined));
  await rpc.close();
  return sample;
}

async function accept(chain: Devnet, { journal, server }: BenchJournal, load: Load): Promise<Sample> {
  const { rpcUrl, chainId } = chain;
  const wallet = await createBenchWallet(rpcUrl);
  const lane = await adoptLane(journal, chainId, wallet);
  const { runner, stop } = startRunner({ journal, rpcUrl, chainId, wallet });
  const submit = async (): Promise<string> => {
    const result = await acceptJob({ journal, queue: runner }, createRequest(lane));
    if (result.outcome !== 'accepted') throw new Error(`a job was not accepted: ${JSON.stringify(result)}`);
    return result.jobId;
  };
  try {
    // The first finds the lane not held yet.
    await timeToSubmitted({ redisUrl: server.url, lane, count: 1, atOnce: 1, submit });
    return await timeToSubmitted({ redisUrl: server.url, lane, ...load, submit });
  } finally {
    await stop();
  }
}
