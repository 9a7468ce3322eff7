import type { JobRecord } from '@tollgate/journal';
import { PERMIT2_ADDRESS, type SignedAuthorization } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi } from 'viem';

import { startChargingShop } from '../../../../packages/client/test/charging-shop.js';
import {
  facilitatorOf,
  settleAuthorization,
  startSigningShop,
  type SigningShop,
} from '../../../../packages/client/test/signing-shop.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { PaymentFixture, readAnswer } from '../../test/payment-fixture.js';
import { listChallenges } from './kept-challenge.js';

/** Offers that are signed for as short a time as a job accepts, by far less than the devnet's clock is then moved. */
const SHORT = { maxTimeoutSeconds: 15 };
/** More blocks than the devnet takes to make one final. */
const FINAL = 128;

describe('a job that pays by signature', () => {
  let fixture: PaymentFixture;
  let shop: SigningShop;

  beforeAll(async () => {
    fixture = await PaymentFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    await fixture.begin();
    shop = await startSigningShop(fixture.lane.chain, 2);
  });

  afterEach(async () => {
    await fixture.end();
    await shop.close();
  });

  const submit = () => fixture.submit({ url: shop.url });
  const readPaid = async () => (await fixture.transfers()).length;
  const shownBytes = () => [...new Set(shop.shown.map(({ payment }) => payment.signature))];
  const keys = () => [...new Set(shop.shown.map(({ headers }) => headers['idempotency-key']))];
  /** By default past the end of a signature for `SHORT`. */
  const passTime = async (blocks: number, seconds = 60) => {
    await fixture.lane.rpc('evm_increaseTime', [seconds]);
    await fixture.lane.rpc('anvil_mine', [`0x${blocks.toString(16)}`, '0x1']);
  };
  const expectUnanswered = ({ state, failure, details }: JobRecord, message: RegExp) => {
    expect({ state, code: failure?.code }).toEqual({ state: 'NEEDS_OPERATOR', code: 'PAYMENT_NOT_ANSWERED' });
    expect(failure!.message).toMatch(message);
    expect(failure!.message).toContain(' can take the money until ');
    expect(details).not.toHaveProperty('answer');
  };

  it.each([1, 2] as const)('pays a server of x402 version %d without a transaction or gas', async (version) => {
    await fixture.lane.setBalance(0n);
    await shop.close();
    shop = await startSigningShop(fixture.lane.chain, version);
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await submit(), 'FINAL');
    expect(readAnswer(job)).toMatchObject({ httpStatus: 200, body: 'the goods', isBodyCut: false });
    expect(await readPaid()).toBe(1);
    expect(await fixture.lane.readMined()).toEqual([]);
    const [kept] = listChallenges(job);
    const { payTo, asset } = fixture.lane.chain;
    expect(shop.shown).toMatchObject([
      {
        headers: { 'idempotency-key': kept!.challenge.idempotencyKey },
        payment: { authorization: { from: fixture.lane.lane.address, to: payTo.toLowerCase(), value: '1000' } },
        extensions: version === 2 ? shop.extensions : {},
      },
    ]);
    expect(job.steps).toMatchObject([{ to: asset.toLowerCase(), value: 0n, gas: 0n, nonce: null, attempts: [] }]);
  });

  it('pays on the chain of its wallet where the server offers others too, and says why not on those', async () => {
    const { asset, payTo } = fixture.lane.chain;
    const refusal = `This client may not pay with ${asset.toLowerCase()} on eip155:84532 to ${payTo.toLowerCase()}.`;
    shop.offer = { network: 'eip155:84532' };
    fixture.startWorker();
    const refused = await fixture.lane.waitForState(await submit(), 'PLAN_FAILED');
    expect(refused.failure).toMatchObject({ code: 'PAYMENT_FAILED', message: refusal });
    expect([await readPaid(), shop.shown.length]).toEqual([0, 0]);
    shop.others = [{ network: 'eip155:1328' }];
    const paid = await fixture.lane.waitForState(await submit(), 'FINAL');
    const { preview } = paid.plan as { preview: string };
    expect(preview).toMatch(/^Pay 0\.001 USDC on chain 1328 by a signature/);
    expect(preview).toContain(`not paid  ${refusal}`);
    expect([readAnswer(paid).body, await readPaid()]).toEqual(['the goods', 1]);
  });

  it('counts against the limit of the day when it is signed, before any answer', async () => {
    shop.interfere.push(() => undefined);
    fixture.startWorker({}, { maxPerDay: { USDC: '0.0015' } });
    const first = await submit();
    await waitFor('the payment is shown', () => shop.shown.length === 1);
    const second = await fixture.lane.waitForState(await submit(), 'PLAN_FAILED');
    expect(second.failure!.code).toBe('DAILY_LIMIT');
    expect((await fixture.lane.readJob(first)).state).toBe('SIGNED');
    expect(shop.shown).toHaveLength(1);
  });

  it('presents the same bytes under the same key until there is an answer', async () => {
    shop.interfere.push(
      (response) => void response.writeHead(503, { 'retry-after': '0' }).end(),
      (response) => void response.destroy(),
    );
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await submit(), 'FINAL');
    expect(readAnswer(job).body).toBe('the goods');
    expect(shop.shown).toHaveLength(3);
    expect([shownBytes().length, keys().length, await readPaid()]).toEqual([1, 1, 1]);
  });

  it('signs a second one only once the chain shows finally that the first was not used', async () => {
    shop.offer = SHORT;
    shop.interfere.push(...Array.from({ length: 4 }, () => answerWith(500, 'no')));
    fixture.startWorker();
    const jobId = await submit();
    expectUnanswered(await fixture.lane.waitForState(jobId, 'NEEDS_OPERATOR'), /status 500: "no"/);
    await passTime(1);
    await fixture.lane.journal.resumeJob(jobId);
    await waitFor('the payment is shown again', () => shop.shown.length === 4);
    expectUnanswered(await fixture.lane.waitForState(jobId, 'NEEDS_OPERATOR'), /status 500/);
    expect(shownBytes()).toHaveLength(1);
    await passTime(FINAL);
    shop.offer = {};
    await fixture.lane.journal.resumeJob(jobId);
    const job = await fixture.lane.waitForState(jobId, 'FINAL');
    expect(readAnswer(job).body).toBe('the goods');
    expect(job.steps).toMatchObject([{ signature: { number: 2 } }]);
    const nonces = new Set(shop.shown.map(({ payment }) => (payment as SignedAuthorization).authorization.nonce));
    expect([shownBytes().length, keys().length, nonces.size, await readPaid()]).toEqual([2, 2, 2, 1]);
  });

  it('keeps no proof in the failure of a server that repeats it', async () => {
    const echo: SigningShop['interfere'][number] = (response) => {
      const { header, payment } = shop.shown.at(-1)!;
      response.writeHead(400).end(`cannot read ${header} with ${payment.signature}`);
    };
    shop.interfere.push(echo, echo);
    fixture.startWorker();
    const { failure } = await fixture.lane.waitForState(await submit(), 'NEEDS_OPERATOR');
    const { header, payment } = shop.shown[0]!;
    const said = JSON.stringify(failure);
    expect(said).toContain('cannot read (the proof)');
    for (const proof of [header.slice(0, 40), payment.signature.slice(2, 40)]) expect(said).not.toContain(proof);
  });

  it('does not keep transfers of the wallet waiting for a slow server', async () => {
    shop.interfere.push(() => undefined);
    fixture.startWorker();
    const slow = await submit();
    await waitFor('the payment is shown', () => shop.shown.length === 1);
    const transferred = await fixture.submit({ url: fixture.server.url });
    expect(readAnswer(await fixture.lane.waitForState(transferred, 'FINAL')).body).toContain('Clear');
    expect((await fixture.lane.readJob(slow)).state).toBe('SIGNED');
  });

  it('is not signed for an offer by Permit2 that Permit2 has no allowance for', async () => {
    shop.offer = { extra: { name: 'USDC', assetTransferMethod: 'permit2' } };
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await submit(), 'PLAN_FAILED');
    expect(job.failure!.message).toMatch(/Permit2/);
    expect(shop.shown).toEqual([]);
  });

  it('pays by Permit2 once the wallet has given it an allowance, and counts the maximum of a price by use', async () => {
    const extra = {
      name: 'USDC',
      assetTransferMethod: 'permit2',
      facilitatorAddress: facilitatorOf(fixture.lane.chain),
    };
    const { chain, lane } = fixture.lane;
    const args = [PERMIT2_ADDRESS, 1_000_000n] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
    await fixture.lane.rpc('anvil_impersonateAccount', [lane.address]);
    await sendTransaction(chain, { from: lane.address, to: chain.asset, data });
    fixture.startWorker({}, { maxPerDay: { USDC: '0.0025' } });
    for (const scheme of ['exact', 'upto']) {
      shop.offer = { scheme, extra };
      const job = await fixture.lane.waitForState(await submit(), 'FINAL');
      expect(job.steps).toMatchObject([{ to: PERMIT2_ADDRESS, signs: { kind: 'permit2', scheme }, nonce: null }]);
      expect(job.plan).toMatchObject({
        summary: expect.stringContaining(scheme === 'upto' ? 'at most' : 'Pay 0.001') as string,
      });
    }
    expect(await readPaid()).toBe(2);
    expect((await fixture.lane.waitForState(await submit(), 'PLAN_FAILED')).failure!.code).toBe('DAILY_LIMIT');
  });

  it.each(['authorization', 'hash'])('pays a charge of MPP by the %s that its server takes', async (type) => {
    const charging = await startChargingShop(fixture.lane.chain);
    charging.details = { credentialTypes: [type] };
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await fixture.submit({ url: charging.url }), 'FINAL');
    await charging.close();
    expect(readAnswer(job)).toMatchObject({ httpStatus: 200, body: 'the goods' });
    expect(charging.shown).toMatchObject([{ payload: { type } }]);
    const isTransfer = type === 'hash';
    expect([await readPaid(), (await fixture.lane.readMined()).length]).toEqual([1, isTransfer ? 1 : 0]);
    expect(job.steps).toMatchObject([{ nonce: isTransfer ? 41 : null }]);
  });

  it('has the same nonce when its signature is lost, whatever the server then asks for', async () => {
    const { job, token } = await fixture.hold({ url: shop.url });
    const planner = fixture.createPlanner();
    const first = await planner.plan(await job(), { token });
    shop.offer = { amount: '900' };
    const again = await planner.plan({ ...(await job()), details: {} }, { token });
    const [one, other] = [first, again].map(({ signature }) =>
      signature?.signs?.kind === 'authorization' ? signature.signs.authorization : null,
    );
    expect(one!.nonce).toMatch(/^0x[0-9a-f]{64}$/);
    expect(other).toMatchObject({ nonce: one!.nonce, value: '1000' });
  });

  it('is not signed for terms that are too long for a proof', async () => {
    shop.extensions = { long: 'x'.repeat(9_000) };
    fixture.startWorker();
    const job = await fixture.lane.waitForState(await submit(), 'PLAN_FAILED');
    expect(job.failure!.message).toMatch(/too long/);
    expect(shop.shown).toEqual([]);
  });

  // Last, because the devnet's clock is then too far ahead for what this machine signs.
  it('waits for an operator when the server takes the money and never answers, and never signs again', async () => {
    shop.interfere.push(async (response, payment) => {
      await settleAuthorization(fixture.lane.chain, payment as SignedAuthorization);
      response.destroy();
    });
    fixture.startWorker({ redeemWithinMs: 300 });
    const jobId = await submit();
    // The token refuses the used signature, so this shop asks for another payment.
    expectUnanswered(await fixture.lane.waitForState(jobId, 'NEEDS_OPERATOR'), /but the server/);
    await passTime(FINAL, 400);
    const before = shop.shown.length;
    await fixture.lane.journal.resumeJob(jobId);
    await waitFor('the payment is shown again', () => shop.shown.length > before);
    const { failure } = await fixture.lane.waitForState(jobId, 'NEEDS_OPERATOR');
    expect(failure!.message).toMatch(/^The payment is mined, but the server/);
    expect([shownBytes().length, await readPaid()]).toEqual([1, 1]);
  });
});

const answerWith =
  (status: number, body: string): SigningShop['interfere'][number] =>
  (response) =>
    void response.writeHead(status).end(body);
