import type { JobEvent, Journal, LaneId } from '@tollgate/journal';

import { copyData } from '../../../../libs/journal/test/copy-data.js';
import { sampleLane, spoilEvents, submitSample } from '../../../../libs/journal/test/sample-jobs.js';
import { startJournal, type StartedJournal } from '../../../../libs/journal/test/start-journal.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { startRedis, type RedisServer } from '../../../../tools/devnet/processes/redis.js';
import { EventBell, EventPumps, type EventConsumer } from './event-pumps.js';

/** Records the events it receives, and fails or waits when configured to. */
class Collector implements EventConsumer {
  readonly taken: string[] = [];
  readonly batches: number[] = [];
  refuses: (events: readonly JobEvent[]) => void | Promise<void> = () => undefined;

  constructor(readonly name: string) {}

  async take(events: readonly JobEvent[], wallet: string): Promise<void> {
    await this.refuses(events);
    this.batches.push(events.length);
    this.taken.push(...events.map(({ id }) => `${wallet} ${id}`));
  }
}

describe('the event pumps', () => {
  let server: RedisServer;
  let started: StartedJournal;
  let journal: Journal;
  let bell: EventBell;
  let lane: LaneId;
  const held: { over: AbortController; ended: Promise<void> }[] = [];
  let troubles: string[];

  beforeAll(async () => {
    server = await startRedis({ appendfsync: 'no' });
    started = await startJournal({}, server);
    ({ journal } = started);
    bell = new EventBell(server.url, (error) => troubles.push(String(error)));
  });

  afterAll(async () => {
    await bell.close();
    await started.stop();
  });

  beforeEach(async () => {
    troubles = [];
    lane = await adoptLane();
  });

  afterEach(() => leaveAll());

  const adoptLane = async (): Promise<LaneId> => {
    const adopted = sampleLane();
    await journal.adopt(adopted, { pendingNonce: 0 });
    await journal.takeLease(adopted, 'worker', 600_000);
    return adopted;
  };
  const leaveAll = async (): Promise<void> => {
    const all = held.splice(0);
    for (const { over } of all) over.abort();
    await Promise.all(all.map(({ ended }) => ended));
  };
  const run = (consumers: EventConsumer[], { at = lane, wallet = 'main' } = {}): EventPumps => {
    const pumps = new EventPumps({ journal, bell, consumers, onTrouble: (error) => troubles.push(String(error)) });
    const over = new AbortController();
    held.push({ over, ended: pumps.run({ lane: at, signal: over.signal }, wallet) });
    return pumps;
  };
  /** One event for each job; returns what a consumer of the lane receives. */
  const happen = async (times: number, at = lane, wallet = 'main', by = journal): Promise<string[]> => {
    const before = (await by.readLane(at)).lastSequence;
    for (let index = 0; index < times; index++) await by.cancel((await submitSample(by, at, 1)).jobId);
    const events: JobEvent[] = [];
    for (let after = before; after < before + times; after = events.at(-1)!.sequence) {
      events.push(...(await by.outbox.read(at, { after })));
    }
    return events.map(({ id }) => `${wallet} ${id}`);
  };

  it('deliver every event to every consumer, in order, in bounded batches', async () => {
    const [one, other] = [new Collector('one'), new Collector('other')];
    const before = await happen(250);
    run([one, other]);
    await waitFor('both have what had happened', () => one.taken.length === 250 && other.taken.length === 250);
    const expected = [...before, ...(await happen(20))];
    await waitFor('both have all', () => one.taken.length === 270 && other.taken.length === 270);
    expect([one.taken, other.taken]).toEqual([expected, expected]);
    expect(Math.max(...one.batches)).toBe(100);
    await waitFor('both are noted to have all', async () => {
      const { one: ones, other: others } = await journal.outbox.readPositions(lane);
      return ones === 270 && others === 270;
    });
    expect(troubles).toEqual([]);
  });

  it('serve the lanes of several wallets', async () => {
    const collector = new Collector('one');
    const otherLane = await adoptLane();
    const pumps = run([collector]);
    const others = run([collector], { at: otherLane, wallet: 'other' });
    const expected = [...(await happen(1)), ...(await happen(1, otherLane, 'other'))];
    await waitFor('both came', () => collector.taken.length === 2);
    expect(collector.taken.sort()).toEqual(expected.sort());
    expect([...pumps.lanes, ...others.lanes]).toEqual([
      { lane, wallet: 'main' },
      { lane: otherLane, wallet: 'other' },
    ]);
  });

  it('deliver the same events again to a consumer that failed, and report the failure once', async () => {
    const collector = new Collector('sick');
    let failures = 0;
    collector.refuses = () => {
      if (failures++ < 3) throw new Error('the other side is away');
    };
    const expected = await happen(5);
    run([collector]);
    await waitFor('the events came', () => collector.taken.length === 5);
    expect(collector.taken).toEqual(expected);
    expect(troubles).toEqual(['Error: events of wallet main do not reach sick: the other side is away']);
  });

  it('deliver the others where events cannot be read, and report those once', async () => {
    const collector = new Collector('one');
    run([collector]);
    const before = await happen(1);
    await waitFor('the first came', () => collector.taken.length === 1);
    await spoilEvents(started.redis, lane, 2);
    // Also while no other follows.
    await waitFor('they are passed', async () => (await journal.outbox.readPositions(lane))['one'] === 3);
    const expected = [...before, ...(await happen(1))];
    await waitFor('the next came', () => collector.taken.length === 2);
    expect(collector.taken).toEqual(expected);
    const told = troubles.map((one) => /main do not reach one: (\d) of those up to \d cannot be read/.exec(one)?.[1]);
    expect(told.reduce((sum, unread) => sum + Number(unread), 0)).toBe(2);
  });

  it('do not let a consumer that hangs delay the others, or the lane', async () => {
    const [hanging, well] = [new Collector('hanging'), new Collector('well')];
    hanging.refuses = () => new Promise(() => undefined);
    run([hanging, well]);
    const expected = [...(await happen(1)), ...(await happen(1))];
    await waitFor('the other has all', () => well.taken.length === 2);
    expect(well.taken).toEqual(expected);
    await leaveAll();
    const successor = new Collector('hanging');
    run([successor]);
    await waitFor('the next holder hands them on', () => successor.taken.length === 2);
    expect(successor.taken).toEqual(expected);
  });

  it('continue where the last holder stopped', async () => {
    const first = new Collector('one');
    run([first]);
    const early = await happen(3);
    await waitFor('the first has them', async () => (await journal.outbox.readPositions(lane))['one'] === 3);
    await leaveAll();
    const late = await happen(3);
    const second = new Collector('one');
    run([second]);
    await waitFor('the second has the rest', () => second.taken.length === 3);
    expect([first.taken, second.taken]).toEqual([early, late]);
  });

  it('continue after Redis was down', async () => {
    const collector = new Collector('one');
    run([collector]);
    const early = await happen(1);
    await waitFor('the first came', () => collector.taken.length === 1);
    await server.kill();
    await server.start();
    await started.redis.ping();
    await journal.open();
    const reading = { pendingNonce: 0, blockNumber: 1, run: (await journal.readLane(lane)).run ?? '' };
    await journal.thaw(lane, reading, { nonceDoubtBlocks: 0, nonceDoubtMs: 0 });
    const late = await happen(1);
    await waitFor('the second came', () => collector.taken.includes(late[0]!));
    // Redis may have stopped before the first event was acknowledged: then that event is delivered again.
    expect([...new Set(collector.taken)]).toEqual([...early, ...late]);
  });

  it.each([
    ['sleeps', false],
    ['has not taken those yet', true],
  ])('deliver the events that got the sequences of lost ones, while a consumer %s', async (_, isHanging) => {
    const collector = new Collector('one');
    run([collector]);
    await happen(5);
    const isAt = async (position: number) => (await journal.outbox.readPositions(lane))['one'] === position;
    await waitFor('the first came', () => isAt(5));
    const putBack = copyData(server);
    const hanging: (() => void)[] = [];
    if (isHanging) collector.refuses = () => new Promise((resolve) => hanging.push(resolve));
    await happen(5);
    await waitFor('the next came', () => (isHanging ? hanging.length > 0 : isAt(10)));
    const stored: string[] = [];
    await putBack(async (copied) => void stored.push(...(await happen(8, lane, 'main', copied))));
    await journal.open();
    collector.refuses = () => undefined;
    for (const goOn of hanging) goOn();
    await waitFor('all that are stored came', () => stored.every((id) => collector.taken.includes(id)));
  });
});
