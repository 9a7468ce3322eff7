import { MemoryPaymentStore } from '@tollgate/client';
import { encodeJsonHeader, PERMIT2_ADDRESS, type SignedPayment } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi, getAddress, numberToHex, parseEther, type Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';

import { readBalance } from '../../../../tools/devnet/chain/read-balance.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { startPaidServer } from '../../../client/test/paid-server.js';
import { expectFailure, useChain, useOpened } from '../../../client/test/set-up.js';
import { facilitatorOf, startSigningShop, type SigningShop } from '../../../client/test/signing-shop.js';
import { AgentKit } from '../agent-kit.js';
import type { AgentKitOptions } from '../settings/agent-kit-options.js';
import type { SentTransaction } from '../types/transaction-events.js';

const BY_PERMIT2 = { extra: { assetTransferMethod: 'permit2' } };
const PERMIT2 = getAddress(PERMIT2_ADDRESS);

describe('paying servers that settle signatures', () => {
  const chain = useChain();
  const open = useOpened();
  let kit: AgentKit;
  let shops: Record<1 | 2, SigningShop>;
  let shop: SigningShop;

  /** A kit of an account with 1 USDC, and no native coin. */
  async function createKit(options: AgentKitOptions = {}): Promise<AgentKit> {
    const { payments, ...others } = options;
    const created = new AgentKit(generatePrivateKey(), 'offline', {
      rpcUrl: chain.rpcUrl,
      networkRetryDelayMs: 0,
      ...others,
      payments: { store: new MemoryPaymentStore(), priceTimeoutMs: 3_000, ...payments },
    });
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [created.address, 1_000_000n] });
    await sendTransaction(chain, { from: chain.accounts[0]!.address, to: chain.asset, data });
    return created;
  }
  const spent = async () => 1_000_000n - (await readBalance(chain, kit.address));
  const buy = () => kit.payForResource(shop.url);
  /** Settles as a facilitator does, and names a transaction. */
  const settle =
    (name: (hash: Hex) => Hex = (hash) => hash) =>
    async (response: Parameters<SigningShop['interfere'][number]>[0], payment: SignedPayment) => {
      const transaction = name(await shop.settle(payment));
      response.setHeader('PAYMENT-RESPONSE', encodeJsonHeader({ success: true, transaction })).end('the goods');
    };

  beforeAll(async () => {
    shops = { 1: await startSigningShop(chain, 1), 2: await startSigningShop(chain, 2) };
  });
  afterAll(() => Promise.all(Object.values(shops).map((one) => one.close())));
  beforeEach(() => {
    shop = shops[2];
    for (const one of Object.values(shops)) Object.assign(one, { offer: {}, others: [], interfere: [], shown: [] });
  });

  it.each([1, 2] as const)('buys from x402 version %d without any native coin', async (version) => {
    shop = shops[version];
    kit = await createKit();
    const plan = await kit.plan('payForResource', { url: shop.url });
    expect(plan.summary).toContain(
      `Pay 0.001 USDC on chain 1328 by a signature (EIP-3009) to ${chain.payTo} for ${shop.url}`,
    );
    expect([plan.gasEstimate, plan.warnings]).toEqual([{ gas: 0n, feeWei: 0n }, undefined]);
    expect(await kit.execute(plan)).toMatchObject({
      status: 'success',
      amount: '0.001',
      authorization: expect.stringMatching(/^0x/),
      transactions: [],
      answer: { body: 'the goods' },
    });
    expect(await spent()).toBe(1_000n);
  });

  it('names the transaction that settled the signature, as the chain shows it', async () => {
    kit = await createKit();
    const hashes: Hex[] = [];
    shop.interfere.push(settle((hash) => (hashes.push(hash), hash)));
    const first = await buy();
    expect(first).toMatchObject({ status: 'success', result: hashes[0], charged: '0.001' });
    // The transaction of another payment of the same amount to the same recipient.
    shop.interfere.push(settle(() => hashes[0]!));
    const second = await buy();
    expect([second.status, second.result, second.charged]).toEqual(['success', undefined, undefined]);
    expect(await spent()).toBe(2_000n);
  });

  it('refuses an offer by Permit2 that may not move the token, and says what helps', async () => {
    shop.offer = BY_PERMIT2;
    kit = await createKit();
    await expect(buy()).rejects.toMatchObject({
      code: 'PAYMENT_FAILED',
      message: expect.stringContaining('Permit2 may move 0'),
      suggestion: expect.stringContaining('payments.permit2Allowance'),
    });
    expect(shop.shown).toEqual([]);
  });

  it('approves Permit2 as its options say, shows that in the plan, and pays by signatures from then on', async () => {
    shop.offer = BY_PERMIT2;
    kit = await createKit({ payments: { permit2Allowance: '0.05' } });
    await expectFailure(kit.plan('payForResource', { url: shop.url }), 'INSUFFICIENT_FUNDS');
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, numberToHex(parseEther('1'))]);
    const plan = await kit.plan('payForResource', { url: shop.url });
    expect(plan.recipients).toEqual([chain.payTo, PERMIT2]);
    expect(plan.preview).toContain(`Let Permit2 (${PERMIT2}) take up to 0.05 USDC`);
    const paid = await kit.execute(plan);
    expect(paid).toMatchObject({ status: 'success', transactions: [{ label: expect.stringContaining('Permit2') }] });
    expect(await buy()).toMatchObject({ status: 'success', transactions: [] });
    expect(await spent()).toBe(2_000n);
  });

  it('reports an approval that was sent for a payment that the server then asks otherwise', async () => {
    shop.offer = BY_PERMIT2;
    kit = await createKit({ payments: { permit2Allowance: '0.05' } });
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, numberToHex(parseEther('1'))]);
    const plan = await kit.plan('payForResource', { url: shop.url });
    shop.offer = {};
    expect(await kit.execute(plan)).toMatchObject({
      status: 'failed',
      code: 'PLAN_EXPIRED',
      transactions: [{ hash: expect.stringMatching(/^0x/) }],
    });
    expect(shop.shown).toEqual([]);
  });

  it('says that a price by use is a maximum, and reports the charge', async () => {
    const facilitatorAddress = facilitatorOf(chain);
    shop.offer = { scheme: 'upto', extra: { assetTransferMethod: 'permit2', facilitatorAddress } };
    kit = await createKit({ payments: { permit2Allowance: '0.05' } });
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, numberToHex(parseEther('1'))]);
    shop.interfere.push(settle());
    const plan = await kit.plan('payForResource', { url: shop.url });
    expect(plan.summary).toMatch(/^Pay at most 0\.001 USDC on chain 1328 by a signature for Permit2 to /);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success', amount: '0.001', charged: '0.0004' });
    expect(await spent()).toBe(400n);
  });

  it('warns of a price by use that it cannot pay, and pays the next offer', async () => {
    const facilitatorAddress = facilitatorOf(chain);
    shop.offer = { scheme: 'upto', extra: { assetTransferMethod: 'permit2', facilitatorAddress } };
    shop.others = [{ scheme: 'exact', extra: { name: 'USDC', version: '2' } }];
    kit = await createKit();
    const plan = await kit.plan('payForResource', { url: shop.url });
    expect([plan.payment?.way, plan.warnings]).toEqual([
      'authorization',
      [expect.stringMatching(/^a better offer is not paid: Permit2 may move 0 /)],
    ]);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success' });
    expect(await spent()).toBe(1_000n);
  });

  it('keeps to the policy: Permit2 is a contract that takes tokens', async () => {
    shop.offer = BY_PERMIT2;
    kit = await createKit({ payments: { permit2Allowance: '0.05' }, policy: { contracts: [chain.asset] } });
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, numberToHex(parseEther('1'))]);
    await expectFailure(buy(), 'POLICY_VIOLATION', expect.stringContaining(PERMIT2));
  });

  it('pays by a signature only what it planned to pay by a signature', async () => {
    kit = await createKit();
    const plan = await kit.plan('payForResource', { url: shop.url });
    shop.offer = BY_PERMIT2;
    await expectFailure(kit.execute(plan), 'PLAN_EXPIRED');
    expect(shop.shown).toEqual([]);
  });

  it('quotes the reason of a server that refuses a payment', async () => {
    kit = await createKit();
    const body = JSON.stringify({ success: false, errorReason: 'insufficient funds\n in the facilitator' });
    shop.interfere.push((response) => void response.writeHead(400, { 'content-type': 'application/json' }).end(body));
    expect(await buy()).toMatchObject({
      status: 'failed',
      code: 'PAYMENT_FAILED',
      // A caller that looks for the keyword of another error does not find it.
      error: 'The payment was sent, but the answer has status 400: "INSUFFICIENT FUNDS in the facilitator".',
    });
  });

  it('has no plan for a transfer without gas, and no event of one', async () => {
    kit = await createKit();
    const server = await open(startPaidServer(chain));
    const seen: SentTransaction[] = [];
    kit.on('transactionSubmitted', (sent) => seen.push(sent));
    await expect(kit.payForResource(server.url)).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining('insufficient funds'),
    });
    expect([seen, server.paid()]).toEqual([[], []]);
  });
});
