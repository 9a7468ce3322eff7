import { bundleCalls, planPermitTransfer, PROXIES, type MinedTransaction } from '@tollgate/chain';
import { readPaymentName } from '@tollgate/ledger';
import type { Hex, SignedPermit } from '@tollgate/protocol';

import { findPayer } from './find-payer.js';
import type { RefundChain } from './ports.js';

const [ASSET, PAYER, OTHER, SHOP, BUNDLER] = ['a5', '11', '22', '33', '44'].map((byte) => `0x${byte.repeat(20)}`) as [
  ...[Hex, Hex, Hex, Hex, Hex],
];
const CHAIN_ID = 1328;
const HASH: Hex = `0x${'ab'.repeat(32)}`;
const nonceOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const word = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`;

const log = (address: Hex, topics: Hex[], data: Hex = '0x') => ({ address, topics, data });
const transfer = (from = PAYER, units = 7000, to = SHOP) =>
  log(
    ASSET,
    ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(from), word(to)],
    nonceOf(units),
  );
const used = (nonce: number, from = PAYER) =>
  log(ASSET, ['0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5', word(from), nonceOf(nonce)]);
const settled = () => log(PROXIES.exact, ['0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6']);

const permitCall = (nonce: number, amount = '7000') => {
  const permit2Authorization = {
    from: PAYER,
    spender: PROXIES.exact,
    nonce: String(nonce),
    deadline: '9999999999',
    permitted: { token: ASSET, amount },
    witness: { to: SHOP, validAfter: '0' },
  };
  const payment = { kind: 'permit2', scheme: 'exact', permit2Authorization, signature: `0x${'12'.repeat(65)}` };
  return planPermitTransfer(payment as SignedPermit, BigInt(amount));
};

/** Looks for a payment of 7000 base units in a transaction with these logs. */
function find(
  name: string,
  logs: ReturnType<typeof log>[],
  { to = BUNDLER, data = '0x' }: { to?: Hex; data?: Hex } = {},
) {
  const receipt = { txHash: HASH, status: 'success', from: OTHER, blockNumber: 5, blockTimeMs: 9000, logs };
  const chain = {
    chainId: CHAIN_ID,
    readTransaction: async () => ({ receipt, to, input: data }) as unknown as MinedTransaction,
    isContract: async () => false,
  };
  const payment = { transaction: HASH, amount: 7000n, asset: ASSET, payTo: SHOP };
  return findPayer(chain as unknown as RefundChain, { id: readPaymentName(name)!, ...payment });
}

const tx = (slot: number | 'receipt', chainId = CHAIN_ID): string => `tx:${chainId}:${HASH}:${slot}`;
const auth = (nonce: number, { from = PAYER, asset = ASSET } = {}): string =>
  `auth:${CHAIN_ID}:${asset}:${from}:${nonceOf(nonce)}:auth`;
const permit = (nonce: number, owner = PAYER): string => `permit:${CHAIN_ID}:${owner}:${nonce}:permit`;
const shows = (...logs: number[]) => ({
  outcome: 'found',
  payer: { address: PAYER, transfers: logs.map((position) => ({ log: position, arrived: '7000' })) },
});
const none = (reason: string) => ({ outcome: 'none', reason });

describe('finding the payer of a payment', () => {
  // Prevents: any event that names a transaction makes a payment of each of its transfers.
  it('takes the transfer of an authorization by its nonce, and by nothing else', async () => {
    const logs = [used(1), transfer(), used(2), transfer(), used(3, OTHER), transfer(OTHER)];
    expect(await find(auth(1), logs)).toMatchObject(shows(1));
    expect(await find(auth(2), logs)).toMatchObject(shows(3));
    for (const forged of [auth(3), auth(9), auth(1, { from: OTHER }), auth(1, { asset: OTHER }), permit(1)]) {
      expect(await find(forged, logs)).toEqual(none('paid_nothing'));
    }
  });

  it('names the authorization where its transfer is asked for by the place of its log', async () => {
    expect(await find(tx(1), [used(1), transfer()])).toEqual({ ...none('other_name'), name: auth(1) });
  });

  it('takes a transfer that no signature caused by the place of its log', async () => {
    const logs = [transfer(), used(1), transfer(), transfer(PAYER, 7000, OTHER), transfer(SHOP)];
    expect(await find(tx(0), logs)).toMatchObject(shows(0));
    for (const forged of [tx(1), tx(3), tx(4), tx(99)]) expect(await find(forged, logs)).toEqual(none('paid_nothing'));
    expect(await find(tx(0, 1), logs)).toEqual(none('not_on_chain'));
  });

  it('takes all transfers of a transaction that is a payment as a whole, without those that a signature caused', async () => {
    expect(await find(tx('receipt'), [transfer(), transfer()])).toMatchObject(shows(0, 1));
    const batch = [used(1), transfer(), used(2), transfer(), transfer(), settled()];
    expect(await find(tx('receipt'), batch)).toEqual(none('paid_nothing'));
    expect(await find(tx('receipt'), [...batch, transfer()])).toMatchObject(shows(6));
    expect(await find(tx('receipt'), [transfer(), transfer(OTHER)])).toEqual(none('unclear'));
  });

  it('takes the transfer of a permit by the nonce in the call, and names that permit where the log is asked for', async () => {
    const logs = [transfer(), settled()];
    const sent = permitCall(5);
    expect(await find(permit(5), logs, sent)).toMatchObject({ ...shows(0), payer: { permit: null } });
    expect(await find(tx(0), logs, sent)).toMatchObject({ ...shows(0), payer: { permit: permit(5) } });
    for (const forged of [permit(6), permit(5, OTHER), auth(5)])
      expect(await find(forged, logs, sent)).toEqual(none('paid_nothing'));
  });

  it('takes one of several permits that another contract has sent only where nothing else can be meant', async () => {
    const two = bundleCalls(
      BUNDLER,
      [permitCall(5), permitCall(6, '8000')].map((call) => ({ ...call, mayFail: true })),
    );
    const logs = [transfer(), settled(), transfer(PAYER, 8000), settled()];
    expect(await find(permit(5), logs, two)).toMatchObject({ ...shows(0), payer: { permit: 'unknown' } });
    expect(await find(permit(7), logs, two)).toEqual(none('paid_nothing'));
    const alike = bundleCalls(
      BUNDLER,
      [permitCall(5), permitCall(6)].map((call) => ({ ...call, mayFail: true })),
    );
    expect(await find(permit(5), [transfer(), settled(), transfer(), settled()], alike)).toEqual(none('unclear'));
  });
});
