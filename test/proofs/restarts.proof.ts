import { setTimeout as sleep } from 'node:timers/promises';

import type { SignedAuthorization } from '@tollgate/protocol';

import { parseOffer, presentV2 } from '../../apps/gateway/test/present-payments.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { Exit } from '../../tools/devnet/processes/child-process.js';
import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { startBalancedClient, type BalancedClient } from '../harness/network/balanced-client.js';
import { createProof } from '../harness/payments/pay.js';
import { waitFor } from '../harness/retry.js';
import { PRICE, useSignedSales } from '../harness/stack/use-signed-sales.js';
import { readRound } from './read-round.js';

jest.setTimeout(600_000);

const SETTLED_AFTER = '/v1/quotes/A';
const SETTLED_BEFORE = '/v1/first/A';
const ROUNDS = readRound().isQuick ? 2 : 5;
/** The pause between purchases of one payer: at full load the machine could not start processes. */
const PAUSE_MS = 100;

describe('two gateways and two verifiers', () => {
  const sales = useSignedSales({
    gateways: 2,
    verifiers: 2,
    env: { DRAIN_MS: '1000', SETTLE_DEADLINE_MS: '15000', LEASE_MS: '30000' },
  });
  const failures: string[] = [];
  const paid: SignedAuthorization[] = [];
  const answered = { unpaid: 0, signed: 0, transferred: 0 };
  let client: BalancedClient;
  let isOver = false;

  afterAll(() => client?.stop());

  /** One request, answered correctly; null where it failed. */
  async function ask(path: string, status: number, headers?: Record<string, string>): Promise<Response | null> {
    try {
      const answer = await client.send(path, headers);
      if (answer.status === status) return answer;
      failures.push(`${answer.status} instead of ${status}: ${await answer.text()}`);
    } catch (error) {
      failures.push(String(error));
    }
    return null;
  }

  async function askForPrices(): Promise<void> {
    while (!isOver) {
      if (await ask(SETTLED_AFTER, 402)) answered.unpaid++;
      await sleep(PAUSE_MS / 5);
    }
  }

  async function buySigned(payer: number, path: string): Promise<void> {
    while (!isOver) {
      const unpaid = await ask(path, 402);
      if (unpaid === null) continue;
      const payment = await sales().sign({}, sales().chain.accounts[payer]);
      if ((await ask(path, 200, presentV2(await parseOffer(unpaid), payment))) === null) continue;
      paid.push(payment);
      answered.signed++;
      await sleep(PAUSE_MS);
    }
  }

  async function buyByTransfer(): Promise<void> {
    const from = sales().chain.accounts.at(-1)!.address;
    while (!isOver) {
      const unpaid = await ask(SETTLED_AFTER, 402);
      if (unpaid === null) continue;
      const { reference } = await parseOffer(unpaid);
      const terms = { amountBaseUnits: BigInt(PRICE), lockReference: reference };
      const txHash = await transferTokens(sales().chain, { from, ...terms });
      if (await ask(SETTLED_AFTER, 200, { 'X-Payment': createProof(txHash, { reference }) })) answered.transferred++;
      await sleep(PAUSE_MS);
    }
  }

  /** As an orchestrator does it: SIGTERM, the end, a new process; the next one follows once that one is ready. */
  async function replace(service: ServiceProcess): Promise<void> {
    expect(await service.kill('SIGTERM', 60_000)).toEqual<Exit>({ code: 0, signal: null });
    await service.restart();
  }

  it('lose no request and no payment in rolling restarts under load', async () => {
    const { gateways, verifiers } = sales().stack;
    client = startBalancedClient(gateways.map(({ url }) => url));
    const load = [
      ...Array.from({ length: 6 }, askForPrices),
      ...[SETTLED_AFTER, SETTLED_AFTER, SETTLED_BEFORE].map((path, payer) => buySigned(payer, path)),
      buyByTransfer(),
    ];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, gateway] of gateways.entries()) {
          await Promise.all([replace(gateway), replace(verifiers[index]!)]);
          await client.untilAllReady();
        }
      }
    } finally {
      isOver = true;
      await Promise.all(load);
    }
    expect(failures).toEqual([]);
    for (const count of Object.values(answered)) expect(count).toBeGreaterThan(ROUNDS);
    const nonces = (await sales().readNewTransfers()).flatMap(({ nonce }) => nonce ?? []);
    expect(nonces.sort()).toEqual(paid.map(({ authorization }) => authorization.nonce).sort());
  });

  it('answer for a settlement that is pending when the verifiers are stopped', async () => {
    const { verifiers } = sales().stack;
    await sales().rpc('evm_setAutomine', [false]);
    const bought = (await sales().order()).send();
    await waitFor('a settlement in the pool', async () => {
      const { pending } = (await sales().rpc('txpool_status')) as { pending: string };
      return Number(pending) > 0;
    });
    const ends = verifiers.map((verifier) => verifier.kill('SIGTERM', 60_000));
    for (const { url } of verifiers) {
      await waitFor(
        'a verifier to stop',
        async () => (await fetch(`${url}/health/ready`).catch(() => null))?.status !== 200,
      );
    }
    await sales().rpc('evm_setAutomine', [true]);
    await sales().rpc('evm_mine');
    expect((await bought).status).toBe(200);
    expect(await Promise.all(ends)).toEqual<Exit[]>(Array(2).fill({ code: 0, signal: null }));
  });
});
