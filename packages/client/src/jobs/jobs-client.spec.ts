import { waitFor } from '../../../../test/harness/retry.js';
import { cutOff, json, problem, ScriptedGateway, stream } from '../../test/scripted-gateway.js';
import { AgentJobsError } from './agent-jobs-error.js';
import type { FollowedEvent } from './follow-events.js';
import { createJobsClient, type JobsClient } from './jobs-client.js';

const API_KEY = `tgk_0123456789ab_${'s'.repeat(43)}`;
const JOB = { operation: 'stake', wallet: 'main', input: { amount: '1' } } as const;
const TAKEN = { id: 'j1', state: 'PLANNED' };

let gateway: ScriptedGateway;
let client: JobsClient;

beforeAll(async () => {
  gateway = await ScriptedGateway.start();
  client = createJobsClient({ baseUrl: `${gateway.url}/`, apiKey: API_KEY });
});

afterAll(() => gateway.stop());

async function refusalOf(promise: Promise<unknown>): Promise<AgentJobsError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AgentJobsError);
  return error as AgentJobsError;
}

describe('submit', () => {
  it('sends the job with the API key and an idempotency key, and reports whether it was known', async () => {
    gateway.answer(json(202, TAKEN, { 'Idempotent-Replayed': 'true' }));
    const submitted = await client.submit(JOB, { idempotencyKey: 'order-7' });
    expect(submitted).toEqual({ job: TAKEN, idempotencyKey: 'order-7', isReplay: true });
    const [{ method, url, headers, body }] = gateway.seen as [(typeof gateway.seen)[0]];
    expect([method, url, JSON.parse(body)]).toEqual(['POST', '/agent/jobs', JOB]);
    expect(headers).toMatchObject({ authorization: `Bearer ${API_KEY}`, 'idempotency-key': 'order-7' });
  });

  it('repeats the request under the same key until there is an answer', async () => {
    const soon = { 'Retry-After': '0' };
    gateway.answer(
      cutOff,
      problem(503, 'jobs_unavailable', {}, soon),
      problem(429, 'too_many_requests', {}, soon),
      (response) => response.writeHead(502).end('<html>'),
      json(202, TAKEN),
    );
    const { job, idempotencyKey, isReplay } = await client.submit(JOB);
    expect([job, isReplay]).toEqual([TAKEN, false]);
    expect(idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    expect(gateway.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(5).fill(idempotencyKey));
    expect(new Set(gateway.seen.map(({ body }) => body)).size).toBe(1);
  });

  it('gives up when the gateway asks for a longer delay, and the error contains the key', async () => {
    gateway.answer(problem(503, 'wallet_not_adopted', {}, { 'Retry-After': '60' }));
    const error = await refusalOf(client.submit(JOB, { idempotencyKey: 'order-8' }));
    expect(error).toMatchObject({ code: 'wallet_not_adopted', status: 503, retryAfterMs: 60_000 });
    expect(error.idempotencyKey).toBe('order-8');
    expect(gateway.seen).toHaveLength(1);
  });

  it('does not repeat a refused request, and reports every problem', async () => {
    const problems = ['input.amount must be more', 'input.to is missing'];
    gateway.answer(problem(400, 'request_invalid', { problems }));
    expect(await refusalOf(client.submit(JOB))).toMatchObject({
      code: 'request_invalid',
      message: 'The gateway answered 400: Because.',
      problems,
      requestId: 'r1',
    });
    expect(gateway.seen).toHaveLength(1);
  });

  it('gives up after a while without an answer', async () => {
    const nobody = createJobsClient({ baseUrl: 'http://127.0.0.1:2', apiKey: API_KEY, retryForMs: 300 });
    const error = await refusalOf(nobody.submit(JOB, { idempotencyKey: 'order-9' }));
    expect(error).toMatchObject({
      code: 'network_error',
      message: 'The gateway at 127.0.0.1:2 did not answer (ECONNREFUSED).',
      status: null,
      idempotencyKey: 'order-9',
    });
  });

  it('gives up on an answer that does not arrive', async () => {
    gateway.answer(() => undefined);
    const hasty = createJobsClient({ baseUrl: gateway.url, apiKey: API_KEY, timeoutMs: 50, retryForMs: 0 });
    const { host } = new URL(gateway.url);
    expect((await refusalOf(hasty.submit(JOB))).message).toBe(`The gateway at ${host} did not answer in time.`);
  });

  it('ends with the reason of its signal', async () => {
    gateway.answer(() => undefined);
    const reason = new Error('enough');
    const controller = new AbortController();
    const submitting = client.submit(JOB, { signal: controller.signal });
    // Else it may reach the gateway during the next test.
    await waitFor('the gateway has the request', () => gateway.seen.length === 1);
    controller.abort(reason);
    await expect(submitting).rejects.toBe(reason);
  });

  it('follows no redirect with the API key', async () => {
    gateway.answer((response) => response.writeHead(307, { Location: `${gateway.url}/elsewhere` }).end());
    expect(await refusalOf(client.submit(JOB))).toMatchObject({ code: 'redirect_refused', status: 307 });
    await expect(client.events().next()).rejects.toMatchObject({ code: 'redirect_refused' });
    expect(gateway.seen.map(({ url }) => url)).toEqual(['/agent/jobs', '/agent/events']);
  });

  it('never shows the API key', async () => {
    for (const apiKey of ['', `${API_KEY}\n`]) {
      expect(() => createJobsClient({ baseUrl: gateway.url, apiKey })).toThrow(
        /^apiKey is not an API key\. A key looks like tgk_<id>_<secret>; npm run keys -- create prints it once\.$/,
      );
    }
    expect(() => createJobsClient({ baseUrl: 'http://gate.example.com', apiKey: API_KEY })).toThrow(/http:/);
    expect(() => createJobsClient({ baseUrl: 'https://me:secret@gate.example.com', apiKey: API_KEY })).toThrow(
      /^baseUrl must not contain a user name or a password$/,
    );
    gateway.answer((response) => response.writeHead(400).end('<html>'));
    const error = await refusalOf(client.submit(JOB));
    expect(error.code).toBe('answer_unreadable');
    expect(JSON.stringify([error, error.message, error.stack, String(error.cause)])).not.toContain('ssss');
  });
});

describe('the other requests', () => {
  it('reports why a dry run was refused', async () => {
    const failure = { code: 'INSUFFICIENT_BALANCE', message: 'Too little.', suggestion: 'Fill it up.' };
    gateway.answer(problem(422, 'plan_refused', { failure }));
    expect((await refusalOf(client.dryRun(JOB))).failure).toEqual(failure);
    expect(gateway.seen[0]?.url).toBe('/agent/jobs?dryRun=true');
  });

  it('fetches the pages of a list as they are needed', async () => {
    gateway.answer(
      json(200, { jobs: [{ id: 'a' }, { id: 'b' }], cursor: '5.x' }),
      json(200, { jobs: [], cursor: '3.x' }),
      json(200, { jobs: [{ id: 'c' }], cursor: null }),
    );
    const found: string[] = [];
    for await (const { id } of client.list({ states: ['FINAL', 'REVERTED'], wallet: 'main', pageSize: 2 }))
      found.push(id);
    expect(found).toEqual(['a', 'b', 'c']);
    const asked = gateway.seen.map(({ url }) => Object.fromEntries(new URL(url, gateway.url).searchParams));
    const filter = { state: 'FINAL,REVERTED', wallet: 'main', limit: '2' };
    expect(asked).toEqual([filter, { ...filter, cursor: '5.x' }, { ...filter, cursor: '3.x' }]);
  });

  it.each([
    ['cancel', () => client.cancel('j/1'), ''],
    ['approve', () => client.approve('j/1', 'hash'), '{"floorsHash":"hash"}'],
    ['reject', () => client.reject('j/1'), ''],
    ['resume', () => client.resume('j/1'), ''],
    ['abandon', () => client.abandon('j/1'), ''],
  ])('has a request to %s', async (verb, call, body) => {
    gateway.answer(json(200, TAKEN));
    expect(await call()).toEqual(TAKEN);
    expect(gateway.seen).toMatchObject([{ method: 'POST', url: `/agent/jobs/j%2F1/${verb}`, body }]);
  });

  it('waits until a job has ended', async () => {
    const states = ['PLANNED', 'BROADCAST', 'NEEDS_OPERATOR', 'MINED', 'FINAL'];
    gateway.answer(...states.map((state) => json(200, { id: 'j1', state })));
    expect(await client.waitFor('j1', { pollMs: 1 })).toEqual({ id: 'j1', state: 'FINAL' });
    expect(gateway.seen).toHaveLength(states.length);
  });
});

describe('events', () => {
  const data = (id: string) =>
    JSON.stringify({
      id,
      type: 'jobCompleted',
      jobId: 'j1',
      operation: 'stake',
      wallet: 'main',
      at: '2026-01-01T00:00:00Z',
    });
  const block = (place: string, id: string) => `id: ${place}\nevent: jobCompleted\ndata: ${data(id)}\n\n`;

  async function take(count: number, options: Parameters<JobsClient['events']>[0] = {}): Promise<FollowedEvent[]> {
    const taken: FollowedEvent[] = [];
    for await (const event of client.events(options)) if (taken.push(event) === count) break;
    return taken;
  }
  const placesAsked = () => gateway.seen.map(({ headers }) => headers['last-event-id']);

  it('continues after the last received event, across every interruption', async () => {
    gateway.answer(
      problem(503, 'jobs_unavailable', {}, { 'Retry-After': '0' }),
      // An id before the first event, a comment, an unknown event, and an event cut off after its id.
      stream('retry: 1\nid: p0\n\n', ': quiet\r\n\r\n', 'event: later\ndata: {"id":"x"}\n\n', 'id: p1\nevent: jobCom'),
      stream(block('p1', 'a').slice(0, 30), block('p1', 'a').slice(30), block('p2', 'b')),
      (response) => response.destroy(),
      stream(block('p3', 'c')),
    );
    const events = await take(3);
    expect(events.map(({ id, lastEventId }) => [id, lastEventId])).toEqual([
      ['a', 'p1'],
      ['b', 'p2'],
      ['c', 'p3'],
    ]);
    expect(placesAsked()).toEqual([undefined, undefined, 'p0', 'p2', 'p2']);
  });

  it('sends the requested filters, and the position to continue from', async () => {
    gateway.answer(stream(block('p9', 'z')));
    await take(1, { types: ['jobCompleted', 'transactionFailed'], jobId: 'j1', lastEventId: 'p8' });
    const { url, headers } = gateway.seen[0]!;
    expect(url).toBe('/agent/events?type=jobCompleted%2CtransactionFailed&jobId=j1');
    expect(headers).toMatchObject({ accept: 'text/event-stream', 'last-event-id': 'p8' });
  });

  it('replaces a connection that has fallen silent', async () => {
    gateway.answer(
      (response) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 1\n\n'),
      stream(block('p1', 'a')),
    );
    expect(await take(1, { silenceMs: 500 })).toHaveLength(1);
    expect(gateway.seen.length).toBeGreaterThan(1);
  });

  it('reports events that are no longer stored', async () => {
    const missed: number[] = [];
    gateway.answer(stream('event: eventsMissed\ndata: {"atMost":7}\n\n', block('p1', 'a')));
    await take(1, { onMissed: (atMost) => missed.push(atMost) });
    expect(missed).toEqual([7]);
  });

  it('closes its connection when the loop is left', async () => {
    let isClosed: Promise<void> | undefined;
    gateway.answer((response) => {
      isClosed = new Promise((resolve) => response.once('close', resolve));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(block('p1', 'a'));
    });
    await take(1);
    await isClosed;
  });

  it('ends with its signal, also during the delay before a new connection', async () => {
    const controller = new AbortController();
    gateway.answer((response) => {
      problem(503, 'jobs_unavailable', {}, { 'Retry-After': '600' })(response, gateway.seen[0]!);
      response.once('close', () => controller.abort());
    });
    expect(await take(1, { signal: controller.signal })).toEqual([]);
  });

  it('throws when it is refused', async () => {
    gateway.answer(problem(401, 'api_key_refused'));
    expect((await refusalOf(take(1))).code).toBe('api_key_refused');
  });
});
