import type { Hex, SignedAuthorization, SignedPayment, SignedPermit } from '@tollgate/protocol';
import type { SettlementResult, SignedPaymentVerdict } from '@tollgate/transport';
import { numberToHex } from 'viem';

import { deployBatchPayer } from '../../../test/harness/chain/deploy.js';
import { approvePermit2, signPermit } from '../../../test/harness/chain/sign-permit.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { SettlementFixture } from './settlement-fixture.js';

/** Accepts every signature. */
const SAYS_YES = '631626ba7e60e01b60005260206000f3';

/** Accepts without a gas price, and burns all its gas with one. */
export const BURNS_AT_A_PRICE: Hex = `0x3a15600657fe5b${SAYS_YES}`;
/**
 * Accepts up to the block number in its first slot, and burns all its gas after it: wallets of one code, each with its
 * own limit.
 */
const BURNS_AFTER_SLOT: Hex = `0x435f541015600957fe5b${SAYS_YES}`;

/** Accepts up to a block, and burns all its gas after it. */
export function burnsAfter(blockNumber: number): Hex {
  return `0x4363${blockNumber.toString(16).padStart(8, '0')}1015600c57fe5b${SAYS_YES}`;
}

interface Receipt {
  from: Hex;
  status: Hex;
  gasUsed: Hex;
}

/**
 * Contract wallets that pass their simulations and burn gas in blocks, on their own fixture for all tests of a
 * `describe`.
 */
export function useBurningWallets() {
  let started: SettlementFixture | undefined;
  let wallets = 0;
  beforeAll(async () => {
    started = await SettlementFixture.start();
  });
  afterAll(() => started?.stop());

  const fixture = (): SettlementFixture => {
    if (started === undefined) throw new Error('the fixture exists in tests and hooks, not while they are declared');
    return started;
  };
  const readHead = async (): Promise<number> => Number(await fixture().rpc('eth_blockNumber'));

  /** A new wallet with this code and enough balance to pay. */
  const createWallet = async (code: Hex): Promise<Hex> => {
    const address: Hex = `0x${(++wallets).toString(16).padStart(40, '7a')}`;
    await transferTokens(fixture().chain, { to: address, amountBaseUnits: 1_000_000n });
    await fixture().rpc('anvil_setCode', [address, code]);
    return address;
  };
  /** One of many wallets with the same code, which burns its gas after this block; by default after the newest. */
  const createOneOfMany = async (lastGoodBlock?: number): Promise<Hex> =>
    armWallet(await createWallet('0x'), lastGoodBlock);
  const armWallet = async (address: Hex, lastGoodBlock?: number): Promise<Hex> => {
    const last = numberToHex(lastGoodBlock ?? (await readHead()), { size: 32 });
    await fixture().rpc('anvil_setCode', [address, BURNS_AFTER_SLOT]);
    await fixture().rpc('anvil_setStorageAt', [address, '0x0', last]);
    return address;
  };
  /** A wallet of the same kind whose tokens Permit2 may move. */
  const createApproved = async (lastGoodBlock?: number): Promise<Hex> => {
    const address = await createWallet('0x');
    await fixture().setBalance(address, 10n ** 18n);
    await fixture().rpc('anvil_impersonateAccount', [address]);
    await approvePermit2(fixture().chain, { owner: address });
    return armWallet(address, lastGoodBlock);
  };
  const signFor = async (from: Hex): Promise<SignedAuthorization> => ({
    ...(await fixture().sign({ from })),
    signature: '0x12',
  });
  /** An honest contract wallet of the first payer. */
  const deployHonest = async (): Promise<Hex> => (await deployBatchPayer(fixture().chain)).address.toLowerCase() as Hex;

  const verify = (payment: SignedPayment): Promise<SignedPaymentVerdict> => fixture().verify(payment);
  const settle = (payment: SignedPayment): Promise<SettlementResult> => fixture().settle(payment);

  const signPermitFor = async (from: Hex): Promise<SignedPermit> => ({
    ...(await signPermit(fixture().chain, fixture().payer(), { from, amountBaseUnits: 1000n })),
    signature: '0x12',
  });
  /** Gas of the relayers' failed transactions, in all blocks. */
  const readBurntGas = async (): Promise<number> => {
    const relayers = new Set(fixture().chain.relayers.map(({ address }) => address.toLowerCase()));
    const head = await readHead();
    let burnt = 0;
    for (let block = 1; block <= head; block++) {
      const receipts = await fixture().rpc('eth_getBlockReceipts', [`0x${block.toString(16)}`]);
      for (const { from, status, gasUsed } of receipts as Receipt[]) {
        if (status === '0x0' && relayers.has(from.toLowerCase())) burnt += Number(gasUsed);
      }
    }
    return burnt;
  };
  const readSent = (): Promise<number> => fixture().readSent();
  /** The number of transactions in the pool that the next block would have. */
  const readPending = async (): Promise<number> => {
    const block = await fixture().rpc('eth_getBlockByNumber', ['pending', false]);
    return (block as { transactions: Hex[] }).transactions.length;
  };

  return {
    fixture,
    readHead,
    createWallet,
    createOneOfMany,
    createApproved,
    signFor,
    signPermitFor,
    deployHonest,
    verify,
    settle,
    readBurntGas,
    readSent,
    readPending,
  };
}
