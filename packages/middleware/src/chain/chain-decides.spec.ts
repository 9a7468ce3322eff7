import { randomUUID } from 'node:crypto';

import { decodeJsonHeader, encodeJsonHeader, type SettleResponse, type SignedAuthorization } from '@tollgate/protocol';

import { cancelAuthorization, submitAuthorization } from '../../../../libs/verification/test/sign-authorization.js';
import { refusal, startRpcProxy, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { passTime } from '../../../../tools/devnet/protocols/pass-time.js';
import type { Shop } from '../../test/serve-fetch.js';
import { fail, isValid, startFacilitator, succeed, type ScriptedFacilitator } from '../../test/start-facilitator.js';
import { SHOPS } from '../../test/start-shops.js';
import type { OwedPayment } from '../gate/gate-options.js';
import { PaymentGate } from '../gate/gate.js';

const used = fail('invalid_exact_evm_nonce_already_used');

/** The facilitator ignores the idempotency key, and its answers are lost. */
describe('a gate that reads the chain', () => {
  let chain: Devnet;
  let rpc: RpcProxy;
  let facilitator: ScriptedFacilitator;
  const shops: Shop[] = [];
  const troubles: string[] = [];
  const owed: OwedPayment[] = [];
  let made = 0;

  const open = async (options: { confirmations?: number; rpcUrl?: string } = {}): Promise<number> => {
    const { payTo, asset, chainId } = chain;
    const gate = new PaymentGate({
      payTo,
      asset: { address: asset, name: 'USDC', version: '2', decimals: 6 },
      chainId,
      facilitator: { url: facilitator.url },
      rpcUrl: rpc.rpcUrl,
      onTrouble: ({ message }) => troubles.push(message),
      onOwed: (payment) => owed.push(payment),
      ...options,
    });
    shops.push(await SHOPS['express']!(gate, () => ({ body: `the goods ${(made += 1)}` })));
    return shops.length - 1;
  };

  beforeAll(async () => {
    chain = await startChain();
    rpc = await startRpcProxy(chain.rpcUrl);
    facilitator = await startFacilitator();
    await open();
  });

  afterAll(async () => {
    for (const shop of shops) await shop.stop();
    await facilitator.stop();
    await rpc.stop();
    await chain.stop();
  });

  beforeEach(() => {
    made = 0;
    troubles.length = owed.length = facilitator.asked.length = 0;
    rpc.reset();
    facilitator.verify = isValid;
    facilitator.settle = () => 'hang up';
  });

  const payer = () => chain.accounts[0]!;
  const domain = () => ({ name: 'USDC', version: '2', chainId: chain.chainId, verifyingContract: chain.asset });
  /** A payment, and the headers of its request. */
  async function sign(terms: Partial<SignedAuthorization['authorization']> = {}) {
    // By the clock of the chain, which tests move on.
    const { timestamp } = (await callRpc(chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as {
      timestamp: string;
    };
    const validBefore = String(Number(timestamp) + 600);
    const payment = await signAuthorization(chain, payer(), { value: '1000', validBefore, ...terms });
    const { authorization, signature } = payment;
    const proof = { x402Version: 1, scheme: 'exact', network: 'sei-testnet', payload: { authorization, signature } };
    return { payment, headers: { 'X-Payment': encodeJsonHeader(proof), 'Idempotency-Key': randomUUID() } };
  }
  const get = async (headers: Record<string, string>, at = 0) => {
    const response = await fetch(`${shops[at]!.url}/goods`, { headers });
    const receipt = response.headers.get('x-payment-response');
    const settled = receipt === null ? null : (decodeJsonHeader(receipt, 10_000) as unknown as SettleResponse);
    return {
      status: response.status,
      body: await response.text(),
      settled,
      again: response.headers.get('retry-after'),
    };
  };
  const settlements = () => facilitator.asked.filter(({ path }) => path === '/settle').length;
  const PENDING = { status: 503, body: '{"error":"settlement_pending"}', again: '2' };

  it('sells for a payment that has moved, in the same request', async () => {
    const { payment, headers } = await sign();
    let txHash: unknown;
    facilitator.settle = async () => {
      txHash ??= await submitAuthorization(chain, payment);
      return 'hang up' as const;
    };
    const answer = await get(headers);
    expect(answer).toMatchObject({ status: 200, body: 'the goods 1' });
    expect(answer.settled).toEqual({
      success: true,
      transaction: txHash,
      network: 'sei-testnet',
      payer: payer().address.toLowerCase(),
    });
    expect((await get(headers)).body).toBe('the goods 1');
    expect(made).toBe(1);
  });

  it('sells for one that moves later, without the facilitator and without a second run of the handler', async () => {
    const { payment, headers } = await sign();
    for (let times = 0; times < 2; times++) expect(await get(headers)).toMatchObject(PENDING);
    await submitAuthorization(chain, payment);
    facilitator.settle = used;
    const asked = settlements();
    expect(await get(headers)).toMatchObject({ status: 200, body: 'the goods 1' });
    expect([settlements() - asked, made]).toEqual([0, 1]);
  });

  it('waits for as many blocks as it is told', async () => {
    const at = await open({ confirmations: 3 });
    const { payment, headers } = await sign();
    await get(headers, at);
    await submitAuthorization(chain, payment);
    for (let blocks = 1; blocks < 3; blocks++) {
      expect(await get(headers, at)).toMatchObject(PENDING);
      await callRpc(chain.rpcUrl, 'evm_mine');
    }
    expect(await get(headers, at)).toMatchObject({ status: 200, body: 'the goods 1' });
  });

  it.each<[string, (payment: SignedAuthorization) => Promise<unknown>, string]>([
    [
      'was cancelled',
      ({ authorization }) =>
        cancelAuthorization(chain, authorization, { domain: domain(), privateKey: payer().privateKey }),
      'authorization_cancelled',
    ],
    [
      'was used for a transfer to its payer',
      async ({ authorization: { nonce, validBefore } }) => {
        const to = payer().address;
        const other = await signAuthorization(chain, payer(), { value: '1000', to, nonce, validBefore });
        await submitAuthorization(chain, other);
      },
      'authorization_used_otherwise',
    ],
    [
      'was used for less',
      async ({ authorization: { nonce, validBefore } }) =>
        submitAuthorization(chain, await signAuthorization(chain, payer(), { value: '999', nonce, validBefore })),
      'authorization_used_otherwise',
    ],
    ['has expired', () => passTime(chain, 601), 'authorization_expired'],
  ])('sells nothing for one whose nonce %s, and asks for another payment', async (_what, take, reason) => {
    const { payment, headers } = await sign();
    expect(await get(headers)).toMatchObject(PENDING);
    await take(payment);
    facilitator.settle = used;
    const answer = await get(headers);
    expect(answer.status).toBe(402);
    expect(JSON.parse(answer.body)).toMatchObject({ error: reason });
    expect(answer.settled).toMatchObject({ success: false, errorReason: reason });
    // It is forgotten, and its answer too.
    expect(await get(headers)).toMatchObject({ status: 503, body: '{"error":"payment_used"}' });
    expect(owed).toEqual([]);
  });

  // Another instance may have the answer, or a stranger has sent the authorization: the facilitator alone may know.
  it('asks for no other payment of one whose nonce was taken before, and sells for it only what the facilitator settled', async () => {
    const { payment, headers } = await sign();
    await submitAuthorization(chain, payment);
    facilitator.settle = fail('invalid_transaction_state', `0x${'ab'.repeat(32)}`);
    expect(await get(headers)).toMatchObject({ status: 503, body: '{"error":"payment_used"}', again: '2' });
    facilitator.settle = () => 'hang up';
    expect(await get(headers)).toMatchObject(PENDING);
    facilitator.settle = used;
    expect(await get(headers)).toMatchObject({ status: 503, again: '2' });
    facilitator.settle = succeed;
    expect((await get(headers)).status).toBe(200);
    expect(owed).toEqual([]);
  });

  // Prevents: a server that lags behind, or of another chain, says that a payment is void, and its payer pays again.
  it.each<[string, () => void]>([
    ['shows no logs', () => rpc.intercept('eth_getLogs', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":[]}' }))],
    [
      'has no receipt',
      () => rpc.intercept('eth_getTransactionReceipt', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":null}' })),
    ],
    ['refuses', () => rpc.intercept('*', () => refusal(-32005, 'rate limit'))],
    ['breaks off', () => rpc.intercept('*', () => 'broken')],
    ['answers in no JSON', () => rpc.intercept('*', () => ({ status: 502, body: '<html>' }))],
    ['lacks the newest state', () => rpc.intercept('eth_call', () => refusal(-32000, 'header not found'))],
  ])('concludes nothing from a server that %s', async (_what, disturb) => {
    const { payment, headers } = await sign();
    expect(await get(headers)).toMatchObject(PENDING);
    await submitAuthorization(chain, payment);
    facilitator.settle = used;
    disturb();
    expect(await get(headers)).toMatchObject({ status: 503, again: '2' });
    rpc.reset();
    expect(await get(headers)).toMatchObject({ status: 200, body: 'the goods 1' });
  });

  it('reads no other chain than that of the payment', async () => {
    const other = await startChain({ chainId: 1329 });
    try {
      const at = await open({ rpcUrl: other.rpcUrl });
      const { headers } = await sign();
      await get(headers, at);
      await passTime(other, 700);
      expect(await get(headers, at)).toMatchObject(PENDING);
      expect(troubles).toContain('rpcUrl is of chain 1329, and chainId is 1328.');
    } finally {
      await other.stop();
    }
  });

  it('finds a transfer at a server that searches a few blocks at once', async () => {
    const { payment, headers } = await sign();
    await get(headers);
    await callRpc(chain.rpcUrl, 'anvil_mine', ['0x40']);
    await submitAuthorization(chain, payment);
    const most = 10;
    rpc.intercept('eth_getLogs', async ({ params }, forward) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      return Number(toBlock) - Number(fromBlock) < most
        ? { body: await forward() }
        : refusal(-32005, 'too many blocks');
    });
    expect(await get(headers)).toMatchObject({ status: 200, body: 'the goods 1' });
  });

  it('sells while the chain is away, and cannot tell what becomes of a payment of that time', async () => {
    rpc.intercept('*', () => 'broken');
    facilitator.settle = succeed;
    expect((await get((await sign()).headers)).status).toBe(200);
    expect(troubles).toEqual(['The RPC server does not answer eth_blockNumber.']);
    facilitator.settle = () => 'hang up';
    const { payment, headers } = await sign();
    await get(headers);
    rpc.reset();
    await submitAuthorization(chain, payment);
    expect(await get(headers)).toMatchObject(PENDING);
  });
});
