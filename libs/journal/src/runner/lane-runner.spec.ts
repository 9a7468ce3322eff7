import { LaneFixture, RECEIVER } from '../../test/lane-fixture.js';
import { markOf } from '../../test/transfer-planner.js';

describe('a lane', () => {
  let fixture: LaneFixture;

  beforeAll(async () => {
    fixture = await LaneFixture.start();
  });

  afterAll(() => fixture.stop());

  beforeEach(() => fixture.useNewWallet());

  afterEach(() => fixture.endWorkers());

  it('takes a job of two steps from submission to its end', async () => {
    const jobId = await fixture.submit({ receivers: [RECEIVER, RECEIVER] });
    fixture.startRunner();
    const job = await fixture.waitForState(jobId, 'FINAL');

    const mined = await fixture.readMined();
    expect(mined.map(({ nonce, input }) => ({ nonce, input }))).toEqual([
      { nonce: 41, input: markOf(jobId, 0) },
      { nonce: 42, input: markOf(jobId, 1) },
    ]);
    expect(job.steps.map(({ nonce, mined: at }) => [nonce, at?.hash])).toEqual(
      mined.map(({ nonce, hash }) => [nonce, hash]),
    );
    expect((await fixture.readEvents()).map(({ type }) => type)).toEqual([
      'transactionSubmitted',
      'transactionConfirmed',
      'transactionSubmitted',
      'transactionConfirmed',
      'jobCompleted',
    ]);
    expect(fixture.troubles).toEqual([]);
  });
});
