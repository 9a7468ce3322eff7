import { randomBytes } from 'node:crypto';

import { listRefusals } from '@tollgate/ledger';
import { proofMessage, type Hex } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import { encodeTransfer, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { changeResult } from '../../../chain/test/rpc-stand-in.js';
import { PRICE, usePaymentVerifier } from '../../test/use-payment-verifier.js';

const { parts, ageLedger, ask, createReferenceNow, createVerifier, headTimeMs, payer, refusals } = usePaymentVerifier();

/** Longer than a busy machine takes for any of these tests. */
const LONG_MS = 50_000;

describe('verifying a payment while the chain catches up', () => {
  const inManualBlocks = async (work: () => Promise<void>) => {
    await callRpc(parts().devnet.rpcUrl, 'evm_setAutomine', [false]);
    try {
      await work();
    } finally {
      await callRpc(parts().devnet.rpcUrl, 'evm_setAutomine', [true]);
      await callRpc(parts().devnet.rpcUrl, 'evm_mine');
    }
  };
  const send = async () => {
    const data = encodeTransfer(parts().devnet, { amountBaseUnits: PRICE });
    const transaction = { from: payer().address, to: parts().devnet.asset, data, gas: '0x30d40' };
    return (await callRpc(parts().devnet.rpcUrl, 'eth_sendTransaction', [transaction])) as Hex;
  };
  const untilAsked = async (times: number) => {
    while (parts().rpc.requests.length < times) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('waits for the receipt, and claims when it comes', async () => {
    await inManualBlocks(async () => {
      const txHash = await send();
      parts().rpc.requests.length = 0;
      const verdict = ask(txHash, { waitMs: LONG_MS });
      await untilAsked(2);
      await callRpc(parts().devnet.rpcUrl, 'evm_mine');
      expect(await verdict).toMatchObject({ outcome: 'claimed' });
    });
  });

  it('refuses for now if the receipt does not come', async () => {
    const missing = { outcome: 'refused', failure: 'receipt_missing', retryAfterMs: 1000 };
    const unknown: Hex = `0x${randomBytes(32).toString('hex')}`;
    const startedAtMs = performance.now();
    expect(await ask(unknown, { waitMs: 600 })).toEqual(missing);
    expect(performance.now() - startedAtMs).toBeGreaterThan(599);
  });

  // Prevents: a payer whose payment is not mined yet is asked to pay again because others wait.
  it('refuses no payment for lack of room to wait', async () => {
    const verifier = createVerifier({}, LONG_MS, { perClient: 1 });
    const full = { outcome: 'unavailable', reason: 'waiting_room_full', retryAfterMs: 1000 };
    await inManualBlocks(async () => {
      const hashes = [await send(), await send(), await send()];
      const verdicts = hashes.map((txHash) => ask(txHash, { verifier }));
      expect(await Promise.all(verdicts.slice(1))).toEqual([full, full]);
      await callRpc(parts().devnet.rpcUrl, 'evm_mine');
      expect(await verdicts[0]).toMatchObject({ outcome: 'claimed' });
      expect(await ask(hashes[1]!, { verifier })).toMatchObject({ outcome: 'claimed' });
    });
  });

  it('limits the waits per client and in all, and lets waiting payments share batches', async () => {
    const verifier = createVerifier({}, LONG_MS, { perClient: 4, total: 6 });
    const clients = [...Array<string>(7).fill('10.0.0.1'), ...Array<string>(3).fill('10.0.0.2')];
    await inManualBlocks(async () => {
      const hashes: Hex[] = [];
      while (hashes.length < clients.length) hashes.push(await send());
      parts().rpc.requests.length = 0;
      const done: string[] = [];
      const asked = clients.map(async (clientAddress, index) => {
        const verdict = await ask(hashes[index]!, { verifier, request: { clientAddress } });
        done.push(clientAddress);
        return verdict.outcome;
      });
      await untilAsked(3);
      expect(done.sort()).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2']);
      const looks = parts().rpc.requests.map(
        (methods) => methods.filter((one) => one === 'eth_getTransactionReceipt').length,
      );
      expect(looks).toEqual([10, ...looks.slice(1).map(() => 6)]);
      await callRpc(parts().devnet.rpcUrl, 'evm_mine');
      expect((await Promise.all(asked)).filter((outcome) => outcome === 'claimed')).toHaveLength(6);
    });
  });

  it('keeps the id of a payment whose transaction moves within its block', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    const first = await ask(txHash);
    parts().rpc.fail(
      changeResult('eth_getTransactionReceipt', (receipt: { logs: object[] }) => ({
        ...receipt,
        logs: receipt.logs.map((log) => ({ ...log, logIndex: '0x2a' })),
      })),
    );
    expect(first).toMatchObject({ outcome: 'claimed' });
    expect(await ask(txHash)).toMatchObject({ outcome: 'busy' });
  });
});

describe('verifying a payment and its age', () => {
  const MINUTE = 60_000;
  /** Mines the transfer in a block of that age, as if the ledger had existed since long before. */
  const payAgo = async (ageMs: number, lockReference?: string) => {
    await ageLedger();
    await callRpc(parts().devnet.rpcUrl, 'anvil_setTime', [Math.floor((parts().ledger.nowMs() - ageMs) / 1000)]);
    try {
      return await transferTokens(parts().devnet, {
        amountBaseUnits: PRICE,
        ...(lockReference === undefined ? {} : { lockReference }),
      });
    } finally {
      await callRpc(parts().devnet.rpcUrl, 'anvil_setTime', [Math.floor(parts().ledger.nowMs() / 1000)]);
    }
  };

  it('refuses and records a bare transfer 20 minutes old, but not under policy receipt', async () => {
    const txHash = await payAgo(20 * MINUTE);
    expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'payment_too_old' });
    expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([
      expect.objectContaining({
        failure: 'payment_too_old',
        payer: payer().address.toLowerCase(),
        amountBaseUnits: String(PRICE),
      }),
    ]);
    expect(await ask(txHash, { rules: { policy: 'receipt' } })).toMatchObject({ outcome: 'claimed' });
  });

  // Prevents: an operator refunds what has bought an answer after all.
  it('marks the record of a bare transfer 20 minutes old once its payer redeems it with a signature', async () => {
    const txHash = await payAgo(20 * MINUTE);
    expect(await ask(txHash)).toMatchObject({ failure: 'payment_too_old' });
    const reference = await createReferenceNow({ issuedAtMs: parts().ledger.nowMs() - 21 * MINUTE });
    const message = proofMessage(reference.text, txHash);
    const signature = await privateKeyToAccount(payer().privateKey).signMessage({ message });
    const fingerprint = 'one-resource';
    const verdict = await ask(txHash, { request: { reference, signature, fingerprint } });
    if (verdict.outcome !== 'claimed') throw new Error(verdict.outcome);
    await parts().ledger.commit(verdict.lease, null);
    expect(await ask(txHash, { request: { fingerprint } })).toMatchObject({ failure: 'payment_used' });
    const [newest] = await listRefusals(parts().redis, { limit: 1 });
    expect(newest).toMatchObject({ payment: `tx:1328:${txHash}:0`, failure: 'payment_too_old', redeemed: true });
  });

  it('claims a bound payment 20 minutes old, but not one 25 hours old', async () => {
    for (const [ageMs, expected] of [
      [20 * MINUTE, { outcome: 'claimed', bound: true }],
      [25 * 60 * MINUTE, { outcome: 'refused', failure: 'payment_too_old' }],
    ] as const) {
      const reference = await createReferenceNow({ issuedAtMs: parts().ledger.nowMs() - ageMs - MINUTE });
      const txHash = await payAgo(ageMs, reference.text);
      expect(await ask(txHash, { request: { reference } })).toMatchObject(expected);
    }
  });

  // Prevents a refund for an answer that was delivered: the ledger forgets a spent payment long after its window.
  it('notes on a refused payment that the ledger may have forgotten it', async () => {
    const detailOf = async (txHash: Hex, priceBaseUnits = PRICE) => {
      const request = { priceBaseUnits: String(priceBaseUnits) };
      expect(await ask(txHash, { request })).toMatchObject({ outcome: 'refused' });
      return (await refusals()).find(({ payment }) => payment?.includes(txHash))?.detail;
    };
    const forgotten = expect.stringContaining('may have been spent') as string;
    expect(await detailOf(await payAgo(20 * MINUTE))).toBeUndefined();
    expect(await detailOf(await payAgo(25 * 60 * MINUTE))).toEqual(forgotten);
    expect(await detailOf(await payAgo(MINUTE), 2n * PRICE)).toBeUndefined();
    const [fromBefore, lowFromBefore] = [await payAgo(MINUTE), await payAgo(MINUTE)];
    const births = await parts().redis.keys('*:birth');
    for (const key of births) await parts().redis.hset(key, { at: parts().ledger.nowMs() - 1000 });
    expect(await detailOf(fromBefore)).toEqual(forgotten);
    expect(await detailOf(lowFromBefore, 2n * PRICE)).toEqual(forgotten);
    for (const key of births) await parts().redis.hset(key, { at: 1 });
  });

  it('records a bound payment that was late', async () => {
    const issuedAtMs = (await headTimeMs()) - 600_000;
    const reference = await createReferenceNow({ issuedAtMs });
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
    for (let times = 0; times < 2; times++) {
      expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'payment_late' });
    }
    expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([
      expect.objectContaining({
        failure: 'payment_late',
        payer: payer().address.toLowerCase(),
        amountBaseUnits: String(PRICE),
      }),
    ]);
  });

  // Prevents a refund for an answer that was delivered: a payer may sign any number of references, and one in time is
  // served.
  it('does not record a late payment that another signature can still redeem', async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    const askWith = async (issuedAtMs: number) => {
      const reference = await createReferenceNow({ issuedAtMs });
      const message = proofMessage(reference.text, txHash);
      const signature = await privateKeyToAccount(payer().privateKey).signMessage({ message });
      return ask(txHash, { rules: { policy: 'bound' }, request: { reference, signature } });
    };
    expect(await askWith((await headTimeMs()) - 600_000)).toEqual({ outcome: 'refused', failure: 'payment_late' });
    expect(await askWith(await headTimeMs())).toMatchObject({ outcome: 'claimed' });
    expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([]);
  });

  it('allows for a small difference between clocks', async () => {
    const issuedAtMs = (await headTimeMs()) - 300_000;
    const reference = await createReferenceNow({ issuedAtMs });
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
    expect(await ask(txHash, { request: { reference } })).toMatchObject({ outcome: 'claimed' });
  });
});
