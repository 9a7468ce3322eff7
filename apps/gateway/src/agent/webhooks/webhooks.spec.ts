import type { AgentJobEvent } from '@tollgate/protocol';
import { deriveWebhookSecret, WebhookDeliveries, WebhookTargets } from '@tollgate/webhooks';

import { AgentsFixture, readProblem, type TestKey } from '../../../test/start-agents.js';

const AGENT_SECRET = 'an-agent-secret-of-more-than-thirty-two-characters';
const URL_OF_OURS = 'http://127.0.0.1:9/hook';

interface Webhook {
  id: string;
  url: string;
  secret: string;
}

describe('/agent/webhooks', () => {
  let agents: AgentsFixture;
  let owner: TestKey;
  let stranger: TestKey;
  let operator: TestKey;

  beforeAll(async () => {
    agents = await AgentsFixture.start({
      AGENT_SECRET,
      ALLOW_PRIVATE_TARGETS: 'true',
      AGENT_RATE_LIMIT_PER_MINUTE: '0',
    });
    [owner, stranger] = [await agents.createKey(['submit', 'read']), await agents.createKey(['read'])];
    operator = await agents.createKey(['operator']);
  });

  afterAll(() => agents.stop());

  const register = async (key: TestKey, changes: object = {}): Promise<Webhook> =>
    (await agents.post('/agent/webhooks', key, { url: URL_OF_OURS, ...changes })).json() as Promise<Webhook>;
  const idsOf = async (key: TestKey): Promise<string[]> => {
    const { webhooks } = (await (await agents.call('/agent/webhooks', key)).json()) as { webhooks: Webhook[] };
    return webhooks.map(({ id }) => id);
  };

  it('registers a target, and shows its secret only then', async () => {
    const body = { url: URL_OF_OURS, events: ['transactionFailed'], operations: ['swap'] };
    const response = await agents.post('/agent/webhooks', owner, body);
    const webhook = (await response.json()) as Webhook;
    expect([response.status, response.headers.get('location')]).toEqual([201, `/agent/webhooks/${webhook.id}`]);
    expect(webhook).toEqual({
      ...body,
      id: expect.stringMatching(/^wh_[0-9a-f]{24}$/),
      keyId: owner.id,
      createdAt: expect.any(String),
      disabled: null,
      secret: deriveWebhookSecret(AGENT_SECRET, webhook.id),
    });
    for (const path of ['/agent/webhooks', `/agent/webhooks/${webhook.id}`]) {
      const text = await (await agents.call(path, owner)).text();
      expect([text.includes(webhook.id), text.includes(webhook.secret)]).toEqual([true, false]);
    }
  });

  it('lets a key and operators read and remove its targets', async () => {
    const { id } = await register(owner);
    expect(await idsOf(stranger)).not.toContain(id);
    for (const init of [{ method: 'DELETE' }, {}]) {
      expect(await readProblem(await agents.call(`/agent/webhooks/${id}`, stranger, init))).toEqual([
        404,
        'webhook_not_found',
      ]);
    }
    expect(await idsOf(operator)).toContain(id);
    expect((await agents.call(`/agent/webhooks/${id}`, owner, { method: 'DELETE' })).status).toBe(204);
    expect(await idsOf(owner)).not.toContain(id);
  });

  it('names a target that cannot be read, and lets its key and operators remove it', async () => {
    const { id } = await register(owner);
    const spoil = (name: string) => agents.redis.hset(`tollgate:{webhooks}:jobs:of:${owner.id}`, name, 'damaged');
    await spoil('wh_1');
    await spoil('wh_2');
    const list = async (key: TestKey) => (await agents.call('/agent/webhooks', key)).json();
    for (const key of [owner, operator]) {
      expect(await list(key)).toMatchObject({ unreadable: expect.arrayContaining(['wh_1', 'wh_2']) });
    }
    expect(await idsOf(owner)).toContain(id);
    const remove = async (name: string, key: TestKey) =>
      (await agents.call(`/agent/webhooks/${name}`, key, { method: 'DELETE' })).status;
    expect(await remove('wh_1', stranger)).toBe(404);
    expect([await remove('wh_1', owner), await remove('wh_2', operator)]).toEqual([204, 204]);
    expect(await list(operator)).not.toHaveProperty('unreadable');
  });

  it('enables a disabled target', async () => {
    const { id } = await register(owner);
    const targets = new WebhookTargets(agents.redis, 'jobs');
    await targets.disable((await targets.find({ keyId: owner.id, id }))!, 'gone');
    expect(await (await agents.call(`/agent/webhooks/${id}`, owner)).json()).toMatchObject({ disabled: 'gone' });
    const response = await agents.post(`/agent/webhooks/${id}/enable`, owner);
    expect([response.status, await response.json()]).toMatchObject([200, { id, disabled: null }]);
  });

  it.each([
    [undefined],
    [{}],
    [{ url: 7 }],
    [{ url: URL_OF_OURS, events: 'all' }],
    [{ url: URL_OF_OURS, events: ['x'] }],
    [{ url: URL_OF_OURS, operations: ['__proto__'] }],
    [{ url: URL_OF_OURS, secret: 'mine' }],
  ])('refuses the registration %j', async (body) => {
    expect(await readProblem(await agents.post('/agent/webhooks', owner, body))).toEqual([400, 'request_invalid']);
  });

  it.each(['ftp://example.org/', 'no url', 'http://me:secret@example.org/', `https://example.org/${'x'.repeat(3000)}`])(
    'refuses the target %s',
    async (url) => {
      const response = await agents.post('/agent/webhooks', owner, { url });
      expect(await readProblem(response)).toEqual([422, 'webhook_target_refused']);
    },
  );

  it('limits the targets of a key', async () => {
    const key = await agents.createKey(['read']);
    for (let count = 0; count < 10; count++) await register(key);
    const response = await agents.post('/agent/webhooks', key, { url: URL_OF_OURS });
    expect(await readProblem(response)).toEqual([409, 'too_many_webhooks']);
  });

  it('lists dead letters and sends them again', async () => {
    const { id: targetId } = await register(owner);
    const event: AgentJobEvent = {
      id: 'j00000000-000000000000000000000000:FINAL:1',
      type: 'jobCompleted',
      jobId: 'j00000000-000000000000000000000000',
      operation: 'swap',
      wallet: 'main',
      at: '2026-01-01T00:00:00.000Z',
    };
    const deliveries = new WebhookDeliveries(agents.redis, 'jobs');
    const target = { keyId: owner.id, id: targetId };
    await deliveries.add([{ target, announced: { keyId: owner.id, order: 1, event } }], { perTarget: 9, inAll: 9 });
    const [delivery] = await deliveries.claim(target, 1, 60_000);
    await deliveries.giveUp(target, { ...delivery!, attempts: 17 }, 'The target answered 500.');
    const id = `j00000000-000000000000000000000000.FINAL.1.${targetId}`;
    const letter = {
      id,
      keyId: owner.id,
      webhookId: targetId,
      attempts: 17,
      reason: 'The target answered 500.',
      event,
    };
    const list = async (key: TestKey) => (await agents.call('/agent/webhooks/dead-letters', key)).json();
    for (const key of [owner, operator]) {
      expect(await list(key)).toEqual({ deadLetters: [{ ...letter, failedAt: expect.any(String) }] });
    }
    expect(await list(stranger)).toEqual({ deadLetters: [] });
    const resend = (key: TestKey) => agents.post(`/agent/webhooks/dead-letters/${id}/resend`, key);
    expect(await readProblem(await resend(stranger))).toEqual([404, 'webhook_not_found']);
    expect([(await resend(owner)).status, (await resend(owner)).status]).toEqual([202, 404]);
    expect(await list(owner)).toEqual({ deadLetters: [] });
    expect(await deliveries.count(target)).toMatchObject({ waiting: 1, dead: 0 });
  });
});

describe('webhooks of a gateway without AGENT_SECRET, and without private targets', () => {
  let agents: AgentsFixture;

  afterEach(() => agents.stop());

  it('are refused', async () => {
    agents = await AgentsFixture.start();
    const key = await agents.createKey(['read']);
    const response = await agents.post('/agent/webhooks', key, { url: 'https://example.org/' });
    expect(await readProblem(response)).toEqual([503, 'agent_secret_missing']);
  });

  it('cannot have a private address as target', async () => {
    agents = await AgentsFixture.start({ AGENT_SECRET });
    const key = await agents.createKey(['read']);
    for (const url of ['http://127.0.0.1/', 'https://localhost/', 'https://[::1]/', 'https://0x7f000001/']) {
      const response = await agents.post('/agent/webhooks', key, { url });
      expect(await readProblem(response)).toEqual([422, 'webhook_target_refused']);
    }
  });
});
