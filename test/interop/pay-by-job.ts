import { randomBytes } from 'node:crypto';

import { Chain, createKeySigner, createLaneId, isOpen, Journal, LaneRunner } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { createPayingWallet } from '../../apps/agent-worker/test/paying-lane.js';
import { readAnswer } from '../../apps/agent-worker/test/payment-fixture.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import { waitFor } from '../harness/retry.js';
import { MPP_ROUTES, SERVERS } from './matrix.js';
import { PRICE, type Rig } from './rig/start-rig.js';
import { watchMoney } from './rig/watch-money.js';

/** A wallet without coins for gas, and its lane of jobs. */
async function startLane({ chain: { rpcUrl, chainId, ...chain }, stack }: Rig) {
  const redis = new Redis(stack.redis.url);
  const journal = new Journal({ redis });
  await journal.open();
  const signer = createKeySigner(`0x${randomBytes(32).toString('hex')}`);
  const { address } = signer;
  const lane = createLaneId(chainId, address);
  await transferTokens({ rpcUrl, ...chain }, { to: address, amountBaseUnits: 1_000_000n });
  await journal.adopt(lane, { pendingNonce: 0 });
  const connection = new Chain({ chainId, rpcUrls: [rpcUrl] });
  const { wallet: planner, payments } = createPayingWallet({ rpcUrl, address, journal });
  const troubles: unknown[] = [];
  const runner = new LaneRunner({
    journal,
    chain: connection,
    signer,
    planner,
    judgeStep: planner.judgeStep,
    owner: 'interop',
    settings: { pollMs: 50 },
    onTrouble: (error) => troubles.push(error),
  });
  runner.start();
  return {
    address,
    buy: async (url: string) => {
      const idempotencyKey = randomBytes(8).toString('hex');
      const request = { lane, wallet: 'main', keyId: 'key-1', fingerprint: 'print', idempotencyKey };
      const submitted = await journal.submit({ ...request, operation: 'payment', input: { url } });
      if (submitted.outcome !== 'accepted') throw new Error(`not accepted: ${submitted.outcome}`);
      runner.wake(submitted.jobId);
      const read = async () => (await journal.readJob(submitted.jobId))!;
      await waitFor('the job ends', async () => !isOpen((await read()).state));
      return read();
    },
    stop: async () => {
      await runner.stop();
      await payments.stop();
      await connection.close();
      redis.disconnect();
      expect(troubles).toEqual([]);
    },
  };
}

/** Jobs of the agent worker, at every published middleware. */
export function describePayingByJob(rig: () => Rig): void {
  describe('a payment job', () => {
    let lane: Awaited<ReturnType<typeof startLane>>;

    beforeAll(async () => {
      lane = await startLane(rig());
    });

    afterAll(() => lane.stop());

    const expectPaid = async (url: string) => {
      const accounts = { payer: lane.address, payTo: rig().seller };
      const { result: job, moved } = await watchMoney(rig().chain, accounts, () => lane.buy(url));
      expect(job).toMatchObject({ state: 'FINAL', failure: null, steps: [{ nonce: null, signature: { number: 1 } }] });
      expect(readAnswer(job)).toMatchObject({ httpStatus: 200, body: expect.stringContaining('SEI') as string });
      expect(moved).toEqual({ payer: -PRICE, payTo: PRICE });
    };

    it.each(SERVERS)('pays $packageName$prefix without a transaction of its own', async ({ name, prefix }) => {
      await expectPaid(`${(await rig().server(name)).url}${prefix}/quote`);
    });

    it.each(MPP_ROUTES)('pays $packageName that asks by $asks, in the same way', async ({ prefix }) => {
      await expectPaid(`${(await rig().server('mppx')).url}${prefix}/quote`);
    });
  });
}
