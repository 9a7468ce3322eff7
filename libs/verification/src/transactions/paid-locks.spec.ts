import { randomBytes } from 'node:crypto';

import { lockOf, lowerHex, type Hex } from '@tollgate/protocol';
import type { VerifyLockRequest } from '@tollgate/transport';

import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { PRICE, usePaymentVerifier } from '../../test/use-payment-verifier.js';
import { ClientShares } from '../limits/client-shares.js';
import { SellerTerms } from '../seller-terms.js';
import { PaidLocks } from './paid-locks.js';

const { parts } = usePaymentVerifier();
const reference = 'the reference of a ticket';

function createLocks(share = {}): PaidLocks {
  const { devnet, otherToken, chain, ledger } = parts();
  return new PaidLocks({
    terms: new SellerTerms(
      1328,
      [devnet.asset, otherToken].map((asset) => ({ asset: lowerHex(asset), payTo: lowerHex(devnet.payTo) })),
    ),
    chain,
    nowMs: () => ledger.nowMs(),
    shares: new ClientShares({ lookupsPerMinute: 1_200, bytesPerMinute: 8_388_608, ...share }),
  });
}

function askFor(txHash: Hex, changes: Partial<VerifyLockRequest> = {}, locks = createLocks()) {
  const { devnet, ledger } = parts();
  return locks.verify({
    requestId: 'r',
    clientAddress: '10.0.0.1',
    deadlineMs: ledger.nowMs() + 60_000,
    chainId: 1328,
    txHash,
    asset: devnet.asset.toLowerCase() as Hex,
    payTo: devnet.payTo.toLowerCase() as Hex,
    priceBaseUnits: PRICE.toString(),
    lock: lockOf(reference),
    ...changes,
  });
}

describe('a transaction has paid under a lock', () => {
  const transfer = (amountBaseUnits = PRICE, lockReference?: string) =>
    transferTokens(parts().devnet, { amountBaseUnits, ...(lockReference && { lockReference }) });

  it('where it carries the lock and at least the price', async () => {
    expect(await askFor(await transfer(PRICE, reference))).toEqual({ outcome: 'paid' });
    expect(await askFor(await transfer(PRICE + 1n, reference))).toEqual({ outcome: 'paid' });
  });

  it('also where it is one of a batch', async () => {
    const txHash = await parts().wallet.pay([
      { amountBaseUnits: PRICE, lockReference: 'of somebody else' },
      { amountBaseUnits: PRICE, lockReference: reference },
    ]);
    expect(await askFor(txHash)).toEqual({ outcome: 'paid' });
  });

  // Prevents: a stranger adds a lock of its own to a bundle, and a few units of another accepted token without a lock. If
  // locks were paired with transfers of any token, the stranger's lock would be paired with another payer's transfer.
  it('and not where a bundle has more locks than transfers of the token, whatever it moves of another one', async () => {
    const { devnet, otherToken, wallet } = parts();
    const [amountBaseUnits, stranger] = [PRICE, 'of a stranger'];
    await transferTokens(devnet, { token: otherToken, to: wallet.address, amountBaseUnits });
    const txHash = await wallet.pay([
      // An account without code: the call succeeds and moves nothing.
      { token: devnet.accounts[5]!.address, amountBaseUnits, lockReference: stranger },
      { amountBaseUnits, lockReference: reference },
      { token: otherToken, amountBaseUnits },
    ]);
    for (const lock of [lockOf(stranger), lockOf(reference)]) {
      for (const asset of [devnet.asset, otherToken].map((token) => lowerHex(token)))
        expect(await askFor(txHash, { asset, lock })).toEqual({ outcome: 'not_paid' });
    }
  });

  it('and else not', async () => {
    const notPaid = { outcome: 'not_paid' };
    expect(await askFor(await transfer(PRICE, 'another reference'))).toEqual(notPaid);
    expect(await askFor(await transfer())).toEqual(notPaid);
    expect(await askFor(await transfer(PRICE - 1n, reference))).toEqual(notPaid);
    expect(await askFor(`0x${randomBytes(32).toString('hex')}`)).toEqual(notPaid);
    const { devnet } = parts();
    expect(await askFor(await sendTransaction(devnet, { to: devnet.payTo, data: '0x' }))).toEqual(notPaid);
  });

  it('is not looked for on other terms, too late, or for a client over its share', async () => {
    const txHash = await transfer(PRICE, reference);
    const differ = { outcome: 'unavailable', reason: 'settings_differ' };
    expect(await askFor(txHash, { chainId: 1 })).toEqual(differ);
    expect(await askFor(txHash, { payTo: `0x${'12'.repeat(20)}` })).toEqual(differ);
    expect(await askFor(txHash, { deadlineMs: 1 })).toEqual({ outcome: 'unavailable', reason: 'deadline_passed' });
    const locks = createLocks({ lookupsPerMinute: 1 });
    expect(await askFor(`0x${randomBytes(32).toString('hex')}`, {}, locks)).toEqual({ outcome: 'not_paid' });
    expect(await askFor(txHash, {}, locks)).toEqual({ outcome: 'unavailable', reason: 'client_share_used_up' });
    expect(await askFor(txHash, { clientAddress: '10.0.0.2' }, locks)).toEqual({ outcome: 'paid' });
  });

  it('is not known while no RPC server answers', async () => {
    const txHash = await transfer(PRICE, reference);
    parts().rpc.fail({ kind: 'status', status: 500 });
    expect(await askFor(txHash, { deadlineMs: parts().ledger.nowMs() + 500 })).toMatchObject({
      outcome: 'unavailable',
    });
  });
});
