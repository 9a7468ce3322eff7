import type { ServerResponse } from 'node:http';

import { findHashLocks, matchesHashLock, type Hex } from '@tollgate/protocol';
import { createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { awaitReceipt } from '../../../../test/harness/payments/await-receipt.js';
import type { Devnet } from '../../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { listTransfers, startPaidServer } from '../../test/paid-server.js';
import {
  assetOf,
  failureOf,
  useChain,
  useMade,
  useServer,
  useTransfers,
  useWallet,
  walletOf,
} from '../../test/set-up.js';
import { createWallet } from '../account/create-wallet.js';
import type { Wallet } from '../account/wallet.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment, payForResource } from './fetch-with-payment.js';

const chain = useChain();
const server = useServer(() => startPaidServer(chain));
const store = useMade(() => new MemoryPaymentStore());

const payer = () => chain.accounts[3]!;
const wallet = useWallet(chain, payer);
const transfers = useTransfers(chain, () => payer().address);
const options = (change: Partial<PaymentOptions> = {}): PaymentOptions => ({
  assets: [assetOf(chain)],
  maxAmount: '0.001',
  store,
  ...change,
});
const payingFetch = (change: Partial<PaymentOptions> = {}) => fetchWithPayment(fetch, wallet, options(change));

describe('a successful payment', () => {
  it('requests, pays once with a hash lock, and requests again with proof and key', async () => {
    const response = await payingFetch()(server.url);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ conditions: 'Clear', number: 1 });
    const [txHash, ...more] = await transfers();
    expect(more).toEqual([]);
    const [unpaid, paid, ...others] = server.seen;
    expect(others).toEqual([]);
    expect(unpaid?.headers['x-payment']).toBeUndefined();
    expect(paid?.headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': expect.any(String) });
    expect(paid?.proof?.payload).toEqual({
      txHash,
      amount: '1000',
      from: payer().address,
      reference: expect.stringMatching(/^chain-[0-9]+-[0-9a-z]+$/),
    });
    const { input } = await chain.client.getTransaction({ hash: txHash! });
    const [locked] = findHashLocks(input);
    expect(locked).toMatchObject({ to: chain.payTo.toLowerCase(), amountBaseUnits: 1000n });
    expect(matchesHashLock(locked!.lock, paid!.proof!.payload.reference!)).toBe(true);
    expect((await store.list()).map(({ payment }) => payment.state)).toEqual(['redeemed']);
  });

  it('repeats a body byte for byte, with the content type fetch would send', async () => {
    const body = new URLSearchParams({ a: 'é', b: '2' });
    await payingFetch()(server.url, { method: 'post', body });
    expect(server.seen.map(({ method, body: sent }) => `${method} ${sent}`)).toEqual(
      Array(2).fill('POST a=%C3%A9&b=2'),
    );
    expect(server.paid()[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded;charset=UTF-8');
  });

  it('accepts a Request', async () => {
    const request = new Request(server.url, { method: 'PUT', body: 'text', headers: { 'x-own': '1' } });
    expect((await payingFetch()(request)).status).toBe(200);
    expect(server.paid()[0]).toMatchObject({ method: 'PUT', body: 'text', headers: { 'x-own': '1' } });
  });

  it("returns free answers unchanged, and leaves a caller's own proof alone", async () => {
    expect(await (await payingFetch()(`${server.origin}/free`)).text()).toBe('free');
    const own = await payingFetch()(server.url, { headers: { 'X-Payment': 'bm9uc2Vuc2U=' } });
    expect(own.headers.get('x-payment-failure')).toBe('malformed_proof');
    for (const name of ['Authorization', 'Payment-Authorization']) {
      expect((await payingFetch()(server.url, { headers: { [name]: 'Bearer x, Payment e30' } })).status).toBe(402);
    }
    expect(await transfers()).toEqual([]);
  });

  it('buys twice when called twice', async () => {
    const buy = payingFetch();
    await buy(server.url);
    expect(await (await buy(server.url)).json()).toMatchObject({ number: 2 });
    expect(await transfers()).toHaveLength(2);
  });

  it('buys once for a repeated Idempotency-Key, and gives the same answer', async () => {
    const init = { headers: { 'Idempotency-Key': 'order-1' } };
    const first = await payingFetch()(server.url, init);
    const second = await payingFetch()(server.url, init);
    expect(await second.json()).toEqual(await first.json());
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await transfers()).toHaveLength(1);
  });

  it.each<[string, string, RequestInit]>([
    ['body', '', { method: 'POST', body: '{"city":"Basel"}' }],
    ['URL', '/now', { method: 'POST', body: '{"city":"Bern"}' }],
    ['method', '', { method: 'PUT', body: '{"city":"Bern"}' }],
  ])(
    'refuses a repeated Idempotency-Key with another %s, before anything is requested',
    async (_case, path, change) => {
      const headers = { 'Idempotency-Key': 'order-1' };
      await payingFetch()(server.url, { method: 'POST', body: '{"city":"Bern"}', headers });
      const seen = server.seen.length;
      const other = failureOf(payingFetch()(server.url + path, { ...change, headers }));
      expect(await other).toMatchObject({
        code: 'idempotency_key_reused',
        details: { method: 'POST', url: server.url },
      });
      expect([(await transfers()).length, server.seen.length]).toEqual([1, seen]);
    },
  );

  it('makes one payment for two concurrent requests with one Idempotency-Key, and refuses the other', async () => {
    const buy = payingFetch();
    const outcomes = await Promise.allSettled(
      ['a', 'b'].map((body) => buy(server.url, { method: 'POST', body, headers: { 'Idempotency-Key': 'order-1' } })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'idempotency_key_reused' },
    });
    expect(await transfers()).toHaveLength(1);
  });

  it('repeats a redeemed payment although the RPC server no longer has its transaction', async () => {
    const init = { headers: { 'Idempotency-Key': 'order-2' } };
    const first = await payingFetch()(server.url, init);
    const forgetful = {
      ...walletOf(chain, payer()),
      readOutcome: () => Promise.resolve(null),
      broadcast: () => Promise.reject(new Error()),
    };
    const again = fetchWithPayment(fetch, forgetful, options({ deadlineMs: 2_000 }));
    expect(await (await again(server.url, init)).json()).toEqual(await first.json());
    expect(await transfers()).toHaveLength(1);
  });

  it('gives concurrent requests with keys of their own separate payments and nonces', async () => {
    const buy = payingFetch();
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (key) => (await buy(server.url, { headers: { 'Idempotency-Key': key } })).status),
    );
    expect(answers).toEqual([200, 200, 200, 200]);
    expect(new Set(await transfers()).size).toBe(4);
  });

  it('makes one payment for many concurrent calls of the same request', async () => {
    const buy = payingFetch();
    const answers = await Promise.all(Array.from({ length: 10 }, async () => (await buy(server.url)).text()));
    expect(new Set(answers)).toEqual(new Set(['{"conditions":"Clear","number":1}']));
    expect(await transfers()).toHaveLength(1);
  });
});

describe('a payment that is not made', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a price above the limit', { maxAmountRequired: '1001' }, 'over_limit'],
    ['another network', { network: 'chain-mainnet' }, 'no_trusted_requirement'],
    ['another asset', { asset: `0x${'11'.repeat(20)}` }, 'no_trusted_requirement'],
    ['another scheme', { scheme: 'upto' }, 'malformed_challenge'],
    ['a negative price', { maxAmountRequired: '-1' }, 'malformed_challenge'],
    ['an invalid recipient address', { payTo: 'me' }, 'malformed_challenge'],
  ])('is one for %s', async (_case, challenge, code) => {
    server.challenge = challenge;
    expect(await failureOf(payingFetch()(server.url))).toMatchObject({ code });
    expect(server.paid()).toEqual([]);
    expect(await transfers()).toEqual([]);
    expect(await store.list()).toEqual([]);
  });

  it('is one to a recipient that is not pinned', async () => {
    const pinned = { ...assetOf(chain), payTo: payer().address };
    expect(await failureOf(payingFetch({ assets: [pinned] })(server.url))).toMatchObject({
      code: 'no_trusted_requirement',
    });
  });

  it('is any payment when no asset is trusted', async () => {
    expect(await failureOf(payingFetch({ assets: [] })(server.url))).toMatchObject({ code: 'no_trusted_requirement' });
  });

  it('is the one that exceeds the total limit', async () => {
    const buy = payingFetch({ maxTotal: '0.0019' });
    await buy(server.url);
    expect(await failureOf(buy(server.url))).toMatchObject({ code: 'over_limit' });
    expect(await transfers()).toHaveLength(1);
  });

  it('is one from an empty wallet; the next call may pay', async () => {
    const poor = walletOf(chain, { privateKey: `0x${'42'.repeat(32)}` });
    const failure = await failureOf(fetchWithPayment(fetch, poor, options())(server.url));
    expect(failure).toMatchObject({ code: 'cannot_pay', hint: expect.any(String) });
    expect((await payingFetch()(server.url)).status).toBe(200);
  });

  it('is one over an RPC endpoint of another chain', async () => {
    const lost = createWallet({ account: payer().privateKey, rpcUrl: chain.rpcUrl, chainId: 1 });
    const trusted = { ...assetOf(chain), chainId: 1 };
    const failure = await failureOf(fetchWithPayment(fetch, lost, options({ assets: [trusted] }))(server.url));
    expect(failure).toMatchObject({ code: 'wrong_chain' });
  });

  it('is one with a body that can be sent only once, refused before anything is sent', async () => {
    const form = new FormData();
    for (const body of [new Blob(['x']).stream(), form]) {
      const init = { method: 'POST', body, duplex: 'half' } as RequestInit;
      expect(await failureOf(payingFetch()(server.url, init))).toMatchObject({ code: 'body_not_replayable' });
    }
    expect(server.seen).toEqual([]);
  });

  it('is one of an aborted call', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    expect(await failureOf(payingFetch()(server.url, { signal }))).toMatchObject({ message: 'enough' });
    expect(await transfers()).toEqual([]);
  });

  it('is one for a free resource, with the documented message', async () => {
    const failure = await failureOf(payForResource(`${server.origin}/free`, wallet, options()));
    expect(failure).toMatchObject({ code: 'expected_402', message: 'Expected 402 Payment Required, got 200' });
  });
});

describe('a payment that is made but not accepted', () => {
  it('is never followed by another; it stays and is presented again', async () => {
    const used = () => (response: ServerResponse) => {
      response.writeHead(402, { 'X-Payment-Failure': 'amount_too_low' });
      response.end(JSON.stringify({ x402Version: 1, accepts: [] }));
      return true;
    };
    server.interfere = [used(), used()];
    const first = await failureOf(payingFetch()(server.url));
    expect(first).toMatchObject({
      name: 'PaymentNotAcceptedError',
      code: 'payment_not_accepted',
      failure: 'amount_too_low',
    });
    const second = await failureOf(payingFetch()(server.url));
    expect(second).toMatchObject({ txHash: first['txHash'] });
    expect((await payingFetch()(server.url)).status).toBe(200);
    expect(await transfers()).toEqual([first['txHash']]);
    expect(server.seen.filter(({ proof }) => !proof)).toHaveLength(1);
  });

  it('that is refunded is presented once, and the error says what that means', async () => {
    server.interfere = [
      (response: ServerResponse) => {
        response.writeHead(402, { 'X-Payment-Failure': 'payment_refunded', 'Retry-After': '0' });
        response.end(JSON.stringify({ x402Version: 1, accepts: [] }));
        return true;
      },
    ];
    const error = await failureOf(payingFetch()(server.url));
    expect(error).toMatchObject({ code: 'payment_not_accepted', failure: 'payment_refunded' });
    expect(error['hint']).toMatch(/buys nothing any more. Abandon it/);
    expect(server.seen.filter(({ proof }) => proof)).toHaveLength(1);
  });

  /** A wallet whose account is emptied between the signature and the first sending, and what undoes that. */
  async function robWallet(owner: Devnet['accounts'][number]) {
    const thief = chain.accounts[6]!;
    const act = (key: Hex) => createWalletClient({ account: privateKeyToAccount(key), transport: http(chain.rpcUrl) });
    const token = { address: chain.asset, abi: erc20Abi, chain: null } as const;
    const reader = chain.client;
    const balance = await reader.readContract({ ...token, functionName: 'balanceOf', args: [owner.address] });
    const wait = (hash: Hex) => awaitReceipt(reader, hash);
    await wait(
      await act(owner.privateKey).writeContract({ ...token, functionName: 'approve', args: [thief.address, balance] }),
    );
    const snapshot = await callRpc(chain.rpcUrl, 'evm_snapshot');
    const honest = walletOf(chain, owner);
    let robbing: Promise<unknown> | undefined;
    const robbed: Wallet = {
      address: honest.address,
      chainId: honest.chainId,
      inTurn: (work) => honest.inTurn(work),
      sign: (call) => honest.sign(call),
      readOutcome: (txHash) => honest.readOutcome(txHash),
      readNonceUse: (from, nonce) => honest.readNonceUse(from, nonce),
      broadcast: async (transaction) => {
        robbing ??= act(thief.privateKey)
          .writeContract({ ...token, functionName: 'transferFrom', args: [owner.address, thief.address, balance] })
          .then(wait);
        await robbing;
        await honest.broadcast(transaction);
      },
    };
    return { robbed, reorganise: () => callRpc(chain.rpcUrl, 'evm_revert', [snapshot]) };
  }

  it('that reverted is paid anew after a final block contains it: the error says so', async () => {
    const { robbed } = await robWallet(chain.accounts[5]!);
    const buy = () => failureOf(fetchWithPayment(fetch, robbed, options())(server.url));
    for (let call = 0; call < 2; call += 1) {
      expect(await buy()).toMatchObject({ code: 'payment_pending', message: expect.stringContaining('not final yet') });
      expect((await store.list()).map(({ payment }) => payment.state)).toEqual(['signed']);
    }
    await callRpc(chain.rpcUrl, 'anvil_mine', ['0x80']);
    expect(await buy()).toMatchObject({ code: 'transaction_failed' });
    expect(server.paid()).toEqual([]);
    expect((await payingFetch()(server.url)).status).toBe(200);
  });

  it('that reverted in a block that is gone is sent again, and no other one is made', async () => {
    const owner = chain.accounts[7]!;
    const { robbed, reorganise } = await robWallet(owner);
    await failureOf(fetchWithPayment(fetch, robbed, options())(server.url));
    await reorganise();
    const [{ payment } = { payment: null }] = await store.list();
    expect((await fetchWithPayment(fetch, robbed, options())(server.url)).status).toBe(200);
    expect(await listTransfers(chain, owner.address)).toEqual([payment?.transaction?.txHash]);
  });
});
