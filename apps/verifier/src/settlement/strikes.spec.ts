import { connect } from 'node:net';

import { type Hex, signedAmountOf, type SignedAuthorization } from '@tollgate/protocol';
import { nameSettlement, SettlementRecords, Strikes } from '@tollgate/settlement';
import { Redis } from 'ioredis';

import { startRpcProxy, type RpcCall, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';
import { burnsAfter, useBurningWallets } from '../../test/use-burning-wallets.js';

type Asked = RpcCall & { id: number };

describe('a payer whose payments fail on the chain only', () => {
  const { fixture, readHead, createWallet, createApproved, signFor, signPermitFor, verify, settle, readSent } =
    useBurningWallets();
  /** A block number that these tests do not reach. */
  const FAR = 1_000_000;

  beforeAll(() => fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '0' }));

  // Prevents: a wallet that distinguishes a simulation from a block burns the relayer's gas at the cost of a signature
  // each time.
  it('costs the relayer five transactions at most, and no other payer is affected', async () => {
    const from = await createWallet('0x00');
    const before = await readSent();
    for (let turn = 0; turn < 8; turn++) {
      await fixture().rpc('anvil_setCode', [from, burnsAfter(await readHead())]);
      expect(await settle(await signFor(from))).toMatchObject({ outcome: 'failed' });
    }
    expect(await readSent()).toBe(before + 5);
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
  });

  // Prevents: the resource is produced for each of its payments, of which none is ever settled.
  it('is refused when it is verified, before a resource is produced for it', async () => {
    const from = await createApproved(FAR);
    expect(await verify(await signFor(from))).toMatchObject({ outcome: 'valid' });
    expect(await verify(await signPermitFor(from))).toMatchObject({ outcome: 'valid' });
    for (let turn = 0; turn < 5; turn++) {
      await fixture().rpc('anvil_setCode', [from, burnsAfter(await readHead())]);
      expect(await settle(await signFor(from))).toMatchObject({ outcome: 'failed' });
    }
    await fixture().rpc('anvil_setCode', [from, burnsAfter(FAR)]);
    const refused = { outcome: 'refused', failure: 'settlement_failed' };
    expect(await verify(await signFor(from))).toMatchObject(refused);
    expect(await verify(await signPermitFor(from))).toMatchObject(refused);
    expect(await verify(await fixture().sign())).toMatchObject({ outcome: 'valid' });
  });

  // Prevents: the resource is made again for a payment whose transaction has failed, where no gateway waited for that result.
  it('is refused when it shows a payment that has failed before', async () => {
    const redis = new Redis(fixture().redis.url);
    const strikes = new Strikes(redis, fixture().chain.chainId);
    const records = new SettlementRecords(redis);
    const from = await createWallet(burnsAfter((await readHead()) + 1));
    const payment = await signFor(from);
    const name = nameSettlement(fixture().createRequest(payment).terms, payment, signedAmountOf(payment));
    await fixture().rpc('evm_setAutomine', [false]);
    const settling = settle(payment);
    await waitFor('the transaction in the pool', async () => {
      const pending = (await fixture().rpc('eth_getBlockByNumber', ['pending', false])) as { transactions: Hex[] };
      return pending.transactions.length > 0;
    });
    const jobId = (await records.find(name))!;
    await fixture().rpc('evm_setAutomine', [true]);
    await fixture().rpc('evm_mine');
    expect(await settling).toMatchObject({ outcome: 'failed' });
    for (let strike = 1; strike < 5; strike++) await strikes.note(from);
    // An answered failure deletes the record of the payment's job. It is written again, as if no gateway had waited for the answer.
    await records.claim([{ name, questionId: 'another', keptMs: 60_000 }], jobId);
    await fixture().rpc('anvil_setCode', [from, burnsAfter(FAR)]);
    expect(await verify(payment)).toMatchObject({ outcome: 'refused', failure: 'settlement_failed' });
    redis.disconnect();
  });
});

describe('a payer whose payments fail, behind an RPC server that lags behind', () => {
  const { fixture, readHead, createWallet, signFor, settle, readSent } = useBurningWallets();
  let proxy: RpcProxy;

  beforeAll(async () => {
    proxy = await startRpcProxy(fixture().chain.rpcUrl);
    await fixture().startVerifier({ RPC_URL: proxy.rpcUrl, CONTRACT_WALLET_BURNS_PER_CODE: '0' });
  });

  afterAll(() => proxy.stop());

  // Prevents: the failure counts against no payer, because the server that is asked for the reason shows it too late.
  it('costs the relayer five transactions at most', async () => {
    const seen = new Set<unknown>();
    // The relayer asks for receipts alone.
    proxy.intercept('*', async (asked, forward) => {
      const calls = [asked as Asked | Asked[]].flat();
      const looked = calls.find(({ method }) => method === 'eth_getTransactionByHash')?.params[0];
      const body = await forward();
      if (looked === undefined || seen.has(looked)) return { body };
      seen.add(looked);
      const hidden = new Set(calls.filter(({ params }) => params[0] === looked).map(({ id }) => id));
      const answers = JSON.parse(body) as { id: number }[];
      return { body: JSON.stringify(answers.map((each) => (hidden.has(each.id) ? { ...each, result: null } : each))) };
    });
    const from = await createWallet('0x00');
    const before = await readSent();
    for (let turn = 0; turn < 6; turn++) {
      await fixture().rpc('anvil_setCode', [from, burnsAfter(await readHead())]);
      expect(await settle(await signFor(from))).toMatchObject({ outcome: 'failed' });
    }
    expect(await readSent()).toBe(before + 5);
    expect(seen.size).toBe(5);
  });
});

describe('verifying the payments of a payer for whom nothing is sent any more', () => {
  let fixture: SettlementFixture;
  let proxy: RpcProxy;
  let redis: Redis;

  beforeEach(async () => {
    fixture = await SettlementFixture.start();
    proxy = await startRpcProxy(fixture.chain.rpcUrl);
    redis = new Redis(fixture.redis.url);
    await fixture.startVerifier({ RPC_URL: proxy.rpcUrl });
  });

  afterEach(async () => {
    redis.disconnect();
    await fixture.stop();
    await proxy.stop();
  });

  async function bar(payer: Hex): Promise<void> {
    const strikes = new Strikes(redis, fixture.chain.chainId);
    for (let turn = 0; turn < 5; turn++) await strikes.note(payer);
  }

  // Prevents: a payment that was settled is answered as failed, and its payer signs another one.
  it('refuses none that is settled already, of which the RPC server has not seen the block', async () => {
    const before = await fixture.rpc('eth_blockNumber');
    const payment = await fixture.sign();
    expect(await fixture.settle(payment)).toMatchObject({ outcome: 'settled' });
    await bar(payment.authorization.from);
    proxy.intercept('*', async (asked) => {
      const calls = [asked as Asked | Asked[]].flat();
      const answer = async ({ id, method, params }: Asked) => {
        const past = params.map((param) => (param === 'latest' ? before : param));
        const result = method === 'eth_blockNumber' ? before : await callRpc(fixture.chain.rpcUrl, method, past);
        return { jsonrpc: '2.0', id, result };
      };
      const answers = await Promise.all(calls.map(answer));
      return { body: JSON.stringify(Array.isArray(asked) ? answers : answers[0]) };
    });
    const verify = (shown: SignedAuthorization) => fixture.verify(shown, fixture.createRequest(shown).terms);
    expect(await verify(payment)).toMatchObject({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    expect(await verify(await fixture.sign())).toMatchObject({ outcome: 'refused', failure: 'settlement_failed' });
    proxy.reset();
    expect(await verify(payment)).toMatchObject({ outcome: 'valid' });
  });

  // Prevents: each signed payment takes a round trip to Redis longer than the chain does.
  it('looks for failures while the chain is asked', async () => {
    const payment = await fixture.sign();
    // A plain connection: ioredis takes a first line that arrives with the OK of MONITOR for another reply.
    const { hostname, port } = new URL(fixture.redis.url);
    const monitor = connect(Number(port), hostname).setEncoding('utf8');
    let heard = '';
    const hear = (words: string) =>
      new Promise<void>((resolve) => {
        monitor.on('data', (text: string) => {
          heard += text;
          if (heard.includes(words)) resolve();
        });
      });
    monitor.write('MONITOR\r\n');
    await hear('+OK');
    const isLookedUp = hear(`burnt-${fixture.chain.chainId}:${payment.authorization.from}`);
    proxy.intercept('*', async (_asked, forward) => {
      await isLookedUp;
      return { body: await forward() };
    });
    const verdict = await fixture.verify(payment, fixture.createRequest(payment).terms);
    monitor.destroy();
    expect(verdict).toMatchObject({ outcome: 'valid' });
  });
});
