import { bundleCalls, planPermitTransfer } from '@tollgate/chain';
import type { JobRecord, JobState, Journal } from '@tollgate/journal';
import type { Hex, SignedPermit } from '@tollgate/protocol';
import { encodeSettlementJob, parseSettlementJob, type PaymentEntry, planEntry } from '@tollgate/settlement';
import { encodeFunctionData, parseAbi, serializeErc6492Signature } from 'viem';

import { approvePermit2, signPermit, type PermitTerms } from '../../../../../test/harness/chain/sign-permit.js';
import type { DevnetAccount } from '../../../../../tools/devnet/chain/chain.js';
import { sendTransaction, transferTokens } from '../../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { EXACT_PROXY, MULTICALL3, PERMIT2, UPTO_PROXY } from '../../../../../tools/devnet/protocols/place-contracts.js';
import { describePaymentMethod } from '../../../test/conformance/describe-payment-method.js';
import { permit2 } from '../../../test/conformance/permit2.js';
import { putIntoJob } from '../../../test/conformance/signed-rows.js';
import { PRICE, useSignedPaymentVerifier } from '../../../test/use-signed-payment-verifier.js';

const verifiers = useSignedPaymentVerifier();
const { parts, ask, asset, payer, relayer, refusals } = verifiers;

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
const call = (to: Hex, data: Hex, from: Hex) => sendTransaction(parts().devnet, { from, to, data });
const nameOf = ({ permit2Authorization: { nonce } }: SignedPermit) => `permit:1328:${addressOf(0)}:${nonce}:permit`;

describe.each(['exact', 'upto'] as const)('Permit2 under scheme %s, on a chain of its own', (scheme) => {
  const own = useSignedPaymentVerifier();
  describePaymentMethod(
    permit2(() => own.parts().devnet, scheme),
    own,
  );
});

beforeAll(async () => {
  await approvePermit2(parts().devnet, { owner: payer().address });
  await parts().wallet.approve(PERMIT2);
});

describe.each(['exact', 'upto'] as const)('Permit2 under scheme %s', (scheme) => {
  const signed = (terms: Partial<PermitTerms> = {}, signer?: DevnetAccount) => signBy[scheme](terms, signer);

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

  // Prevents: a deployed wallet signs as if it were not, is accepted, has the resource produced and is never settled.
  it('accepts a wrapped signature (EIP-6492) from a deployed wallet, and settles it', async () => {
    const payment = await signed({ from: parts().wallet.address });
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

  it('refuses a nonce that the payer has invalidated, and searches the past once for it', async () => {
    const nonce = 0x7700n + (scheme === 'upto' ? 1n : 2n);
    const payment = await signed({ nonce });
    expect(await ask(payment, { claim: null })).toMatchObject({ outcome: 'valid' });
    await permit2(() => parts().devnet, scheme).cancel(payment);
    expect(await ask(payment)).toEqual(refused('payment_used'));
    // Prevents: showing it repeatedly makes the RPC server search its whole past each time.
    parts().rpc.requests.length = 0;
    expect(await ask(payment)).toEqual(refused('payment_used'));
    expect(parts().rpc.requests.flat()).not.toContain('eth_getLogs');
    expect(await ask(await signed({ nonce: nonce + 16n }))).toMatchObject({ outcome: 'claimed' });
  });

  it('refuses another spender, and the proxy of the other scheme', async () => {
    for (const spender of [addressOf(3), scheme === 'upto' ? EXACT_PROXY : UPTO_PROXY]) {
      expect(await ask(await signed({ spender }))).toEqual(refused('spender_mismatch'));
    }
  });
});

describe('verifying a payment by Permit2 under scheme exact', () => {
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
      await putIntoJob(verifiers, payment);
      const txHash = await settle(payment, PRICE);
      const journal = journalOf('BROADCAST', txHash);
      hideTransactions();
      expect(await ask(payment, { journal })).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
      parts().rpc.fail(undefined);
      expect(await ask(payment, { journal })).toMatchObject({ outcome: 'claimed', txHash });
    });

    it('is refused without a record if none of its transactions was mined when its job ended', async () => {
      const payment = await sign();
      await putIntoJob(verifiers, payment);
      await settle(await sign({ nonce: BigInt(payment.permit2Authorization.nonce), amountBaseUnits: 1n }), 1n);
      const before = (await refusals()).length;
      const journal = journalOf('CANCELLED', `0x${'12'.repeat(32)}`);
      expect(await ask(payment, { journal })).toEqual(refused('payment_used'));
      expect(await refusals()).toHaveLength(before);
    });

    // Prevents: the journal keeps no more jobs than a busy minute has, and the money is not on record.
    it('is recorded for a refund if its job is forgotten and the server shows no log of it', async () => {
      const payment = await sign();
      await putIntoJob(verifiers, payment);
      await settle(payment, PRICE);
      hideTransactions();
      expect(await ask(payment)).toEqual(refused('payment_used'));
      const detail = 'not found among the newest payments of its payer: moved by this signature, or never';
      expect(await refusals()).toContainEqual(expect.objectContaining({ payment: nameOf(payment), detail }));
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
    const facts = { failure: 'payment_used', payer: addressOf(0), amountBaseUnits: String(PRICE) };
    const detail = expect.stringContaining('not found among the newest payments') as string;
    expect(await refusals()).toContainEqual(expect.objectContaining({ payment: nameOf(payment), ...facts, detail }));
  });

  it('records for a refund one that was sent through another contract', async () => {
    const payment = await sign();
    const { to, data } = bundleCalls(MULTICALL3, [{ ...planPermitTransfer(payment, PRICE), mayFail: false }]);
    await call(to, data, addressOf(5));
    expect(await ask(payment)).toEqual(refused('payment_used'));
    const facts = { failure: 'payment_used', payer: addressOf(0), amountBaseUnits: String(PRICE) };
    expect(await refusals()).toContainEqual(expect.objectContaining({ payment: nameOf(payment), ...facts }));
  });
});

describe('verifying a payment by Permit2 under scheme upto', () => {
  it('refuses a facilitator that does not settle here', async () => {
    const { address } = account(6);
    expect(await ask(await signMetered({ facilitator: address }))).toEqual(refused('facilitator_mismatch'));
  });

  // Prevents: a relayer is removed after it has settled, and its payer is asked to pay again.
  it('serves a permit that a relayer settled before it was removed', async () => {
    const facilitator = addressOf(6);
    const payment = await signMetered({ facilitator });
    await putIntoJob(verifiers, payment);
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

  it('is recorded for a refund with the amount that was moved if its facilitator does not settle here', async () => {
    const payment = await signMetered({ facilitator: addressOf(6) });
    await settle(payment, 7n, addressOf(6));
    expect(await ask(payment)).toEqual(refused('facilitator_mismatch'));
    const facts = { payment: nameOf(payment), failure: 'facilitator_mismatch', amountBaseUnits: '7' };
    expect(await refusals()).toContainEqual(expect.objectContaining(facts));
  });
});
