import type { Hex } from '@tollgate/protocol';

import { approvePermit2, signPermit } from '../../../../test/harness/chain/sign-permit.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import type { RpcAnswer, RpcFault } from '../../../chain/test/rpc-stand-in.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const { parts, payer, ask, headTimeMs, signPayment } = useSignedPaymentVerifier();

const walletAddress = (): Hex => parts().wallet.address.toLowerCase() as Hex;
/** Later than the newest block, and no later than now. */
let validAfter = 0;

const REVERTED = { error: { code: 3, message: 'execution reverted' } };
const hasTime = ({ params }: RpcAnswer) => params.length === 4;
const isPending = ({ params }: RpcAnswer) => params[1] === 'pending';
const readsTime = ({ params }: RpcAnswer) => (params[0] as { to?: Hex } | undefined)?.to === undefined;

/** Answers these calls as a server does that runs them in its newest block, whatever block or time is asked for. */
const inNewest = ({ result: _, ...answer }: RpcAnswer, time: number) =>
  readsTime(answer) ? { ...answer, result: `0x${time.toString(16).padStart(64, '0')}` } : { ...answer, ...REVERTED };

const refusesTime = ({ result: _, ...answer }: RpcAnswer) => ({
  ...answer,
  error: { code: -32602, message: 'too many arguments, want at most 3' },
});

const serverThat = (change: (answer: RpcAnswer) => unknown): RpcFault => ({
  kind: 'rewrite',
  rewrite: (answers) => answers.map(change),
});

beforeAll(async () => {
  await approvePermit2(parts().devnet, { owner: payer().address });
  await transferTokens(parts().devnet, { to: parts().wallet.address, amountBaseUnits: PRICE });
  const headSeconds = (await headTimeMs()) / 1000;
  validAfter = headSeconds + 1;
  await waitFor('a second after the start of validity', () => Promise.resolve(Date.now() / 1000 > headSeconds + 2));
});

const signs = {
  'an authorization': () => signPayment({ validAfter: String(validAfter) }),
  "a contract wallet's authorization": () => signPayment({ validAfter: String(validAfter), from: walletAddress() }),
  'a permit': () => signPermit(parts().devnet, payer(), { amountBaseUnits: PRICE, validAfter: BigInt(validAfter) }),
};
type Kind = keyof typeof signs;
const kinds = Object.keys(signs) as Kind[];

describe('verifying a payment that became valid after the newest block', () => {
  it.each(kinds)('claims %s, and leaves its simulation to the settlement', async (kind) => {
    const verdict = await ask(await signs[kind]());
    expect(verdict).toMatchObject({ outcome: 'claimed', txHash: null });
    expect(verdict).not.toHaveProperty('simulation');
  });

  it.each([
    ['refuses the time', (answer: RpcAnswer) => (hasTime(answer) ? refusesTime(answer) : answer)],
    ['ignores the time', (answer: RpcAnswer) => (hasTime(answer) ? inNewest(answer, validAfter - 1) : answer)],
    [
      'has no pending block of its own',
      (answer: RpcAnswer) => (isPending(answer) ? inNewest(answer, validAfter - 1) : answer),
    ],
  ])('claims it by a server that %s', async (_, change) => {
    parts().rpc.fail(serverThat(change));
    expect(await ask(await signPayment({ validAfter: String(validAfter) }))).toMatchObject({ outcome: 'claimed' });
  });

  it.each(kinds)('neither refuses nor claims %s when the server has no later time', async (kind) => {
    const payment = await signs[kind]();
    for (const withTime of [refusesTime, (answer: RpcAnswer) => inNewest(answer, validAfter)]) {
      const change = (answer: RpcAnswer) =>
        hasTime(answer) ? withTime(answer) : isPending(answer) ? inNewest(answer, validAfter) : answer;
      parts().rpc.fail(serverThat(change));
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'chain_behind', retryAfterMs: 1000 });
    }
  });

  // Prevents: a payer signs anew because of a transaction in the pool, which may be its payment.
  it('does not refuse one that fails only beside pending transactions', async () => {
    const failing = (answer: RpcAnswer) => (isPending(answer) ? inNewest(answer, validAfter + 1) : answer);
    const payment = await signPayment({ validAfter: String(validAfter) });
    parts().rpc.fail(serverThat((answer) => (hasTime(answer) ? refusesTime(answer) : failing(answer))));
    expect(await ask(payment, { claim: null })).toMatchObject({ outcome: 'unavailable', reason: 'chain_behind' });
    parts().rpc.fail(serverThat(failing));
    expect(await ask(payment, { claim: null })).toMatchObject({ outcome: 'valid' });
  });

  // Prevents: a server behind a balancer shows the next block, has no state of it yet, and a good payer is refused for that.
  it('does not refuse one for a server that cannot simulate it in the block that has come meanwhile', async () => {
    const newer = ({ result, ...answer }: RpcAnswer): unknown => {
      if (answer.method === 'eth_call') return { ...answer, error: { code: -32000, message: 'header not found' } };
      if (answer.method !== 'eth_getBlockByNumber') return { ...answer, result };
      return { ...answer, result: { ...(result as object), timestamp: `0x${(validAfter + 1).toString(16)}` } };
    };
    const rewrite = (answers: RpcAnswer[]) => (answers.some(hasTime) ? answers.map(newer) : answers);
    parts().rpc.fail({ kind: 'rewrite', rewrite });
    const verdict = await ask(await signPayment({ validAfter: String(validAfter) }));
    expect(verdict).toMatchObject({ outcome: 'unavailable', reason: 'rpc_error' });
  });

  it('refuses one that fails at a later time too, or whose start is not the reason', async () => {
    const failing = { rules: { settleGasCap: 30_000 } };
    for (const start of [validAfter, validAfter - 2, 0]) {
      const payment = await signPayment({ validAfter: String(start) });
      expect(await ask(payment, failing)).toMatchObject({ outcome: 'refused', failure: 'simulation_failed' });
    }
  });

  it('takes the balance of the newest block', async () => {
    const value = 10n ** 30n;
    const payment = await signPayment({ validAfter: String(validAfter), value: String(value) });
    const asked = { terms: { priceBaseUnits: String(value) } };
    expect(await ask(payment, asked)).toMatchObject({ outcome: 'refused', failure: 'balance_too_low' });
  });
});
