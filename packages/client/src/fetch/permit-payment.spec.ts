import { PaymentError, type SignedPermit } from '@tollgate/protocol';
import { erc20Abi, encodeFunctionData, type Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';

import { approvePermit2 } from '../../../../test/harness/chain/sign-permit.js';
import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../../tools/devnet/chain/read-balance.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts } from '../../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PERMIT2 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { assetOf, failureOf, useChain, useMade, useServer } from '../../test/set-up.js';
import { facilitatorOf, startSigningShop } from '../../test/signing-shop.js';
import { createWallet } from '../account/create-wallet.js';
import type { Wallet } from '../account/wallet.js';
import type { PaymentEvent, PaymentOptions } from '../sign/payment-options.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

const BY_PERMIT2 = { extra: { assetTransferMethod: 'permit2' } };

describe('a server that takes payments by Permit2', () => {
  const chain = useChain();
  const shop = useServer(() => startSigningShop(chain, 2));
  const store = useMade(() => new MemoryPaymentStore());
  /** The first payer approved Permit2 for more than it pays, the other not at all. */
  let payer: DevnetAccount;
  let newcomer: DevnetAccount;

  const walletOf = ({ privateKey: account }: DevnetAccount): Wallet =>
    createWallet({ account, rpcUrl: chain.rpcUrl, chainId: chain.chainId });
  const optionsOf = (change: Partial<PaymentOptions>): PaymentOptions => ({
    assets: [assetOf(chain)],
    maxAmount: '0.001',
    store,
    ...change,
  });
  const buy = (change: Partial<PaymentOptions> = {}, by = walletOf(payer)) =>
    fetchWithPayment(fetch, by, optionsOf(change))(shop.url);
  const metered = () => ({
    scheme: 'upto',
    extra: { name: 'USDC', assetTransferMethod: 'permit2', facilitatorAddress: facilitatorOf(chain) },
  });
  const permits = () => shop.shown.map(({ payment }) => payment as SignedPermit);
  const countSent = ({ address }: DevnetAccount) =>
    callRpc(chain.rpcUrl, 'eth_getTransactionCount', [address, 'latest']);
  const readAllowance = async ({ address }: DevnetAccount) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [address, PERMIT2] });
    return BigInt((await callRpc(chain.rpcUrl, 'eth_call', [{ to: chain.asset, data }, 'latest'])) as Hex);
  };
  /** The amount that the payer was charged. */
  const spent = async (work: () => Promise<unknown>, { address } = payer): Promise<bigint> => {
    const before = await readBalance(chain, address);
    await work();
    return before - (await readBalance(chain, address));
  };

  beforeAll(async () => {
    [payer, newcomer] = [chain.accounts[3]!, chain.accounts[4]!];
    await approvePermit2(chain, { owner: payer.address });
  });

  it.each([
    ['by use rather than by a fixed price', () => [metered(), BY_PERMIT2, {}], { kind: 'permit2', scheme: 'upto' }],
    ['by use, even if that offer comes last', () => [{}, BY_PERMIT2, metered()], { kind: 'permit2', scheme: 'upto' }],
    ['by the offer that needs no allowance first', () => [BY_PERMIT2, {}], { kind: 'authorization' }],
  ])('is paid %s', async (_, offers, expected) => {
    const common = { scheme: 'exact', extra: { name: 'USDC', version: '2' } };
    const [first, ...others] = offers().map((offer) => ({ ...common, ...offer }));
    Object.assign(shop, { offer: first, others });
    expect((await buy()).status).toBe(200);
    expect(shop.shown.map(({ payment }) => payment)).toMatchObject([expected]);
  });

  it.each([
    ['its price', () => BY_PERMIT2],
    ['the metered amount', metered],
  ])(
    'gets no signature for %s from a payer that has not approved Permit2, and the error says what to approve',
    async (_, offer) => {
      shop.offer = offer();
      const failure = await failureOf(buy({}, walletOf(newcomer)));
      expect(failure).toMatchObject({
        code: 'permit2_allowance_missing',
        hint: expect.stringContaining(
          `approve(${PERMIT2.toLowerCase()}, amount) at the token ${chain.asset.toLowerCase()}`,
        ),
        details: { allowed: '0', needed: '0.001' },
      });
      expect([shop.shown, await store.list()]).toEqual([[], []]);
    },
  );

  it.each([
    ['the price, without an allowance', () => [metered(), BY_PERMIT2, {}], {}],
    ['the price, if the configured allowance is too low', () => [metered(), {}], { permit2Allowance: '0.000999' }],
  ])('is paid %s, by a payer that cannot pay by use, and the payer is informed', async (_, offers, options) => {
    const common = { scheme: 'exact', extra: { name: 'USDC', version: '2' } };
    const [first, ...others] = offers().map((offer) => ({ ...common, ...offer }));
    Object.assign(shop, { offer: first, others });
    const events: PaymentEvent[] = [];
    const change = { ...options, onEvent: (event: PaymentEvent) => events.push(event) };
    expect(await spent(() => buy(change, walletOf(newcomer)), newcomer)).toBe(1000n);
    expect(shop.shown.map(({ payment }) => payment)).toMatchObject([{ kind: 'authorization' }]);
    expect(events.map(({ type }) => type)).toEqual(['skipped', 'intended', 'signed', 'redeemed']);
    const problem = { code: 'permit2_allowance_missing', details: { needed: '0.001' } };
    expect(events[0]).toMatchObject({ requirement: { scheme: 'upto' }, problem });
    expect(await readAllowance(newcomer)).toBe(0n);
  });

  it('gets no signature from a payer that cannot pay by use and whose limit is below the price', async () => {
    const exact = { scheme: 'exact', extra: { name: 'USDC', version: '2' } };
    Object.assign(shop, { offer: metered(), others: [{ ...exact, amount: '1001' }] });
    const failure = await failureOf(buy({}, walletOf(newcomer)));
    expect([failure['code'], shop.shown]).toEqual(['permit2_allowance_missing', []]);
  });

  it('gets no signature when the configured allowance is too low', async () => {
    shop.offer = metered();
    const failure = await failureOf(buy({ permit2Allowance: '0.000999' }, walletOf(newcomer)));
    expect([failure['code'], shop.shown]).toEqual(['permit2_allowance_missing', []]);
    expect(await readAllowance(newcomer)).toBe(0n);
  });

  it('is paid by a payer whose client approves Permit2, once for several payments', async () => {
    shop.offer = metered();
    const before = Number(await countSent(newcomer));
    const change = { permit2Allowance: '0.0015' };
    expect(await spent(() => buy(change, walletOf(newcomer)), newcomer)).toBe(400n);
    expect(await readAllowance(newcomer)).toBe(1100n);
    expect(await spent(() => buy(change, walletOf(newcomer)), newcomer)).toBe(400n);
    expect(Number(await countSent(newcomer))).toBe(before + 1);
    // 700 are left, and 1000 are to be signed, so Permit2 is approved again.
    expect(await spent(() => buy(change, walletOf(newcomer)), newcomer)).toBe(400n);
    expect([await readAllowance(newcomer), Number(await countSent(newcomer))]).toEqual([1100n, before + 2]);
  });

  describe('in a token that changes an allowance only from 0', () => {
    let token: Hex;

    const send = async (from: Hex, to: Hex, functionName: string, args: readonly unknown[]) => {
      const { StubbornToken } = await readContracts();
      return sendTransaction(chain, {
        from,
        to,
        data: encodeFunctionData({ abi: StubbornToken.abi, functionName, args }),
      });
    };
    const buyIn = (permit2Allowance: string) => {
      const asset = { network: 'chain-testnet', chainId: chain.chainId, address: token, decimals: 6 };
      return buy({ assets: [asset], permit2Allowance }, walletOf(newcomer));
    };

    beforeAll(async () => {
      const { StubbornToken } = await readContracts();
      const hash = await sendTransaction(chain, { data: StubbornToken.bytecode });
      const receipt = await callRpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash]);
      token = (receipt as { contractAddress: Hex }).contractAddress;
      await send(newcomer.address, token, 'mint', [newcomer.address, 1_000_000n]);
    });

    beforeEach(() => {
      shop.offer = { ...BY_PERMIT2, asset: token };
    });

    it('is paid by a payer that has approved too little', async () => {
      await send(newcomer.address, token, 'approve', [PERMIT2, 500n]);
      expect(await (await buyIn('0.01')).text()).toBe('the goods');
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [newcomer.address, PERMIT2] });
      expect(BigInt((await callRpc(chain.rpcUrl, 'eth_call', [{ to: token, data }, 'latest'])) as Hex)).toBe(9000n);
    });
  });

  // Prevents: the payer is told to look at a transfer that was never tried.
  it('reports an approval that the chain refuses', async () => {
    shop.offer = BY_PERMIT2;
    const other = walletOf({ ...newcomer, privateKey: generatePrivateKey() });
    const refusal = new PaymentError('cannot_pay', 'The wallet cannot make this transfer: execution reverted.');
    jest.spyOn(other, 'sign').mockRejectedValue(refusal);
    expect(await failureOf(buy({ permit2Allowance: '1' }, other))).toMatchObject({
      code: 'cannot_pay',
      message: `Permit2 cannot be approved for the token ${chain.asset.toLowerCase()}: execution reverted.`,
    });
  });

  it('counts against the limits with the signed maximum, not with its actual charge', async () => {
    shop.offer = { ...metered(), amount: '1001' };
    expect(await failureOf(buy())).toMatchObject({ code: 'over_limit' });
    shop.offer = metered();
    const payingFetch = fetchWithPayment(fetch, walletOf(payer), optionsOf({ maxTotal: '0.0019' }));
    expect((await payingFetch(shop.url)).status).toBe(200);
    expect(await failureOf(payingFetch(`${shop.url}/again`))).toMatchObject({ code: 'over_limit' });
    expect(permits()).toHaveLength(1);
  });

  it.each([
    ['without a facilitator', () => ({ ...metered(), ...BY_PERMIT2 })],
    ['by EIP-3009', () => ({ scheme: 'upto', extra: { ...metered().extra, assetTransferMethod: 'eip3009' } })],
  ])('gets no signature for a maximum %s', async (_name, offer) => {
    shop.offer = offer();
    expect(await failureOf(buy())).toMatchObject({ code: 'malformed_challenge' });
    expect([shop.shown, await store.list()]).toEqual([[], []]);
  });

  it('gets an authorization from a wallet that cannot sign permits', async () => {
    Object.assign(shop, { offer: metered(), others: [{ scheme: 'exact', extra: { name: 'USDC', version: '2' } }] });
    const { address, chainId, authorizations } = walletOf(payer);
    expect((await buy({}, { address, chainId, authorizations } as Wallet)).status).toBe(200);
    expect(shop.shown.map(({ payment }) => payment)).toMatchObject([{ kind: 'authorization' }]);
  });
});
