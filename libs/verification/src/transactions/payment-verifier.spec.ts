import { createHashLock, type Hex } from '@tollgate/protocol';
import { concatHex } from 'viem';

import { encodeTransfer, sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { readEvents } from '../../../ledger/test/read-events.js';
import { PRICE, usePaymentVerifier } from '../../test/use-payment-verifier.js';

const { parts, ask, createReferenceNow, payer, refusals } = usePaymentVerifier();

const refusalsOf = async (txHash: Hex) => (await refusals()).filter(({ payment }) => payment?.includes(txHash));

const tooLow = { outcome: 'refused', failure: 'amount_too_low' };

describe('verifying a payment with a bare transfer', () => {
  it('claims one that pays the price, in one round trip', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    parts().rpc.requests.length = 0;
    expect(await ask(txHash)).toEqual({
      outcome: 'claimed',
      bound: false,
      payer: payer().address.toLowerCase(),
      amountBaseUnits: '1000',
      lease: {
        id: { kind: 'transfer', chainId: 1328, txHash, logIndex: 0 },
        owner: expect.any(String),
        generation: expect.any(Number),
        untilMs: expect.any(Number),
      },
    });
    expect(parts().rpc.requests).toHaveLength(1);
  });

  it('refuses one that pays one unit less, records it once, and reports it to the book with a count', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE - 1n });
    for (let time = 0; time < 3; time++) expect(await ask(txHash)).toEqual(tooLow);
    const events = await readEvents(parts().redis, `tx:1328:${txHash}:0`);
    const facts = { failure: 'amount_too_low', amount: String(PRICE - 1n), transaction: txHash, logIndex: 0 };
    expect(events).toMatchObject([1, 2].map((count) => ({ type: 'refused', facts: { ...facts, count } })));
    expect(await refusalsOf(txHash)).toEqual([
      expect.objectContaining({
        payment: `tx:1328:${txHash}:0`,
        failure: 'amount_too_low',
        payer: payer().address.toLowerCase(),
        asset: parts().devnet.asset.toLowerCase(),
        amountBaseUnits: String(PRICE - 1n),
      }),
    ]);
  });

  // Prevents: a stranger presents the payments of others at a higher price, and they are listed for a refund.
  it('records none that pays for a cheaper request, before or after its answer', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    const expensive = { request: { priceBaseUnits: String(PRICE + 1n) } };
    const verdict = await ask(txHash);
    expect(await ask(txHash, expensive)).toEqual(tooLow);
    if (verdict.outcome !== 'claimed') throw new Error(verdict.outcome);
    await parts().ledger.commit(verdict.lease, null);
    expect(await ask(txHash, expensive)).toEqual(tooLow);
    expect(await refusalsOf(txHash)).toEqual([]);
    expect(await readEvents(parts().redis, `tx:1328:${txHash}:0`)).toEqual([]);
  });

  it('records nothing for a transfer of nothing', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: 0n });
    expect(await ask(txHash)).toEqual(tooLow);
    expect(await refusalsOf(txHash)).toEqual([]);
    expect(await readEvents(parts().redis, `tx:1328:${txHash}:0`)).toEqual([]);
  });

  it('records one that is too low once it is confirmed', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE - 1n });
    const rules = { confirmations: 3 };
    expect(await ask(txHash, { rules })).toMatchObject({ failure: 'not_confirmed' });
    expect(await refusalsOf(txHash)).toEqual([]);
    await callRpc(parts().devnet.rpcUrl, 'anvil_mine', ['0x2']);
    expect(await ask(txHash, { rules })).toEqual(tooLow);
    expect(await refusalsOf(txHash)).toHaveLength(1);
  });

  it('refuses a failed transaction, under every policy', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: 10n ** 30n });
    for (const policy of ['receipt', 'transfer', 'bound'] as const) {
      expect(await ask(txHash, { rules: { policy } })).toEqual({ outcome: 'refused', failure: 'transaction_failed' });
    }
  });

  it('refuses a transaction without a transfer', async () => {
    const txHash = await sendTransaction(parts().devnet, { to: parts().devnet.payTo, data: '0x' });
    expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'transfer_missing' });
  });

  it('is refused under policy bound', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    const reference = await createReferenceNow();
    expect(await ask(txHash, { rules: { policy: 'bound' } })).toEqual({ outcome: 'refused', failure: 'not_bound' });
    expect(await ask(txHash, { rules: { policy: 'bound' }, request: { reference } })).toEqual({
      outcome: 'refused',
      failure: 'not_bound',
    });
  });

  it('must cover the current price, whatever reference is sent with it', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE / 2n });
    const reference = await createReferenceNow({ priceBaseUnits: String(PRICE / 2n) });
    expect(await ask(txHash, { request: { reference } })).toEqual(tooLow);
    expect(await refusalsOf(txHash)).toHaveLength(1);
  });

  it('sells three answers to three transfers in one transaction', async () => {
    const txHash = await parts().wallet.pay([1, 2, 3].map(() => ({ amountBaseUnits: PRICE })));
    const verdicts = await Promise.all([1, 2, 3, 4].map(() => ask(txHash)));
    expect(verdicts.map(({ outcome }) => outcome).sort()).toEqual(['busy', 'claimed', 'claimed', 'claimed']);
    expect(verdicts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ outcome: 'claimed', payer: parts().wallet.address.toLowerCase(), bound: false }),
      ]),
    );
  });

  it('ignores a lock without its transfer', async () => {
    // A bundle's calldata may contain locks without a transfer.
    const [mine, theirs] = [await createReferenceNow(), await createReferenceNow()];
    const call = encodeTransfer(parts().devnet, { amountBaseUnits: PRICE, lockReference: mine.text });
    const stray = encodeTransfer(parts().devnet, { amountBaseUnits: PRICE });
    const data = concatHex([call, stray, createHashLock(theirs.text)]);
    const txHash = await sendTransaction(parts().devnet, { to: parts().devnet.asset, data });
    for (const reference of [mine, theirs]) {
      expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'lock_mismatch' });
    }
  });
});
