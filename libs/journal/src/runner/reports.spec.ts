import { BOOK_GROUP, laneBookKey, parseBookEvent, type BookEvent, type UnknownBookEvent } from '@tollgate/book-events';

import { waitFor } from '../../../../test/harness/retry.js';
import { useLanes } from '../../test/lane-fixture.js';
import { nameLane } from '../jobs/keys.js';
import { reportJobTransaction } from '../steps/report-transaction.js';
import { Journal } from '../store/journal.js';

const REPORTED = { report: reportJobTransaction };

describe('what a lane reports to the book', () => {
  const fixture = useLanes();

  const stream = (): string => laneBookKey(nameLane(fixture.lane));
  const readReports = async (): Promise<(BookEvent | UnknownBookEvent)[]> =>
    (await fixture.redis.xrange(stream(), '-', '+')).map(([, fields]) => parseBookEvent(fields));

  it('is each transaction once, when its step has ended, with what it cost', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner({}, REPORTED);
    const { steps } = await fixture.waitForState(jobId, 'FINAL');
    const [step] = steps;
    const [report, ...others] = await readReports();
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      type: 'job_transaction',
      payment: '',
      facts: {
        chainId: fixture.lane.chainId,
        wallet: fixture.lane.address,
        jobId,
        operation: 'transfer',
        step: 0,
        transaction: step!.mined!.hash,
        nonce: fixture.firstNonce,
        outcome: 'success',
        kind: 'first',
        blockNumber: step!.mined!.blockNumber,
        blockHash: step!.mined!.blockHash,
        gasUsed: expect.stringMatching(/^[1-9]\d+$/),
        effectiveGasPrice: expect.stringMatching(/^[1-9]\d+$/),
      },
    });
  });

  it('is a failed transaction too', async () => {
    const failure = { code: 'NO', message: 'No.', suggestion: 'None.' };
    const jobId = await fixture.submit();
    fixture.startRunner({}, { ...REPORTED, judgeStep: () => Promise.resolve({ outcome: 'failed', failure }) });
    await fixture.waitForState(jobId, 'REVERTED');
    expect(await readReports()).toMatchObject([{ type: 'job_transaction', facts: { jobId } }]);
  });

  it('is a transaction that waits for an operator too, once, whether the job is abandoned or resumed', async () => {
    const { journal } = fixture;
    const failure = { code: 'NO', message: 'No.', suggestion: 'None.' };
    let isMended = false;
    const [abandoned, resumed] = [await fixture.submit(), await fixture.submit()];
    fixture.startRunner(
      {},
      {
        ...REPORTED,
        judgeStep: () => Promise.resolve(isMended ? { outcome: 'done' } : { outcome: 'needs_operator', failure }),
      },
    );
    for (const jobId of [abandoned, resumed]) await fixture.waitForState(jobId, 'NEEDS_OPERATOR');
    isMended = true;
    await journal.abandonJob({ jobId: abandoned, minedNonce: fixture.firstNonce + 2, failure });
    await journal.resumeJob(resumed);
    await fixture.waitForState(resumed, 'FINAL');
    const reports = await readReports();
    expect(reports.map((report) => report.type === 'job_transaction' && report.facts.jobId).sort()).toEqual(
      [abandoned, resumed].sort(),
    );
  });

  it('is one event of a step that was ended twice, because the first reply was lost', async () => {
    const jobId = await fixture.submit();
    const { journal } = fixture;
    const runner = fixture.startRunner({}, REPORTED);
    await fixture.waitForState(jobId, 'FINAL');
    await runner.stop();
    const [report] = await readReports();
    if (report?.type !== 'job_transaction') throw new Error('It is no report.');
    const lease = (await journal.takeLease(fixture.lane, 'another', 60_000))!;
    const { transaction: hash, blockNumber, blockHash } = report.facts;
    await journal.finishMined({
      jobId,
      stepIndex: 0,
      token: lease.token,
      mined: { hash, blockNumber, blockHash },
      report: { type: 'job_transaction', facts: report.facts },
    });
    expect(await readReports()).toHaveLength(1);
    await journal.releaseLease(lease);
  });

  it('is nothing while the book is off', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner();
    await fixture.waitForState(jobId, 'FINAL');
    expect(await fixture.redis.exists(stream())).toBe(0);
  });

  it('is written beyond the limit for jobs that were accepted, and keeps new ones away until some is read', async () => {
    const limited = new Journal({ redis: fixture.redis, timeoutMs: 30_000, bookLimit: 1 });
    const requests = [fixture.request(), fixture.request()];
    const submitted = await Promise.all(requests.map((request) => limited.submit(request)));
    fixture.startRunner({}, { ...REPORTED, journal: limited });
    for (const result of submitted) await fixture.waitForState('jobId' in result ? result.jobId : '', 'FINAL');
    expect(await readReports()).toHaveLength(2);
    const next = fixture.request();
    expect(await limited.submit(next)).toEqual({ outcome: 'refused', reason: 'outbox_full' });
    expect(await limited.submit(requests[0]!)).toMatchObject({ outcome: 'known', state: 'FINAL' });
    await fixture.redis.xtrim(stream(), 'MAXLEN', 0);
    const accepted = await limited.submit(next);
    await fixture.waitForState('jobId' in accepted ? accepted.jobId : '', 'FINAL');
    expect(await readReports()).toHaveLength(1);
  });

  it('is expected by all or by none: a lane takes jobs of processes that agree with its worker, or do not say', async () => {
    const [on, off] = [500_000, null].map((bookLimit) => {
      return new Journal({ redis: fixture.redis, timeoutMs: 30_000, bookLimit });
    }) as [Journal, Journal];
    const differ = { outcome: 'refused', reason: 'settings_differ' };
    for (const [worker, other] of [
      [on, off],
      [off, on],
    ] as const) {
      const lease = (await worker.takeLease(fixture.lane, 'worker', 60_000))!;
      expect(await other.submit(fixture.request())).toEqual(differ);
      for (const same of [worker, fixture.journal]) {
        expect(await same.submit(fixture.request())).toMatchObject({ outcome: 'accepted' });
      }
      await worker.releaseLease(lease);
      // Until another process holds the lane.
      expect(await other.submit(fixture.request())).toEqual(differ);
    }
    await fixture.journal.takeLease(fixture.lane, 'that does not say', 60_000);
    expect(await on.submit(fixture.request())).toMatchObject({ outcome: 'accepted' });
  });

  it('is trimmed once the bookkeeper has acknowledged it, and keeps the account from being released until then', async () => {
    const jobId = await fixture.submit();
    const runner = fixture.startRunner({}, REPORTED);
    await fixture.waitForState(jobId, 'FINAL');
    await runner.stop();
    expect(await fixture.journal.release(fixture.lane)).toEqual({ outcome: 'refused', reason: 'events_unread' });
    await fixture.redis.xgroup('CREATE', stream(), BOOK_GROUP, '0');
    await fixture.redis.xreadgroup('GROUP', BOOK_GROUP, 'one', 'STREAMS', stream(), '>');
    const [[id]] = (await fixture.redis.xrange(stream(), '-', '+')) as [[string, string[]]];
    await fixture.redis.xack(stream(), BOOK_GROUP, id);
    fixture.startRunner({}, REPORTED);
    await waitFor('the trimming', async () => (await fixture.redis.xlen(stream())) === 0);
    await fixture.endWorkers();
    expect(await fixture.journal.release(fixture.lane)).toMatchObject({ outcome: 'done' });
  });
});
