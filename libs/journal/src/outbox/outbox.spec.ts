import { FAILURE, finishSample, spoilEvents, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import { readEventId } from './outbox.js';

describe('the outbox', () => {
  const { redis, journal } = useJournal({ eventsKept: 2 });
  let { lane, token } = {} as OpenLane;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal));
  });

  /** Creates this many events. */
  const happen = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index++) {
      const { jobId } = await submitSample(journal, lane, token);
      await journal.cancel(jobId);
    }
  };
  const acknowledge = async (consumer: string, sequence: number) =>
    journal.outbox.acknowledge(lane, consumer, sequence, (await journal.readLane(lane)).run!);
  const kept = async () => (await journal.outbox.read(lane, { after: 0 })).map(({ sequence }) => sequence);

  it('gives each consumer every event in order, and again those it has not acknowledged', async () => {
    const { outbox } = journal;
    await outbox.addConsumer(lane, 'sse');
    await outbox.addConsumer(lane, 'webhooks');
    await happen(5);
    const readOn = async (count?: number) => {
      const { position: after } = await outbox.addConsumer(lane, 'sse');
      const events = await outbox.read(lane, { after, ...(count !== undefined && { count }) });
      return events.map(({ sequence }) => sequence);
    };
    expect(await readOn()).toEqual([1, 2, 3, 4, 5]);
    await acknowledge('sse', 2);
    expect(await readOn(2)).toEqual([3, 4]);
    expect(await readOn()).toEqual([3, 4, 5]);
    await acknowledge('sse', 5);
    expect(await readOn()).toEqual([]);
    expect(await outbox.readPositions(lane)).toEqual({ sse: 5, webhooks: 0 });
  });

  it('trims the events that the slowest consumer has passed, except the newest', async () => {
    const { outbox } = journal;
    await outbox.addConsumer(lane, 'fast');
    await outbox.addConsumer(lane, 'slow');
    await happen(10);
    await acknowledge('fast', 10);
    expect(await kept()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await acknowledge('slow', 4);
    expect(await kept()).toEqual([5, 6, 7, 8, 9, 10]);
    await acknowledge('slow', 10);
    expect(await kept()).toEqual([9, 10]);
  });

  it('keeps nothing more without any consumer', async () => {
    await happen(7);
    expect(await kept()).toEqual([6, 7]);
  });

  it('never moves a consumer back, nor past the last event', async () => {
    const { outbox } = journal;
    await happen(3);
    await acknowledge('one', 2);
    await acknowledge('one', 1);
    expect(await outbox.readPositions(lane)).toEqual({ one: 2 });
    await acknowledge('one', 1000);
    expect(await outbox.addConsumer(lane, 'one')).toMatchObject({ position: 3 });
    await happen(1);
    expect(await outbox.read(lane, { after: 3 })).toHaveLength(1);
  });

  it('gives an event an id from which a reader can continue', async () => {
    const write = await submitSample(journal, lane, token);
    await finishSample(journal, write);
    const events = await journal.outbox.read(lane, { after: 0 });
    for (const { id, sequence, jobId } of events) expect(readEventId(id)).toEqual({ jobId, sequence });
    const next = await journal.outbox.read(lane, { after: readEventId(events[0]!.id)!.sequence });
    expect(next).toEqual(events.slice(1));
    for (const id of ['', 'x:FINAL:1', `${write.jobId}:FINAL:`, `${write.jobId}:FINAL:-1`]) {
      expect(readEventId(id)).toBeNull();
    }
  });

  it('reports why an operator is needed', async () => {
    const write = await submitSample(journal, lane, token, { operation: 'stake', keyId: 'key-9' });
    await journal.needOperator({ ...write, failure: FAILURE });
    expect(await journal.outbox.read(lane, { after: 0 })).toEqual([
      {
        id: `${write.jobId}:NEEDS_OPERATOR:1`,
        sequence: 1,
        type: 'jobNeedsOperator',
        jobId: write.jobId,
        state: 'NEEDS_OPERATOR',
        operation: 'stake',
        lane,
        keyId: 'key-9',
        atMs: expect.any(Number),
        error: FAILURE,
      },
    ]);
  });

  it('leaves out events that it cannot read, and reads on behind them', async () => {
    await journal.outbox.addConsumer(lane, 'sse');
    await spoilEvents(redis, lane, 3);
    await happen(1);
    await spoilEvents(redis, lane, 1);
    await happen(2);
    await spoilEvents(redis, lane, 1);
    const read = async (options: { after: number; count?: number }) =>
      (await journal.outbox.read(lane, options)).map(({ sequence }) => sequence);
    expect(await read({ after: 0 })).toEqual([4, 6, 7]);
    expect(await read({ after: 0, count: 2 })).toEqual([4, 6]);
    expect(await read({ after: 7 })).toEqual([]);
  });

  it('refuses a name of a consumer that is none', async () => {
    await expect(journal.outbox.addConsumer(lane, 'a b')).rejects.toThrow(TypeError);
  });
});
