import type { SignedAuthorization } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { SettleQuestions, type Question } from '../../test/settle-questions.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

const MINUTE_MS = 60_000;
/** One payment waits for its payer's balance, and every further one is turned away. */
const FULL = { MAX_IN_FLIGHT: '8', SETTLE_WAIT_MS: '60000' };
/** The same for a verifier that ends soon when it is stopped: it does not wait for the blocks of what is in flight. */
const HASTY = { ...FULL, SHUTDOWN_TIMEOUT_MS: '1000' };

/** A gateway asks again when an answer is late, and another verifier may have no room for the payer's payments. */
describe('a copy of a question that is turned away', () => {
  let fixture: SettlementFixture;
  let questions: SettleQuestions;

  beforeEach(async () => {
    fixture = await SettlementFixture.start();
    questions = new SettleQuestions(fixture.redis.url);
  });

  afterEach(async () => {
    questions.close();
    await fixture.stop();
  });

  const createQuestion = (payment: SignedAuthorization): Question =>
    questions.create(fixture.createRequest(payment, { deadlineMs: Date.now() + 10 * MINUTE_MS }));

  const readPending = async () => Number(((await fixture.rpc('txpool_status')) as { pending: string }).pending);

  /** A payer with the balance for one payment, which is in flight; its other payments have to wait. */
  async function fill(): Promise<SignedAuthorization[]> {
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => fixture.sign()));
    const before = await readPending();
    await questions.put(createQuestion(first!));
    await waitFor('the first payment is sent', async () => (await readPending()) > before);
    return others;
  }

  async function leaveOne(): Promise<void> {
    const { address: from } = fixture.payer();
    const amountBaseUnits = (await fixture.readBalance(from)) - 1000n;
    await transferTokens(fixture.chain, { from, to: fixture.payer(1).address, amountBaseUnits });
  }

  // Prevents: a payer that learns that nothing was done signs anew, and what another verifier has sent is moved as
  // well.
  it('is answered as pending if another verifier settles it', async () => {
    await leaveOne();
    const first = await fixture.startVerifier(FULL);
    const question = createQuestion(await fixture.sign());
    await fixture.rpc('evm_setAutomine', [false]);
    await questions.put(question);
    await waitFor('it is sent', async () => (await readPending()) === 1);
    await first.close();
    expect(await questions.answerTo(question)).toMatchObject({
      outcome: 'pending',
      txHash: expect.stringMatching(/^0x/),
    });

    await fixture.startVerifier({ ...HASTY, RELAYER_PRIVATE_KEYS: fixture.relayer(1).privateKey });
    const others = await fill();
    await questions.put(...others.map(createQuestion), question);
    expect(await questions.answerTo(question)).toMatchObject({
      outcome: 'pending',
      txHash: expect.stringMatching(/^0x/),
    });
  });

  // Prevents: a payer that learns that nothing was done signs anew, and a late copy of its question is settled as well.
  it('has the same answer once there is room, and a new question is settled', async () => {
    await leaveOne();
    await fixture.startVerifier(HASTY);
    await fixture.rpc('evm_setAutomine', [false]);
    const others = await fill();
    const last = await fixture.sign();
    const question = createQuestion(last);
    await questions.put(...others.map(createQuestion), question);
    const turnedAway = { outcome: 'unavailable', reason: 'payer_busy' };
    expect(await questions.answerTo(question)).toEqual(turnedAway);

    await fixture.closeVerifiers();
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    const { address: to } = fixture.payer();
    await transferTokens(fixture.chain, { from: fixture.payer(1).address, to, amountBaseUnits: 100_000n });
    await fixture.startVerifier({ ...HASTY, RELAYER_PRIVATE_KEYS: fixture.relayer(1).privateKey });
    const sent = await fixture.readSent(1);
    await questions.put(question);
    expect(await questions.answerTo(question)).toEqual(turnedAway);
    expect(await fixture.readSent(1)).toBe(sent);
    const anew = createQuestion(last);
    await questions.put(anew);
    expect(await questions.answerTo(anew)).toMatchObject({ outcome: 'settled' });
  });
});
