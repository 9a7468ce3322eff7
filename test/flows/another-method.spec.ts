import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import type { Balance } from '@tollgate/book';
import type { OperatorRefund, ReconcileAnswer } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import { RefundFixture } from '../../apps/bookkeeper/test/refund-fixture.js';
import { presentV2, parseOffer, readHeader, type OfferedChallenge } from '../../apps/gateway/test/present-payments.js';
import { answerJson, createRoute, startGateway, type RunningGateway } from '../../apps/gateway/test/start-gateway.js';
import { startVerifier } from '../../apps/verifier/src/start-verifier.js';
import {
  createWallet,
  fetchWithPayment,
  MemoryPaymentStore,
  type PaymentEvent,
} from '../../packages/client/src/index.js';
import { readBalance } from '../../tools/devnet/chain/read-balance.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { approvePledges, deployPledges, signPledge, type SignedPledge } from '../harness/payments/pledge.js';
import { createPledgeSigner, usePledges } from '../harness/payments/use-pledges.js';
import { waitFor } from '../harness/retry.js';

const PRICE = 1000n;

// Prevents: a way to pay needs a change of the gateway, the book or the refunds.
describe('a seller that takes payments of a method that no product file knows', () => {
  let fixture: RefundFixture;
  let folder: string;
  let contract: Hex;
  let gateway: RunningGateway;
  let verifier: Awaited<ReturnType<typeof startVerifier>>;
  let token: string;

  // Before the method is removed again.
  afterAll(async () => {
    await gateway?.stop();
    await verifier?.close();
    await fixture?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  usePledges(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
    contract = await deployPledges(fixture.chain);
    await approvePledges(fixture.chain, payer().address, contract);
    return contract;
  });

  beforeAll(async () => {
    const { rpcUrl, chainId, asset, payTo, relayers } = fixture.chain;
    folder = mkdtempSync(join(tmpdir(), 'another-method-'));
    const file = join(folder, 'payments.yaml');
    writeFileSync(
      file,
      `chains:
  devnet: { id: ${chainId}, network: chain-testnet, rpc: '\${DEVNET_RPC}', relayers: '\${DEVNET_KEYS}' }
accepts:
  usdc: { chain: devnet, token: '${asset}', symbol: USDC, version: '2', decimals: 6, methods: [pledge, transfer], payTo: '${payTo}' }
`,
    );
    const redisUrl = fixture.base.server.url;
    const settings = { PAYMENTS_FILE: file, BOOK: 'on', SIGNED_PAYMENTS: 'true' };
    const ofChain = { DEVNET_RPC: rpcUrl, DEVNET_KEYS: relayers[0]!.privateKey };
    verifier = await startVerifier({
      ...{ ...settings, ...ofChain, REDIS_URL: redisUrl, RELAYER_LEASE_MS: '4000' },
      ...{ VERIFIER_PORT: '0', LOG_LEVEL: 'silent' },
    });
    const routes = [
      createRoute(({ verification }) => answerJson(verification)),
      createRoute(() => answerJson('broken', 500), { path: '/api/broken', settle: 'before' }),
    ];
    gateway = await startGateway(redisUrl, routes, settings);
    token = await fixture.base.createToken('operator:read', 'operator:refund');
    await fixture.startBookkeeper({
      ...{ ASSET_ADDRESS: '', PAY_TO: '', RPC_URL: '', CHAIN_ID: '', ...ofChain, PAYMENTS_FILE: file },
      ...{ RECONCILE_CONFIRMATIONS: '1', RECONCILE_GRACE_SECONDS: '0', RECONCILE_INTERVAL_MS: '50' },
    });
    await fixture.startWorker();
  });

  const payer = () => fixture.chain.accounts[0]!;
  const readHead = async () => Number(await callRpc(fixture.chain.rpcUrl, 'eth_blockNumber', []));
  const url = (path = '/api/weather') => gateway.url + path;

  /** The challenge, once a verifier has agreed with the gateway. */
  async function readOffer(path?: string): Promise<OfferedChallenge> {
    let response: Response | undefined;
    await waitFor('it is offered', async () => (response = await fetch(url(path))).status === 402);
    return parseOffer(response!);
  }

  /** By the client, with a wallet that signs pledges. Returns the answer, and what was signed. */
  async function buy(path?: string): Promise<{ response: Response; signed: SignedPledge }> {
    await readOffer(path);
    const { rpcUrl, chainId, asset: address } = fixture.chain;
    const account = payer().privateKey;
    const pledges = createPledgeSigner(privateKeyToAccount(account), chainId);
    const wallet = Object.assign(createWallet({ account, rpcUrl, chainId }), { pledges });
    const assets = [{ network: `eip155:${chainId}`, chainId, address, decimals: 6 }];
    const events: PaymentEvent[] = [];
    const onEvent = (event: PaymentEvent) => void events.push(event);
    const options = { assets, maxAmount: '1', way: 'pledge', store: new MemoryPaymentStore(), onEvent } as const;
    const response = await fetchWithPayment(fetch, wallet, options)(url(path));
    const signed = events.flatMap((event) => ('payment' in event ? (event.payment.authorization ?? []) : []))[0];
    if (signed?.kind !== 'pledge') throw new Error('the client has not signed a pledge');
    return { response, signed };
  }

  it('offers it, sells for it once, and has it settled', async () => {
    expect((await readOffer()).required.accepts).toMatchObject([
      { scheme: 'exact', amount: String(PRICE), extra: { assetTransferMethod: 'pledge', contract } },
    ]);
    const before = await readBalance(fixture.chain, fixture.chain.payTo);
    const { response, signed } = await buy();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ isValid: true });
    const paid = { success: true, network: 'eip155:1328', payer: payer().address.toLowerCase() };
    expect(readHeader(response, 'payment-response')).toMatchObject(paid);
    expect(await readBalance(fixture.chain, fixture.chain.payTo)).toBe(before + PRICE);
    // Another purchase with the same pledge.
    const again = await fetch(url(), { headers: presentV2(await readOffer(), signed) });
    expect(again.status).toBe(402);
    expect(await again.json()).toMatchObject({ error: 'Payment already used' });
    expect(await readBalance(fixture.chain, fixture.chain.payTo)).toBe(before + PRICE);
  });

  it('refuses a pledge of another amount, before anything is sent', async () => {
    const before = await readBalance(fixture.chain, fixture.chain.payTo);
    const short = await signPledge(fixture.chain, payer(), { contract, amount: String(PRICE - 1n) });
    const refused = await fetch(url(), { headers: presentV2(await readOffer(), short) });
    expect(refused.status).toBe(402);
    expect(await readBalance(fixture.chain, fixture.chain.payTo)).toBe(before);
  });

  it('pays back what bought no answer, and its book agrees with the chain', async () => {
    const { address } = payer();
    const before = await readBalance(fixture.chain, address);
    const { chainId } = fixture.chain;
    const headers = presentV2(await readOffer('/api/broken'), await signPledge(fixture.chain, payer(), { contract }));
    expect((await fetch(url('/api/broken'), { headers })).status).toBe(500);
    expect(await readBalance(fixture.chain, address)).toBe(before - PRICE);
    let payment = '';
    await waitFor('it is booked', async () => {
      const listed = await fixture.get<{ payments: { id: string; state: string }[] }>('/operator/payments', token);
      payment = listed.body.payments.find(({ state }) => state !== 'answered')?.id ?? '';
      return payment !== '';
    });
    expect(payment).toMatch(new RegExp(`^pledge:${chainId}:${contract}:${address.toLowerCase()}:0x[0-9a-f]{64}:kept$`));
    const { body } = await fixture.post<OperatorRefund>('/operator/refunds', token, { payment });
    await fixture.waitForRefund(body.id, 'refunded', token);
    expect(await readBalance(fixture.chain, address)).toBe(before);
    const head = await readHead();
    await waitFor('everything is compared, and nothing differs', async () => {
      const { body: compared } = await fixture.get<ReconcileAnswer>('/operator/reconcile', token);
      const { block, trouble, waiting, chainOnly, bookOnly, different } = compared;
      const open = waiting.transfers + waiting.payments + chainOnly.length + bookOnly.length + different.length;
      return block !== null && block >= head && trouble === null && open === 0;
    });
    const { balances } = (await fixture.get<{ balances: Balance[] }>('/operator/balances', token)).body;
    const sums = new Map<string, bigint>();
    for (const { asset, amount } of balances) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
    expect(new Set(sums.values())).toEqual(new Set([0n]));
    expect([...sums.keys()]).toContain(`${chainId}:${fixture.chain.asset.toLowerCase()}`);
  });
});
