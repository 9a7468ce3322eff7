import { setTimeout as sleep } from 'node:timers/promises';

import type { Hex } from '@tollgate/protocol';

import { encodeTransfer } from '../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { mineReceiptBomb } from '../harness/chain/mine-receipt-bomb.js';
import { createProof, outcomeOf, payLocked } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';

// The chain writes and the verifier reads hundreds of megabytes, which is slow on a busy machine.
jest.setTimeout(400_000);

const CONNECTIONS = 32;
const HONEST_PAYMENTS = 20;
const PRICE = 1000n;
/** Its receipt has some 13 MB. */
const BOMB_LOGS = 36_000;
/** So long a verifier remembers that a receipt is too large. */
const TOO_LARGE_FOR_MS = 60_000;
/** Some 2 MB: longer than the limit for a receipt, and short enough that a test can mine many of them. */
const SMALL_BOMB_LOGS = 6_000;

/** Look-ups that are costly for the verifier and free for the client use up the share of one address alone. */
describe('costly look-ups', () => {
  let shop: Shop;

  beforeAll(async () => {
    // A busy machine is slow, and a repeated question would take another place to wait.
    const patience = { RECEIPT_WAIT_MS: '30000', VERIFY_DEADLINE_MS: '120000', VERIFY_RETRY_MS: '110000' };
    // The chain answers everything else late while it writes a receipt of 13 MB.
    const rpc = { RPC_TIMEOUT_MS: '60000' };
    shop = await startShop({ env: { TRUST_PROXY: '127.0.0.1', WAITING_PER_CLIENT: '1', ...patience, ...rpc } });
  });
  afterAll(() => shop?.stop());
  beforeEach(() => {
    shop.rpc.receiptsOf.length = 0;
  });

  const redeem = (proof: string, address: string, path = '/v1/quotes/A') =>
    fetch(shop.url(path), {
      headers: { 'X-Payment': proof, 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' },
    });
  const lookupsOf = (hashes: readonly Hex[]) => shop.rpc.receiptsOf.filter((hash) => hashes.includes(hash as Hex));

  /**
   * Presents the hashes again and again on many connections, from one address, until the work is done. `mostRounds`: how
   * often each hash may have been looked up anew, because its receipt is forgotten after a while.
   */
  const underAttack = async (hashes: readonly Hex[], work: () => Promise<void>) => {
    const startedMs = performance.now();
    const outcomes = new Map<string, number>();
    let isOver = false;
    const attack = async (first: number): Promise<void> => {
      for (let at = first; !isOver; at++) {
        const outcome = (await outcomeOf(redeem(createProof(hashes[at % hashes.length]!), '203.0.113.66'))).join();
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    const attackers = Array.from({ length: CONNECTIONS }, (_, index) => attack(index));
    await work().finally(() => (isOver = true));
    await Promise.all(attackers);
    return { outcomes, mostRounds: 1 + Math.floor((performance.now() - startedMs) / TOO_LARGE_FOR_MS) };
  };
  const payHonestly = async (): Promise<void> => {
    for (let index = 0; index < HONEST_PAYMENTS; index++) {
      const { proof } = await payLocked(shop.chain, shop.url('/v1/quotes/A'));
      expect(await outcomeOf(redeem(proof, `198.51.100.${index}`))).toEqual([200, null]);
    }
  };

  it('an enormous receipt, presented on 32 connections, is looked up twice at most, and every payer is served', async () => {
    const bomb = await mineReceiptBomb(shop.chain, { logs: BOMB_LOGS });
    const { outcomes, mostRounds } = await underAttack([bomb], payHonestly);
    expect([...outcomes.keys()]).toEqual(['402,receipt_too_large']);
    expect(outcomes.get('402,receipt_too_large')).toBeGreaterThan(CONNECTIONS);
    // Once in a batch with others, and once by itself.
    expect(lookupsOf([bomb]).length).toBeLessThanOrEqual(2 * mostRounds);
  });

  it('many of them use up the share of the address that presents them, and no more', async () => {
    const bombs: Hex[] = [];
    for (let count = 0; count < 24; count++) bombs.push(await mineReceiptBomb(shop.chain, { logs: SMALL_BOMB_LOGS }));
    const { outcomes, mostRounds } = await underAttack(bombs, payHonestly);
    expect(outcomes.get('503,')).toBeGreaterThan(0);
    // Up to three tries by itself, where the chain takes long to write the receipt.
    expect(lookupsOf(bombs).length).toBeLessThanOrEqual(4 * mostRounds * bombs.length);
  });

  // Prevents: a published client takes the challenge in a 402 for a request to pay, and pays twice.
  it('payers without room to wait for their receipt get a Retry-After, and are then served', async () => {
    const address = '198.51.100.200';
    const { rpcUrl, asset, accounts } = shop.chain;
    await callRpc(rpcUrl, 'evm_setAutomine', [false]);
    const hashes: Hex[] = [];
    try {
      for (const { address: from } of accounts.slice(0, 6)) {
        const data = encodeTransfer(shop.chain, { amountBaseUnits: PRICE });
        hashes.push((await callRpc(rpcUrl, 'eth_sendTransaction', [{ from, to: asset, data, gas: '0x30d40' }])) as Hex);
      }
      const sentAway: Response[] = [];
      const answers = hashes.map(async (hash) => {
        const answer = await redeem(createProof(hash), address);
        if (answer.status !== 200) sentAway.push(answer);
        return answer.status;
      });
      while (sentAway.length < 5) await sleep(20);
      expect(sentAway.map(({ status, headers }) => [status, headers.get('Retry-After')])).toEqual(
        Array(5).fill([503, '1']),
      );
      expect(await Promise.all(sentAway.map((answer) => answer.json()))).toEqual(
        Array(5).fill(expect.objectContaining({ code: 'verification_unavailable' })),
      );
      await callRpc(rpcUrl, 'evm_mine');
      expect((await Promise.all(answers)).sort()).toEqual([200, ...Array<number>(5).fill(503)]);
    } finally {
      await callRpc(rpcUrl, 'evm_setAutomine', [true]);
      await callRpc(rpcUrl, 'evm_mine');
    }
    const again = await Promise.all(hashes.map((hash) => outcomeOf(redeem(createProof(hash), address))));
    expect(again.map(([status, failure]) => [status, failure].join()).sort()).toEqual([
      ...Array<string>(5).fill('200,'),
      '402,payment_used',
    ]);
  });
});
