import { appendHashLock, type AgentAnswerView } from '@tollgate/protocol';
import type { JobRecord } from '@tollgate/transactions';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';

import { transferTokens } from '../../../../devnet/transfer-tokens.js';
import { listTransfers, startPaidServer, type PaidServer } from '../../../../libs/client/test/paid-server.js';
import { LaneFixture } from '../../../../libs/transactions/test/lane-fixture.js';
import { payOnly, readPaymentContext } from '../../test/paying-lane.js';
import { createPaymentPlanner } from './create-payment-planner.js';
import { listChallenges } from './kept-challenge.js';
import type { PaymentPlanner, PaymentPlannerOptions } from './payment-planner.js';

describe('a payment job', () => {
  let fixture: LaneFixture;
  let server: PaidServer;
  let planners: PaymentPlanner[];

  beforeAll(async () => {
    fixture = await LaneFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(async () => {
    planners = [];
    await fixture.useNewWallet();
    await transferTokens(fixture.chain, { to: fixture.lane.address, amountBaseUnits: 1_000_000n });
    server = await startPaidServer(fixture.chain);
  });

  afterEach(async () => {
    await fixture.endWorkers();
    await Promise.all(planners.map((planner) => planner.stop()));
    await server.close();
  });

  const createPlanner = (changes: Partial<PaymentPlannerOptions> = {}): PaymentPlanner => {
    const planner = createPaymentPlanner({
      journal: fixture.journal,
      readContext: () => Promise.resolve(readPaymentContext({ ...fixture.chain, account: fixture.lane.address })),
      allowPrivateTargets: true,
      ...changes,
    });
    planners.push(planner);
    return planner;
  };

  const startWorker = (changes: Partial<PaymentPlannerOptions> = {}) =>
    fixture.startRunner({}, payOnly(createPlanner(changes)));

  const submit = async (input: { url: string; maxAmount?: string }): Promise<string> => {
    const request = { ...fixture.request(), operation: 'payment', input };
    const result = await fixture.journal.submit(request);
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${result.outcome}`);
    return result.jobId;
  };

  const transfers = (): Promise<Hex[]> => listTransfers(fixture.chain, fixture.lane.address);
  const answerOf = ({ details }: JobRecord) => details['answer'] as unknown as AgentAnswerView;

  it('pays what is asked, and ends with the answer', async () => {
    startWorker();
    const job = await fixture.waitForState(await submit({ url: server.url }), 'FINAL');
    expect(answerOf(job)).toEqual({
      httpStatus: 200,
      contentType: 'application/json',
      body: '{"conditions":"Clear","number":1}',
      isBodyCut: false,
    });
    expect(await transfers()).toEqual([job.steps[0]!.mined!.hash]);
    const [kept] = listChallenges(job);
    const { requirement, idempotencyKey } = kept!.challenge;
    const args = [fixture.chain.payTo, 1000n] as const;
    const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    expect(job.steps[0]).toMatchObject({
      to: fixture.chain.asset,
      data: appendHashLock(transfer, requirement.extra.reference),
      value: 0n,
    });
    expect(server.paid()).toMatchObject([
      {
        proof: { payload: { txHash: job.steps[0]!.mined!.hash, reference: requirement.extra.reference } },
        headers: { 'idempotency-key': idempotencyKey },
      },
    ]);
  });
});
