import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, type CallToolResult, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { parsePaymentPayload, type SettleResponse, type SignedAuthorization } from '@tollgate/protocol';

import { createPaidTools, transactionOf, WORDINGS, type PaidTools, type Wording } from '../test/paid-tools.js';
import { assetOf, expectFailure, useChain, useMade, useTransferCount, useWallet } from '../test/set-up.js';
import { settleAuthorization } from '../test/signing-shop.js';
import { payForTools, type ToolPaymentOptions } from './mcp.js';
import { SpendingLimit } from './offer/spending-limit.js';
import { MemoryPaymentStore } from './store/payment-store.js';

const textOf = ({ content }: CallToolResult) => content.map((part) => (part.type === 'text' ? part.text : '')).join();

describe('payForTools', () => {
  const chain = useChain();
  const store = useMade(() => new MemoryPaymentStore());
  let shown: SignedAuthorization[];
  /** How many of the server's next answers get lost. */
  let losses: number;
  const clients: Client[] = [];
  const payer = () => chain.accounts[3]!;
  const wallet = useWallet(chain, payer);
  const transfers = useTransferCount(chain, () => payer().address);

  beforeEach(async () => {
    shown = [];
    losses = 0;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });

  const read = (payment: object) => parsePaymentPayload(payment).payment as SignedAuthorization;
  const settle = async (payment: object): Promise<SettleResponse> => {
    const { authorization } = read(payment);
    const answer = { network: 'eip155:1328', payer: authorization.from };
    return settleAuthorization(chain, read(payment)).then(
      (transaction) => ({ ...answer, success: true, transaction }),
      () => ({ ...answer, success: false, transaction: '', errorReason: 'settlement_failed' }),
    );
  };

  /** A client of such a server, with its payment options. */
  async function connect(tools: Partial<PaidTools> = {}, options: Partial<ToolPaymentOptions> = {}) {
    const wording: Wording = tools.wording ?? 'structured';
    const extra = { name: 'USDC', version: '2' };
    const common = { scheme: 'exact', asset: chain.asset, payTo: chain.payTo, maxTimeoutSeconds: 60, extra };
    const offer = () =>
      wording === 'version 1'
        ? { ...common, network: 'sei-testnet', maxAmountRequired: '1000', resource: 'mcp://tool/tell' }
        : { ...common, network: 'eip155:1328', amount: '1000' };
    const verify = async (payment: object) => {
      shown.push(read(payment));
      return null;
    };
    return connectTo(createPaidTools({ wording, offer, verify, settle, ...tools }), options);
  }

  async function connectTo(server: Server, options: Partial<ToolPaymentOptions> = {}) {
    const [own, others] = InMemoryTransport.createLinkedPair();
    await server.connect(losing(others));
    const client = new Client({ name: 'payer', version: '1.0.0' });
    clients.push(client);
    await client.connect(own);
    const asset = assetOf(chain);
    const terms = { server: 'https://tools.example/mcp', assets: [asset], maxAmount: '0.001', store };
    return payForTools(client, wallet, { ...terms, ...options });
  }

  /** A transport that loses the server's answers to payments. */
  function losing(transport: Transport): Transport {
    const send = transport.send.bind(transport);
    transport.send = async (message: JSONRPCMessage, options) => {
      const isSettled = 'result' in message && JSON.stringify(message).includes('payment-response');
      if (isSettled && losses-- > 0) return;
      await send(message, options);
    };
    return transport;
  }

  it.each(WORDINGS)('pays a tool that requires a payment in the form: %s', async (wording) => {
    const call = await connect({ wording });
    const result = await call({ name: 'tell', arguments: { city: 'Bern' } });
    expect(textOf(result)).toBe('told {"city":"Bern"}');
    expect(transactionOf(result)).toMatch(/^0x/);
    expect([shown.length, await transfers()]).toEqual([1, 1]);
    expect((await store.list()).map(({ payment: { state } }) => state)).toEqual(['redeemed']);
  });

  // Prevents: a tool that lists or explains prices is paid.
  it.each([
    ['terms that ask for nothing', { x402Version: 2, accepts: [{ scheme: 'exact' }] }],
    ['an error of another code', { error: { code: -32000, data: { x402Version: 2, accepts: [{ scheme: 'exact' }] } } }],
  ])('pays nothing for a result that contains %s', async (_case, structuredContent) => {
    const server = new Server({ name: 'prices', version: '1.0.0' }, { capabilities: { tools: {} } });
    const listed = { content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }], structuredContent };
    server.setRequestHandler(CallToolRequestSchema, () => listed);
    const call = await connectTo(server);
    expect(await call({ name: 'prices' })).toMatchObject(listed);
  });

  it('leaves free calls and refused calls unchanged', async () => {
    const call = await connect();
    expect(textOf(await call({ name: 'free' }))).toBe('free');
    await expectFailure(call({ name: 'none' }), -32602);
    expect([shown, await transfers()]).toEqual([[], 0]);
  });

  it('repeats the call with the same payment when its answer was lost', async () => {
    losses = 1;
    // Like a server that stores its answers: a payment that is settled, or is being settled, is not settled again.
    const settled = new Map<string, Promise<SettleResponse>>();
    const settleOnce = (payment: object) => {
      const { nonce } = read(payment).authorization;
      const answer = settled.get(nonce) ?? settle(payment);
      settled.set(nonce, answer);
      return answer;
    };
    const call = await connect({ settle: settleOnce }, { attemptTimeoutMs: 1000 });
    expect(textOf(await call({ name: 'tell' }))).toBe('told undefined');
    const nonces = shown.map(({ authorization: { nonce } }) => nonce);
    expect([new Set(nonces).size, await transfers()]).toEqual([1, 1]);
    expect(nonces.length).toBeGreaterThan(1);
  });

  it('uses the payment of a failed tool for the next call', async () => {
    const call = await connect();
    const results = [await call({ name: 'fail' }), await call({ name: 'fail' })];
    expect(results).toMatchObject([{ isError: true }, { isError: true }]);
    expect([new Set(shown.map(({ authorization: { nonce } }) => nonce)).size, await transfers()]).toEqual([1, 0]);
  });

  it('makes no other payment when its payment is refused', async () => {
    const call = await connect({ verify: async () => 'invalid_payment' });
    const failure = { code: 'payment_not_accepted', details: { challengeError: 'invalid_payment' } };
    await expect(call({ name: 'tell' }, {})).rejects.toMatchObject(failure);
    expect((await store.list()).map(({ payment: { state } }) => state)).toEqual(['signed']);
    expect(await transfers()).toBe(0);
  });

  it('gives the reason that a server of MPP has', async () => {
    const verify = async () => 'the stock is empty';
    const call = await connect({ wording: 'MPP, error -32043', verify }, { deadlineMs: 900 });
    const failure = { code: 'payment_not_accepted', details: { challengeError: 'the stock is empty' } };
    await expect(call({ name: 'tell' }, {})).rejects.toMatchObject(failure);
    expect(await transfers()).toBe(0);
  });

  // Prevents: an error of the client's own in the place of a refusal.
  it('pays nothing for challenges that are none', async () => {
    const nested = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as object;
    const challenges = [
      null,
      {},
      { id: 'a\n', realm: 'r', method: 'evm', intent: 'charge', request: nested, 'b\n': 'c' },
    ];
    const server = new Server({ name: 'odd', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, () => ({
      content: [],
      _meta: { 'org.paymentauth/payment-required': { challenges } },
    }));
    const call = await connectTo(server);
    await expectFailure(call({ name: 'odd' }), 'malformed_challenge');
  });

  it('signs nothing above the limit, and nothing for an untrusted asset', async () => {
    const dear = await connect({}, { maxAmount: '0.000999' });
    await expectFailure(dear({ name: 'tell' }), 'over_limit');
    const none = await connect({}, { assets: [] });
    await expectFailure(none({ name: 'tell' }), 'no_trusted_requirement');
    expect([shown, await store.list()]).toEqual([[], []]);
  });

  it('shares its total limit with other clients of the same SpendingLimit', async () => {
    const maxTotal = new SpendingLimit('0.0019');
    const calls = [
      await connect({}, { maxTotal }),
      await connect({}, { maxTotal, server: 'https://other.example/mcp' }),
    ];
    const results = await Promise.allSettled(calls.map((call) => call({ name: 'tell' })));
    expect(results.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'over_limit' } }]);
    expect(await transfers()).toBe(1);
  });

  it('buys twice when called twice, and once under one key', async () => {
    const call = await connect();
    await call({ name: 'tell' });
    await call({ name: 'tell' });
    expect(await transfers()).toBe(2);
    await Promise.all(['a', 'b'].map((idempotencyKey) => call({ name: 'tell' }, { idempotencyKey })));
    expect(await transfers()).toBe(4);
  });

  it('never sends a payment for one server to another', async () => {
    const failing = await connect();
    await failing({ name: 'fail' });
    const other = await connect({}, { server: 'https://other.example/mcp' });
    await other({ name: 'fail' });
    expect(new Set(shown.map(({ authorization: { nonce } }) => nonce)).size).toBe(2);
  });
});
