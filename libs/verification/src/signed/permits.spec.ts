import { bundleCalls, planPermitTransfer } from '@tollgate/chain';
import type { JobRecord, JobState, Journal } from '@tollgate/journal';
import { hashRetryKey } from '@tollgate/ledger';
import type { Hex, SignedPayment, SignedPermit } from '@tollgate/protocol';
import {
  encodeSettlementJob,
  nameSettlement,
  parseSettlementJob,
  type PaymentEntry,
  planEntry,
  SettlementRecords,
} from '@tollgate/settlement';
import { encodeFunctionData, parseAbi, serializeErc6492Signature } from 'viem';

import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { approvePermit2, signPermit, type PermitTerms } from '../../../../tools/devnet/chain/sign-permit.js';
import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { EXACT_PROXY, MULTICALL3, PERMIT2, UPTO_PROXY } from '../../../../tools/devnet/protocols/place-contracts.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const { parts, ask, asset, payer, relayer, refusals, createRequest, createVerifier } = useSignedPaymentVerifier();

const account = (index: number): DevnetAccount => parts().devnet.accounts[index]!;
const addressOf = (index: number): Hex => account(index).address.toLowerCase() as Hex;
const inSeconds = (seconds: number): bigint => BigInt(Math.floor(Date.now() / 1000) + seconds);
const refused = (failure: string) => ({ outcome: 'refused', failure, payer: addressOf(0) });

const sign = (terms: Partial<PermitTerms> = {}, signer = payer()): Promise<SignedPermit> =>
  signPermit(parts().devnet, signer, { amountBaseUnits: PRICE, deadline: inSeconds(300), ...terms });
const signMetered = (terms: Partial<PermitTerms> = {}, signer = payer()): Promise<SignedPermit> =>
  sign({ facilitator: relayer().address, ...terms }, signer);
const signBy = { exact: sign, upto: signMetered };

/** As the payer's wallet or a relayer sends it. */
const settle = (payment: SignedPermit, amount: bigint, from: Hex = addressOf(5)): Promise<Hex> =>
  sendTransaction(parts().devnet, { from, ...planPermitTransfer(payment, amount) });
const settleMetered = async (payment: SignedPermit, amount: bigint): Promise<Hex> => {
  await callRpc(parts().devnet.rpcUrl, 'anvil_impersonateAccount', [relayer().address]);
  return settle(payment, amount, relayer().address);
};
const call = (to: Hex, data: Hex, from: Hex) => sendTransaction(parts().devnet, { from, to, data });

beforeAll(() => approvePermit2(parts().devnet, { owner: payer().address }));

describe.each(['exact', 'upto'] as const)('verifying a payment by Permit2 under scheme %s', (scheme) => {
  const signed = (terms: Partial<PermitTerms> = {}, signer?: DevnetAccount) => signBy[scheme](terms, signer);

  it('claims one that was not sent yet, in one round trip', async () => {
    const payment = await signed();
    parts().rpc.requests.length = 0;
    const { nonce } = payment.permit2Authorization;
    expect(await ask(payment)).toMatchObject({
      outcome: 'claimed',
      payer: addressOf(0),
      txHash: null,
      lease: { id: { kind: 'permit2', chainId: 1328, owner: addressOf(0), nonce }, generation: 1 },
    });
    expect(parts().rpc.requests).toHaveLength(1);
  });

  it('verifies without a claim when none is asked for', async () => {
    const payment = await signed();
    const valid = { outcome: 'valid', payer: addressOf(0), txHash: null };
    expect(await ask(payment, { claim: null })).toEqual(valid);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', lease: { generation: 1 } });
  });

  // Prevents: Permit2 passes on a megabyte of revert data from the payer's contract, and all others wait for it.
  it('counts a contract that reverts with 128 KB as a refusal of a few bytes', async () => {
    const payment = await signed({}, account(7));
    await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [addressOf(7), '0x6201f4006000fd']);
    parts().rpc.longestAnswer = 0;
    const failure = { outcome: 'refused', failure: 'signature_invalid', payer: addressOf(7) };
    expect(await ask({ ...payment, signature: `0x${'22'.repeat(66)}` })).toEqual(failure);
    expect(parts().rpc.longestAnswer).toBeLessThan(5_000);
    await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [addressOf(7), '0x']);
  });

  it.each<[string, string, (terms: { elsewhere: Hex }) => Partial<PermitTerms>]>([
    ['another recipient', 'recipient_mismatch', ({ elsewhere }) => ({ to: elsewhere })],
    ['another token', 'asset_mismatch', ({ elsewhere }) => ({ token: elsewhere })],
    ['another spender', 'spender_mismatch', ({ elsewhere }) => ({ spender: elsewhere })],
    [
      'the proxy of the other scheme',
      'spender_mismatch',
      () => ({ spender: scheme === 'upto' ? EXACT_PROXY : UPTO_PROXY }),
    ],
    [
      'one unit less',
      scheme === 'upto' ? 'amount_too_low' : 'amount_mismatch',
      () => ({ amountBaseUnits: PRICE - 1n }),
    ],
    ['a start in the future', 'authorization_not_yet_valid', () => ({ validAfter: inSeconds(60) })],
    ['an expiry in the past', 'authorization_expired', () => ({ deadline: inSeconds(-60) })],
    ['an expiry too soon to settle it', 'authorization_expired', () => ({ deadline: inSeconds(3) })],
  ])('refuses %s: %s', async (_, failure, termsFor) => {
    expect(await ask(await signed(termsFor({ elsewhere: addressOf(3) })))).toEqual(refused(failure));
  });

  it('refuses an expiry before the resource is made and paid for', async () => {
    const request = { validForMs: 45_000 };
    expect(await ask(await signed({ deadline: inSeconds(40) }), { request })).toEqual(refused('authorization_expired'));
    expect(await ask(await signed({ deadline: inSeconds(55) }), { request })).toMatchObject({ outcome: 'claimed' });
  });

  it("refuses a signature of another account's key, and one over other terms", async () => {
    const by = { from: payer().address };
    expect(await ask(await signed(by, account(4)))).toEqual(refused('signature_invalid'));
    const payment = await signed();
    const { permit2Authorization } = payment;
    const later = { ...permit2Authorization, deadline: String(inSeconds(900)) };
    const changed = { ...payment, permit2Authorization: later } as SignedPermit;
    expect(await ask(changed)).toEqual(refused('signature_invalid'));
  });

  it('accepts the bare recovery bit as v', async () => {
    const payment = await signed();
    const last = Number.parseInt(payment.signature.slice(-2), 16) - 27;
    const signature: Hex = `0x${payment.signature.slice(2, -2)}0${last}`;
    expect(await ask({ ...payment, signature })).toMatchObject({ outcome: 'claimed' });
  });

  it('refuses a payer whose Permit2 allowance or balance is too low', async () => {
    const index = scheme === 'upto' ? 2 : 6;
    const owner = account(index);
    const byOther = { ...refused('permit2_allowance_missing'), payer: addressOf(index) };
    expect(await ask(await signed({}, owner))).toEqual(byOther);
    await approvePermit2(parts().devnet, { owner: owner.address, amount: PRICE - 1n });
    expect(await ask(await signed({}, owner))).toEqual(byOther);
    await approvePermit2(parts().devnet, { owner: owner.address, amount: PRICE });
    expect(await ask(await signed({}, owner))).toMatchObject({ outcome: 'claimed' });

    const poor = parts().devnet.relayers[1]!;
    await callRpc(parts().devnet.rpcUrl, 'anvil_impersonateAccount', [poor.address]);
    await approvePermit2(parts().devnet, { owner: poor.address });
    expect(await ask(await signed({}, poor))).toMatchObject({ outcome: 'refused', failure: 'balance_too_low' });
  });

  it('lets a contract wallet decide on its signature (EIP-1271)', async () => {
    const { wallet } = parts();
    await wallet.approve(PERMIT2);
    const byOwner = await signed({ from: wallet.address });
    expect(await ask(byOwner)).toMatchObject({ outcome: 'claimed', payer: wallet.address.toLowerCase() });
    const byStranger = await signed({ from: wallet.address }, account(4));
    expect(await ask(byStranger)).toMatchObject({ outcome: 'refused', failure: 'signature_invalid' });
  });

  // Prevents: a deployed wallet signs as if it were not, is accepted, has the resource produced and is never settled.
  it('accepts a wrapped signature (EIP-6492) from a deployed wallet, and settles it', async () => {
    const { wallet } = parts();
    await wallet.approve(PERMIT2);
    const payment = await signed({ from: wallet.address });
    const wrapped = { address: addressOf(3), data: '0x12345678', signature: payment.signature } as const;
    const signature = serializeErc6492Signature(wrapped);
    expect(await ask({ ...payment, signature })).toMatchObject({ outcome: 'claimed' });
    const { permitted, witness, from: payer } = payment.permit2Authorization;
    const terms = { asset: permitted.token, payTo: witness.to, payer, amountBaseUnits: String(PRICE) };
    const asked: PaymentEntry = { ...terms, forOther: true, payment: { ...payment, signature } };
    const [entry] = parseSettlementJob(encodeSettlementJob([asked]));
    const { payer: owner } = entry!;
    const call = planEntry(entry!, { chainId: parts().devnet.chainId, multicall3: MULTICALL3, isDeployed: true });
    await callRpc(parts().devnet.rpcUrl, 'eth_call', [{ from: relayer().address, ...call }, 'latest']);
    expect([owner, entry!.forOther]).toEqual([payment.permit2Authorization.from, true]);
  });

  it.each([
    ['the proxy', () => (scheme === 'upto' ? UPTO_PROXY : EXACT_PROXY)],
    ['Permit2', () => PERMIT2],
  ])('refuses if %s is not on the chain', async (_, addressFor) => {
    const { rpcUrl } = parts().devnet;
    const code = await callRpc(rpcUrl, 'eth_getCode', [addressFor(), 'latest']);
    await callRpc(rpcUrl, 'anvil_setCode', [addressFor(), '0x']);
    try {
      expect(await ask(await signed())).toEqual(refused('permit2_missing'));
    } finally {
      await callRpc(rpcUrl, 'anvil_setCode', [addressFor(), code]);
    }
  });

  it('refuses a nonce that the payer has invalidated', async () => {
    const nonce = 0x7700n + (scheme === 'upto' ? 1n : 2n);
    const abi = parseAbi(['function invalidateUnorderedNonces(uint256 word, uint256 mask)']);
    const args = [nonce >> 8n, 1n << (nonce & 0xffn)] as const;
    const payment = await signed({ nonce });
    expect(await ask(payment, { claim: null })).toMatchObject({ outcome: 'valid' });
    await call(PERMIT2, encodeFunctionData({ abi, functionName: 'invalidateUnorderedNonces', args }), payer().address);
    expect(await ask(payment)).toEqual(refused('payment_used'));
    // Prevents: showing it repeatedly makes the RPC server search its whole past each time.
    parts().rpc.requests.length = 0;
    expect(await ask(payment)).toEqual(refused('payment_used'));
    expect(parts().rpc.requests.flat()).not.toContain('eth_getLogs');
    expect(await ask(await signed({ nonce: nonce + 16n }))).toMatchObject({ outcome: 'claimed' });
  });

  it('gives one answer for one payment', async () => {
    const payment = await signed();
    const verifier = createVerifier();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verifier.verify(createRequest(payment))));
    expect(verdicts.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
    expect(verdicts.filter(({ outcome }) => outcome === 'busy')).toHaveLength(19);
  });
});

describe('verifying a payment by Permit2 under scheme exact', () => {
  it('refuses one unit more than the price', async () => {
    expect(await ask(await sign({ amountBaseUnits: PRICE + 1n }))).toEqual(refused('amount_mismatch'));
  });

  it('serves a payer whose permit another account has sent', async () => {
    const payment = await sign();
    const txHash = await settle(payment, PRICE);
    const settled = { payer: addressOf(0), txHash, amountBaseUnits: String(PRICE) };
    expect(await ask(payment, { claim: null })).toEqual({ outcome: 'valid', ...settled });
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', ...settled });
    expect(await ask(payment)).toMatchObject({ outcome: 'busy' });
  });

  it('finds it among many others of the same payer, including those made after another one was searched for', async () => {
    const payment = await sign();
    const txHash = await settle(payment, PRICE);
    for (let index = 0; index < 5; index++) {
      const later = await sign();
      const laterHash = await settle(later, PRICE);
      expect(await ask(later)).toMatchObject({ outcome: 'claimed', txHash: laterHash });
    }
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  // Prevents: a third party sends the permit and buries it under transfers that cost only gas, and the payer pays
  // again.
  it('finds it below transfers of zero, which any account can make in the name of the payer', async () => {
    const payment = await sign();
    const txHash = await settle(payment, PRICE);
    const abi = parseAbi(['function transferFrom(address from, address to, uint256 value)']);
    const args = [payer().address, parts().devnet.payTo, 0n] as const;
    const nothing = encodeFunctionData({ abi, functionName: 'transferFrom', args });
    for (let count = 0; count < 33; count++) await call(asset(), nothing, addressOf(5));
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  describe('that a relayer has sent', () => {
    /** Puts the payment into a job, as a relayer does before it sends it. */
    const putIntoJob = async (payment: SignedPermit): Promise<void> => {
      const name = nameSettlement(createRequest(payment).terms, payment, String(PRICE));
      await new SettlementRecords(parts().redis).claim([{ name, questionId: 'question', keptMs: 60_000 }], 'job');
    };
    /** The relayer's job, in this state and with this transaction. */
    const journalOf = (state: JobState, hash: Hex): Pick<Journal, 'readJob'> => {
      const steps = [{ mined: null, attempts: [{ hash }] }];
      return { readJob: () => Promise.resolve({ state, steps } as unknown as JobRecord) };
    };
    const hideTransactions = (): void => {
      const hidden: Record<string, unknown> = { eth_getLogs: [], eth_getTransactionReceipt: null };
      parts().rpc.fail({
        kind: 'rewrite',
        rewrite: (answers) =>
          answers.map((one) => (one.method in hidden ? { ...one, result: hidden[one.method] } : one)),
      });
    };
    afterEach(() => parts().rpc.fail(undefined));

    // Prevents: one of the servers behind the RPC URL lags, the payer is refused for good, signs anew and pays twice.
    it('is unavailable while the server shows neither its transaction nor its log', async () => {
      const payment = await sign();
      await putIntoJob(payment);
      const txHash = await settle(payment, PRICE);
      const journal = journalOf('BROADCAST', txHash);
      hideTransactions();
      expect(await ask(payment, { journal })).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
      parts().rpc.fail(undefined);
      expect(await ask(payment, { journal })).toMatchObject({ outcome: 'claimed', txHash });
    });

    it('is refused without a record if none of its transactions was mined when its job ended', async () => {
      const payment = await sign();
      await putIntoJob(payment);
      await settle(await sign({ nonce: BigInt(payment.permit2Authorization.nonce), amountBaseUnits: 1n }), 1n);
      const before = (await refusals()).length;
      const journal = journalOf('CANCELLED', `0x${'12'.repeat(32)}`);
      expect(await ask(payment, { journal })).toEqual(refused('payment_used'));
      expect(await refusals()).toHaveLength(before);
    });

    // Prevents: the journal keeps no more jobs than a busy minute has, and the money is not on record.
    it('is recorded for a refund if its job is forgotten and the server shows no log of it', async () => {
      const payment = await sign();
      await putIntoJob(payment);
      await settle(payment, PRICE);
      hideTransactions();
      expect(await ask(payment)).toEqual(refused('payment_used'));
      const name = `permit:1328:${addressOf(0)}:${payment.permit2Authorization.nonce}:permit`;
      const detail = 'not found among the newest payments of its payer: moved by this signature, or never';
      expect(await refusals()).toContainEqual(expect.objectContaining({ payment: name, detail }));
    });
  });

  // Prevents: the search ends, the payer is refused for good, and its money is not on record.
  it('records for a refund one that lies behind more newer payments than are read', async () => {
    const payment = await sign();
    await settle(payment, PRICE);
    for (let count = 0; count < 32; count++) {
      await transferTokens(parts().devnet, { from: payer().address, amountBaseUnits: 1n });
    }
    expect(await ask(payment)).toEqual(refused('payment_used'));
    const { nonce } = payment.permit2Authorization;
    const facts = { failure: 'payment_used', payer: addressOf(0), amountBaseUnits: String(PRICE) };
    const detail = expect.stringContaining('not found among the newest payments') as string;
    const name = `permit:1328:${addressOf(0)}:${nonce}:permit`;
    expect(await refusals()).toContainEqual(expect.objectContaining({ payment: name, ...facts, detail }));
  });

  // Prevents: a payer sends a permit over one unit itself, and shows another with the same nonce over the price.
  it.each<[string, Partial<PermitTerms>]>([
    ['another amount', { amountBaseUnits: 1n }],
    ['another deadline', { deadline: 10_000_000_000n }],
    ['another start', { validAfter: 1n }],
  ])('does not accept the settlement of a permit with %s and the same nonce as its own', async (_, terms) => {
    const nonce = BigInt(Date.now());
    const [one, twin] = [await sign({ nonce }), await sign({ nonce, ...terms })];
    await settle(twin, 1n);
    expect(await ask(one)).toEqual(refused('payment_used'));
  });

  it('records for a refund one that was sent through another contract', async () => {
    const payment = await sign();
    const { to, data } = bundleCalls(MULTICALL3, [{ ...planPermitTransfer(payment, PRICE), mayFail: false }]);
    await call(to, data, addressOf(5));
    expect(await ask(payment)).toEqual(refused('payment_used'));
    const { nonce } = payment.permit2Authorization;
    expect(await refusals()).toContainEqual(
      expect.objectContaining({
        payment: `permit:1328:${addressOf(0)}:${nonce}:permit`,
        failure: 'payment_used',
        payer: addressOf(0),
        amountBaseUnits: String(PRICE),
      }),
    );
  });

  it('requires confirmations of one that was sent, and waits for them', async () => {
    const payment = await sign();
    await settle(payment, PRICE);
    expect(await ask(payment, { rules: { confirmations: 3 } })).toMatchObject({
      outcome: 'unavailable',
      reason: 'not_confirmed',
    });
    const asking = ask(payment, { rules: { confirmations: 2 }, waitMs: 50_000 });
    await callRpc(parts().devnet.rpcUrl, 'evm_mine');
    expect(await asking).toMatchObject({ outcome: 'claimed' });
  });

  it('recognises the payment by the retry key it was claimed with', async () => {
    const payment: SignedPayment = await sign();
    const claim = { retryKey: hashRetryKey('key'), fingerprint: 'print' };
    const first = await ask(payment, { claim });
    if (first.outcome !== 'claimed') throw new Error(first.outcome);
    await parts().ledger.commit(first.lease, null);
    expect(await ask(payment, { claim })).toMatchObject({ outcome: 'answered', id: first.lease.id });
    expect(await ask(payment)).toMatchObject({ outcome: 'conflict' });
  });
});

describe('verifying a payment by Permit2 under scheme upto', () => {
  it('accepts an amount above the price, which is the most that is moved', async () => {
    expect(await ask(await signMetered({ amountBaseUnits: 10n * PRICE }))).toMatchObject({ outcome: 'claimed' });
  });

  it('refuses a facilitator that does not settle here', async () => {
    const { address } = account(6);
    expect(await ask(await signMetered({ facilitator: address }))).toEqual(refused('facilitator_mismatch'));
  });

  // Prevents: a relayer is removed after it has settled, and its payer is asked to pay again.
  it('serves a permit that a relayer settled before it was removed', async () => {
    const facilitator = addressOf(6);
    const payment = await signMetered({ facilitator });
    const name = nameSettlement(createRequest(payment).terms, payment, String(PRICE));
    await new SettlementRecords(parts().redis).claim([{ name, questionId: 'question', keptMs: 60_000 }], 'job');
    const txHash = await settle(payment, 7n, facilitator);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash, amountBaseUnits: '7' });
  });

  // Prevents: a payer names itself as facilitator, moves one unit, and shows another permit with the same nonce.
  it('does not accept what another facilitator settled with the same nonce as its own', async () => {
    const nonce = BigInt(Date.now());
    const [payment, twin] = [await signMetered({ nonce }), await signMetered({ nonce, facilitator: addressOf(5) })];
    await settle(twin, 1n);
    expect(await ask(payment)).toEqual(refused('payment_used'));
  });

  it('returns the amount that an earlier attempt moved', async () => {
    const payment = await signMetered();
    const txHash = await settleMetered(payment, 7n);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash, amountBaseUnits: '7' });
  });

  it('refuses a token that does not answer', async () => {
    const { rpcUrl } = parts().devnet;
    const code = await callRpc(rpcUrl, 'eth_getCode', [asset(), 'latest']);
    const payment = await signMetered();
    await callRpc(rpcUrl, 'anvil_setCode', [asset(), '0x']);
    try {
      expect(await ask(payment)).toEqual(refused('asset_has_no_code'));
    } finally {
      await callRpc(rpcUrl, 'anvil_setCode', [asset(), code]);
    }
  });
});
