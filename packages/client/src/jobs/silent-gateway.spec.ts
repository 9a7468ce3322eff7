import { startSilentServer, type SilentServer } from '../../../../test/harness/network/silent-server.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { collectGarbage } from '../../../../test/harness/stack/collect-garbage.js';
import { createJobsClient, type JobsClient } from './jobs-client.js';

const API_KEY = `tgk_0123456789ab_${'s'.repeat(43)}`;
const EVENT = {
  id: 'a',
  type: 'jobCompleted',
  jobId: 'j1',
  operation: 'stake',
  wallet: 'main',
  at: '2026-01-01T00:00:00Z',
};

/**
 * A gateway whose answers begin and never end. A garbage collection runs before anything is aborted, to remove what
 * fetch references only weakly.
 */
let gateway: SilentServer;
let client: JobsClient;
let stop: AbortController;

beforeEach(async () => {
  stop = new AbortController();
  gateway = await startSilentServer((response, { url }) => {
    if (url?.startsWith('/agent/events') !== true) {
      response.writeHead(url === '/agent/jobs/refused' ? 400 : 200, { 'content-type': 'application/json' }).write('{');
    } else if (!url.includes('jobId=mute')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`retry: 1\n\nid: p1\nevent: jobCompleted\ndata: ${JSON.stringify(EVENT)}\n\n`);
    }
  });
  client = createJobsClient({ baseUrl: gateway.url, apiKey: API_KEY, retryForMs: 0 });
});

afterEach(async () => {
  stop.abort();
  await gateway.stop();
});

const begun = (count: number) => waitFor(`request ${count}`, () => gateway.begun() >= count);

describe('events of a gateway that falls silent', () => {
  const follow = (options: Parameters<JobsClient['events']>[0] = {}) => {
    const ids: string[] = [];
    const ended = (async () => {
      for await (const { id } of client.events({ signal: stop.signal, ...options })) ids.push(id);
    })();
    return { ids, ended };
  };

  it('end with their signal, and so does the connection', async () => {
    const { ids, ended } = follow();
    await waitFor('an event', () => ids.length === 1);
    await collectGarbage();
    stop.abort();
    await ended;
    await gateway.closed(0);
  });

  it('continue over a new connection', async () => {
    const { ids, ended } = follow({ silenceMs: 2_000 });
    await waitFor('an event', () => ids.length >= 1);
    await collectGarbage();
    await waitFor('an event of another connection', () => ids.length >= 2);
    await gateway.closed(0);
    stop.abort();
    await ended;
  });

  it('are requested again when the answer does not even begin', async () => {
    const { ended } = follow({ jobId: 'mute', silenceMs: 100 });
    await begun(2);
    stop.abort();
    await ended;
    await gateway.closed(0);
  });

  it('keep no connection open after the loop is left', async () => {
    for await (const { id } of client.events()) {
      await collectGarbage();
      if (id !== '') break;
    }
    await gateway.closed(0);
  });
});

describe('a request whose answer does not end', () => {
  it.each(['j1', 'refused'])('ends in time: %s', async (jobId) => {
    const hasty = createJobsClient({ baseUrl: gateway.url, apiKey: API_KEY, timeoutMs: 4_000, retryForMs: 0 });
    const failed = expect(hasty.get(jobId)).rejects.toMatchObject({ name: 'AgentJobsError' });
    await gateway.asked();
    await failed;
    await gateway.closed(0);
  });

  it('ends with the reason of its signal', async () => {
    const reason = new Error('enough');
    const failed = expect(client.get('j1', stop.signal)).rejects.toBe(reason);
    await gateway.asked();
    stop.abort(reason);
    await failed;
    await gateway.closed(0);
  });

  it('ends in time where the caller has a signal too', async () => {
    const hasty = createJobsClient({ baseUrl: gateway.url, apiKey: API_KEY, timeoutMs: 4_000, retryForMs: 0 });
    const failed = expect(hasty.get('j1', stop.signal)).rejects.toThrow(
      /^The gateway at 127\.0\.0\.1:\d+ did not answer in time\.$/,
    );
    await gateway.asked();
    await failed;
    await gateway.closed(0);
  });
});
