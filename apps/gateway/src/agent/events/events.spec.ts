import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal, type LaneId } from '@tollgate/journal';
import type { AgentJobEvent } from '@tollgate/protocol';

import { copyData } from '../../../../../libs/journal/test/copy-data.js';
import { spoilEvents } from '../../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../../test/harness/retry.js';
import { startRedis, type RedisServer } from '../../../../../tools/devnet/processes/redis.js';
import { openEvents, type EventReader } from '../../../test/read-events.js';
import { AgentsFixture, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';
import { startGateway } from '../../../test/start-gateway.js';

describe('GET /agent/events', () => {
  let agents: AgentsFixture;
  let owner: TestKey;
  let stranger: TestKey;
  let operator: TestKey;
  let second: LaneId;
  const open: EventReader[] = [];

  beforeAll(async () => {
    agents = await AgentsFixture.start({
      AGENT_RATE_LIMIT_PER_MINUTE: '0',
      AGENT_STREAM_HEARTBEAT_MS: '200',
      AGENT_STREAM_STALL_MS: '5000',
      AGENT_STREAMS_PER_KEY: '3',
      AGENT_STREAMS: '4',
    });
    [owner, stranger] = [await agents.createKey(['submit', 'read'], ['*']), await agents.createKey(['submit', 'read'])];
    operator = await agents.createKey(['operator']);
    second = createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);
    await agents.journal.adopt(second, { pendingNonce: 0 });
    await new WalletDirectory(agents.redis).publish({ name: 'second', lane: second });
  });

  afterEach(async () => {
    for (const reader of open.splice(0)) reader.close();
    await waitFor('the streams are closed', async () => (await countStreams()) === 0);
  });

  const countStreams = async (): Promise<number> => {
    const metrics = await (await fetch(`${agents.gateway.url}/metrics`)).text();
    return Number(/^tollgate_agent_event_streams\{.*\} (\d+)$/m.exec(metrics)?.[1]);
  };

  afterAll(() => agents.stop());

  const listen = async (key: TestKey, { query = '', after }: { query?: string; after?: string } = {}) => {
    const reader = await openEvents(`${agents.gateway.url}/agent/events${query}`, key.token, after);
    open.push(reader);
    return reader;
  };
  /** Submits a job that ends immediately, and so reports one event. */
  const endJob = async (key: TestKey, wallet = 'main'): Promise<string> => {
    const { id } = await agents.submitSample(key, { ...SAMPLE_JOB, wallet });
    await agents.journal.cancel(id);
    return id;
  };
  const jobsOf = (events: readonly AgentJobEvent[]) => events.map(({ jobId }) => jobId);

  it('sends new events of its own jobs to a key, and of all jobs to an operator', async () => {
    await endJob(owner);
    const [ofOwner, ofOperator] = [await listen(owner), await listen(operator)];
    expect(ofOwner.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    // Prevents: the client reopens the stream on the connection of a gateway that is stopping.
    expect(ofOwner.response.headers.get('connection')).toBe('close');
    const foreign = await endJob(stranger);
    const own = await endJob(owner, 'second');
    const [event] = await ofOwner.readEvents(1);
    expect(event).toEqual({
      id: `${own}:CANCELLED:1`,
      type: 'transactionFailed',
      jobId: own,
      operation: 'transfer',
      wallet: 'second',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      error: expect.objectContaining({ code: 'JOB_CANCELLED' }),
    });
    expect(jobsOf(await ofOperator.readEvents(2)).sort()).toEqual([foreign, own].sort());
  });

  it('gives each block an id, and tells clients when to reconnect', async () => {
    const { first } = await listen(owner);
    expect(first).toEqual({ id: expect.stringMatching(/^e1\.[\w.-]+$/), retry: expect.stringMatching(/^\d{4}$/) });
  });

  it('continues from the position of a client, over several lanes, without loss or repetition', async () => {
    const jobs: string[] = [];
    const seen: string[] = [];
    let after: string | undefined = (await listen(owner)).lastEventId;
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 5; index++) jobs.push(await endJob(owner, index % 2 === 0 ? 'main' : 'second'));
      const reader = await listen(owner, { after });
      // Disconnects in the middle of the available events.
      seen.push(...jobsOf(await reader.readEvents(round === 3 ? jobs.length - seen.length : 3)));
      after = reader.lastEventId;
      reader.close();
      await sleep(0);
    }
    expect(seen.sort()).toEqual(jobs.sort());
    expect(new Set(seen).size).toBe(jobs.length);
  });

  it('continues after an event that was received by other means', async () => {
    const jobs = [await endJob(owner), await endJob(owner, 'second'), await endJob(owner)];
    const reader = await listen(owner, { after: await idOf(jobs[0]!) });
    const seen: string[] = [];
    while (!jobs.slice(1).every((job) => seen.includes(job))) seen.push(...jobsOf(await reader.readEvents(1)));
    expect(seen).not.toContain(jobs[0]);
  });

  const idOf = async (jobId: string): Promise<string> => {
    const events = await agents.journal.outbox.read(agents.lane, { after: 0, count: 1000 });
    return events.find((event) => event.jobId === jobId)!.id;
  };

  it('filters by job and by type', async () => {
    const { id } = await agents.submitSample(owner);
    const [ofJob, ofType] = [
      await listen(owner, { query: `?jobId=${id}` }),
      await listen(owner, { query: '?type=jobCompleted,jobNeedsOperator' }),
    ];
    await endJob(owner);
    await agents.journal.cancel(id);
    expect(jobsOf(await ofJob.readEvents(1))).toEqual([id]);
    // Filtered events move the position too.
    const before = ofType.lastEventId;
    // A slow machine may send a heartbeat with the same position first.
    while (ofType.lastEventId === before) {
      expect(await ofType.readBlock()).toEqual({ '': 'nothing new', id: expect.any(String) });
    }
  });

  it('reports missed events that are no longer stored', async () => {
    const after = (await listen(owner)).lastEventId;
    const forgetful = new Journal({ redis: agents.redis, eventsKept: 2 });
    await forgetful.open();
    for (let index = 0; index < 5; index++) await endJob(owner);
    // Another gateway, which has none of them in memory either.
    const other = await startGateway(agents.server.url, []);
    const reader = await openEvents(`${other.url}/agent/events`, owner.token, after);
    expect(await reader.readBlock()).toEqual({ event: 'eventsMissed', data: '{"atMost":3}' });
    expect(await reader.readEvents(2)).toHaveLength(2);
    await other.stop();
    await agents.journal.open();
  });

  // Regression: an operator that had reconnected did not get the event of a job that was waiting for approval.
  it('sends recent events to a client whose position is ahead of a journal restored from a backup', async () => {
    const { lastEventId } = await listen(owner);
    const ahead = lastEventId.replace(/-[0-9a-z]+/g, '-zzzz');
    const job = await endJob(owner);
    const reader = await listen(owner, { query: `?jobId=${job}`, after: ahead });
    let block = await reader.readBlock();
    // This journal may have forgotten its first events.
    while (block?.event === undefined || block.event === 'eventsMissed') block = await reader.readBlock();
    expect(block).toMatchObject({ event: 'transactionFailed', data: expect.stringContaining(job) });
  });

  it.each([
    ['is lost', (id: string) => id.replace(/\d+$/, '999999')],
    ['another one has the sequence of', (id: string) => id.replace(/[0-9a-f]{24}/, '0'.repeat(24))],
  ])('sends recent events to a client that continues after an event that %s', async (_, change) => {
    const job = await endJob(owner);
    const after = change(await idOf(job));
    const reader = await listen(owner, { query: `?jobId=${job}`, after });
    expect(jobsOf(await reader.readEvents(1))).toEqual([job]);
  });

  it('sends the other events where one cannot be read, and reports that one as missed', async () => {
    const reader = await listen(owner);
    await spoilEvents(agents.redis, agents.lane, 1);
    const elsewhere = await endJob(owner, 'second');
    expect(jobsOf(await reader.readEvents(1))).toEqual([elsewhere]);
    const behind = await endJob(owner);
    let block = await reader.readBlock();
    while (block?.event === undefined) block = await reader.readBlock();
    expect(block).toEqual({ event: 'eventsMissed', data: '{"atMost":1}' });
    expect(jobsOf(await reader.readEvents(1))).toEqual([behind]);
  });

  it.each([
    ['x'],
    ['e1.x'],
    ['e1.t1.j00000000-1'],
    [`e1.t1-1${'.j00000000-1'.repeat(17)}`],
    ['e2.t1-1'],
    ['__proto__'],
  ])('refuses a position that is none: %#', async (after) => {
    const response = await agents.call('/agent/events', owner, { headers: { 'Last-Event-ID': after } });
    expect(await readProblem(response)).toEqual([400, 'request_invalid']);
  });

  it.each([['?type=x'], ['?types=jobCompleted'], ['?jobId=a&jobId=b']])('refuses %s', async (query) => {
    expect(await readProblem(await agents.call(`/agent/events${query}`, owner))).toEqual([400, 'request_invalid']);
  });

  it('responds to HEAD without a stream', async () => {
    const response = await agents.call('/agent/events', owner, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('limits the streams of one key and of all', async () => {
    for (let count = 0; count < 3; count++) await listen(owner);
    const fourth = await agents.call('/agent/events', owner);
    expect(Number(fourth.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readProblem(fourth)).toEqual([429, 'too_many_streams']);
    await listen(stranger);
    expect(await readProblem(await agents.call('/agent/events', operator))).toEqual([429, 'too_many_streams']);
  });

  it('ends the streams of a revoked key only', async () => {
    const key = await agents.createKey(['read']);
    const [lost, kept] = [await listen(key), await listen(owner)];
    await agents.keys.revoke(key.id);
    await lost.readToEnd();
    const job = await endJob(owner);
    expect(jobsOf(await kept.readEvents(1))).toEqual([job]);
  });

  // Prevents: it keeps its place within the limits until the gateway is restarted.
  it('ends the streams of clients that left before their streams began', async () => {
    await agents.redis.client('PAUSE', 1_000, 'ALL');
    const sockets = [1, 2].map(() => askForEvents(agents.gateway.port, owner.token));
    await sleep(500);
    for (const socket of sockets) socket.destroy();
    // Redis answers in order: by now the gateway has answered them too.
    await agents.call('/agent/events', owner, { method: 'HEAD' });
    await waitFor('their streams are closed', async () => (await countStreams()) === 0);
  });

  // Prevents: one client that does not read fills the gateway's memory.
  it('closes the stream of a client that reads nothing; the client can continue later', async () => {
    const token = (await agents.journal.takeLease(second, 'worker', 600_000))!.token;
    const first = await listen(owner);
    const start = first.lastEventId;
    first.close();
    const socket = await connectAndPause(agents.gateway.port, owner.token);
    const message = '漢'.repeat(1000);
    const failure = { code: 'LONG', message, suggestion: message };
    const failJob = async (): Promise<string> => {
      const jobId = await submitTo(second);
      await agents.journal.failPlan({ jobId, stepIndex: 0, token, failure, givesBackSpending: false });
      return jobId;
    };
    const jobs: string[] = [];
    // More events of 6 KiB than the system's buffers can hold.
    while (jobs.length < 1500) jobs.push(...(await Promise.all(Array.from({ length: 50 }, failJob))));
    await waitFor('the gateway has cut the client', async () => (await countStreams()) === 0);
    socket.destroy();
    const reader = await listen(owner, { after: start });
    expect(jobsOf(await reader.readEvents(jobs.length)).sort()).toEqual(jobs.sort());
  });

  const submitTo = async (lane: LaneId): Promise<string> => {
    const asked = { operation: 'transfer', wallet: 'second', input: {}, fingerprint: 'f' };
    const idempotencyKey = randomBytes(8).toString('hex');
    const result = await agents.journal.submit({ ...asked, lane, keyId: owner.id, idempotencyKey });
    if (result.outcome !== 'accepted') throw new Error('the job was not accepted');
    return result.jobId;
  };
});

function askForEvents(port: number, token: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET /agent/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

async function connectAndPause(port: number, token: string): Promise<Socket> {
  const socket = askForEvents(port, token);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  return socket;
}

describe('a gateway that stops', () => {
  it('ends its streams, and clients continue at another gateway', async () => {
    const agents = await AgentsFixture.start();
    const owner = await agents.createKey(['submit', 'read']);
    const reader = await openEvents(`${agents.gateway.url}/agent/events`, owner.token);
    const stopped = agents.stop();
    await reader.readToEnd();
    await stopped;
  });
});

describe('a gateway with a thousand wallets', () => {
  const WALLETS = 1_000;
  let agents: AgentsFixture;

  beforeAll(async () => {
    agents = await AgentsFixture.start({});
  });
  afterAll(() => agents.stop());

  // Prevents: an id of 16 kB, which no proxy lets pass and the gateway itself refused.
  it('keeps the ids of its events short, and resumes behind them', async () => {
    const owner = await agents.createKey(['submit', 'read'], ['*']);
    const listen = (after?: string) => openEvents(`${agents.gateway.url}/agent/events`, owner.token, after);
    const lanes = Array.from({ length: WALLETS }, (_, index) =>
      createLaneId(1328, `0x${index.toString(16).padStart(40, '0')}`),
    );
    await Promise.all(lanes.map((lane) => agents.journal.adopt(lane, { pendingNonce: 0 })));
    const endJob = async (lane: LaneId, index: number): Promise<string> => {
      const asked = { operation: 'transfer', wallet: 'main', input: {}, fingerprint: 'f', keyId: owner.id };
      const result = await agents.journal.submit({ ...asked, lane, idempotencyKey: `order-${index}` });
      if (result.outcome !== 'accepted') throw new Error('the job was not accepted');
      await agents.journal.cancel(result.jobId);
      return result.jobId;
    };
    const first = await listen();
    const jobs = new Set(await Promise.all(lanes.map(endJob)));
    const seen = (await first.readEvents(WALLETS / 2)).map(({ jobId }) => jobId);
    const after = first.lastEventId;
    first.close();
    expect(after.length).toBeLessThan(400);
    for (const jobId of seen) jobs.delete(jobId);
    const second = await listen(after);
    while (jobs.size > 0) for (const { jobId } of await second.readEvents(1)) jobs.delete(jobId);
    second.close();
  });
});

describe('a gateway whose Redis lost events', () => {
  let server: RedisServer;
  let agents: AgentsFixture;
  let owner: TestKey;

  beforeEach(async () => {
    server = await startRedis();
    agents = await AgentsFixture.start({}, server);
    owner = await agents.createKey(['submit', 'read']);
  });

  afterEach(() => agents.stop());

  const endJobs = async (count: number, journal = agents.journal): Promise<string[]> => {
    const ended: string[] = [];
    while (ended.length < count) {
      const asked = { operation: 'transfer', wallet: 'main', input: {}, fingerprint: 'f', keyId: owner.id };
      const result = await journal.submit({ ...asked, lane: agents.lane, idempotencyKey: `${Math.random()}` });
      if (result.outcome !== 'accepted') throw new Error('the job was not accepted');
      await journal.cancel(result.jobId);
      ended.push(result.jobId);
    }
    return ended;
  };
  const listen = (after?: string, { url } = agents.gateway) => openEvents(`${url}/agent/events`, owner.token, after);

  it('sends those that have their sequences now', async () => {
    let reader = await listen();
    await endJobs(5);
    await reader.readEvents(5);
    const putBack = copyData(server);
    await endJobs(5);
    await reader.readEvents(5);
    const missing = new Set<string>();
    await putBack(async (copied) => (await endJobs(8, copied)).forEach((jobId) => missing.add(jobId)));
    while (missing.size > 0) {
      const block = await reader.readBlock();
      if (block === null) reader = await listen(reader.lastEventId);
      else if (block.data !== undefined) missing.delete((JSON.parse(block.data) as AgentJobEvent).jobId);
    }
    reader.close();
  });

  // Prevents: the client waits for the events after its position, and never gets those that took the lost ones' place.
  it.each([2, 8])('sends the %s new ones to a client that was away meanwhile', async (count) => {
    const reader = await listen();
    await endJobs(5);
    await reader.readEvents(5);
    const putBack = copyData(server);
    await endJobs(5);
    await reader.readEvents(5);
    reader.close();
    const missing = new Set<string>();
    await putBack(async (copied) => (await endJobs(count, copied)).forEach((jobId) => missing.add(jobId)));
    // One that remembers nothing.
    const other = await startGateway(agents.server.url, []);
    const again = await listen(reader.lastEventId, other);
    while (missing.size > 0) for (const { jobId } of await again.readEvents(1)) missing.delete(jobId);
    again.close();
    // Once it has them, it does not get them again.
    const third = await listen(again.lastEventId, other);
    await agents.journal.open();
    const run = (await agents.journal.readLane(agents.lane)).run!;
    const apart = { nonceDoubtBlocks: 0, nonceDoubtMs: 0 };
    await agents.journal.thaw(agents.lane, { pendingNonce: 7, blockNumber: 1, run }, apart);
    const [next] = await endJobs(1);
    expect((await third.readEvents(1))[0]).toMatchObject({ jobId: next });
    third.close();
    await other.stop();
  });
});
