import type { SignedPayment } from '@tollgate/protocol';
import type { SettleSignedPaymentRequest } from '@tollgate/transport';

import { approvePermit2, signPermit } from '../../../../test/harness/chain/sign-permit.js';
import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { SettleQuestions } from '../../test/settle-questions.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

const PRICE = 1000n;
const MINUTE_MS = 60_000;
const A_HASH: unknown = expect.stringMatching(/^0x/);
/** Longer than any machine takes. */
const PATIENT = { SETTLE_WAIT_MS: '60000' };

/** A gateway asks again when an answer is late, and both copies of the question may be handled. */
describe('a question that failed, repeated once its payment could be settled', () => {
  let fixture: SettlementFixture;
  let questions: SettleQuestions;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    questions = new SettleQuestions(fixture.redis.url);
    await fixture.startVerifier(PATIENT);
    // From now on it is known how much gas a payment takes.
    expect(await fixture.settle(await fixture.sign())).toMatchObject({ outcome: 'settled' });
  });

  afterAll(async () => {
    questions.close();
    await fixture.stop();
  });

  /** With a deadline longer than any machine takes. */
  function createQuestion(payment: SignedPayment, changes: Partial<SettleSignedPaymentRequest> = {}) {
    return questions.create(fixture.createRequest(payment, { deadlineMs: Date.now() + 10 * MINUTE_MS, ...changes }));
  }

  async function spendAll({ address: from }: DevnetAccount): Promise<void> {
    const amountBaseUnits = await fixture.readBalance(from);
    await transferTokens(fixture.chain, { from, to: fixture.payer(8).address, amountBaseUnits });
  }
  const topUp = (to: DevnetAccount) =>
    transferTokens(fixture.chain, { from: fixture.payer(8).address, to: to.address, amountBaseUnits: PRICE });

  const tried = { simulation: { atMs: Date.now() + 10 * MINUTE_MS, balanceBaseUnits: '1000000' } };

  async function refuse(owner: DevnetAccount) {
    await spendAll(owner);
    return { payment: await fixture.sign({}, owner), changes: {}, mend: () => topUp(owner) };
  }
  async function fail(owner: DevnetAccount) {
    await spendAll(owner);
    return { payment: await fixture.sign({}, owner), changes: tried, mend: () => topUp(owner) };
  }
  async function refusePermit(owner: DevnetAccount) {
    const payment = await signPermit(fixture.chain, owner, { amountBaseUnits: PRICE });
    return { payment, changes: {}, mend: () => approvePermit2(fixture.chain, { owner: owner.address }) };
  }
  const anew = async () => {
    await fixture.closeVerifiers();
    await fixture.startVerifier(PATIENT);
  };
  const asItIs = () => Promise.resolve();

  // Prevents: a payer that got a failure and signed anew pays twice.
  it.each([
    ['nothing was sent', 'the same verifier', refuse, asItIs, 1, null],
    ['nothing was sent', 'another verifier', refuse, anew, 2, null],
    ['its transaction failed', 'the same verifier', fail, asItIs, 3, A_HASH],
    ['its transaction failed', 'another verifier', fail, anew, 4, A_HASH],
    ['its permit could not be moved', 'the same verifier', refusePermit, asItIs, 5, null],
    ['its permit could not be moved', 'another verifier', refusePermit, anew, 6, null],
  ])(
    'has the same answer if %s, from %s, and a new question is settled',
    async (_, __, prepare, turn, index, txHash) => {
      const { payment, changes, mend } = await prepare(fixture.payer(index));
      const question = createQuestion(payment, changes);
      const first = await questions.ask(question);
      expect(first).toMatchObject([{ outcome: 'failed', txHash }]);
      await mend();
      await turn();
      const [sent, received] = [await fixture.readSent(), await fixture.readBalance()];
      expect(await questions.ask(question)).toEqual(first);
      expect([await fixture.readSent(), await fixture.readBalance()]).toEqual([sent, received]);
      // Asked together with it, a copy is not confused with the new question.
      const results = await questions.ask(question, createQuestion(payment));
      expect(results).toMatchObject([first[0], { outcome: 'settled' }]);
      expect(await fixture.readBalance()).toBe(received + PRICE);
      expect(await questions.ask(question)).toEqual(first);
    },
  );
});
