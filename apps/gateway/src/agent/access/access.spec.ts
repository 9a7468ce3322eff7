import { AgentsFixture, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';
import { send } from '../../../test/start-gateway.js';

const JOB_ID = 'j00000000-000000000000000000000000';

describe('API keys', () => {
  let agents: AgentsFixture;
  let owner: TestKey;

  beforeAll(async () => {
    agents = await AgentsFixture.start({ AGENT_RATE_LIMIT_PER_MINUTE: '0' });
    owner = await agents.createKey(['submit', 'read']);
  });

  afterAll(() => agents.stop());

  describe.each([
    ['GET', '/agent/jobs', ['read', 'operator']],
    ['POST', '/agent/jobs', ['submit']],
    ['GET', `/agent/jobs/${JOB_ID}`, ['read', 'operator']],
    ['POST', `/agent/jobs/${JOB_ID}/retry`, ['submit']],
    ['POST', `/agent/jobs/${JOB_ID}/cancel`, ['submit', 'operator']],
    ['POST', `/agent/jobs/${JOB_ID}/approve`, ['operator']],
    ['POST', `/agent/jobs/${JOB_ID}/reject`, ['operator']],
    ['POST', `/agent/jobs/${JOB_ID}/resume`, ['operator']],
    ['POST', `/agent/jobs/${JOB_ID}/abandon`, ['operator']],
  ] as const)('%s %s', (method, path, needed) => {
    it('is refused without a key, with a 401 that names the scheme', async () => {
      const response = await agents.call(path, null, { method });
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="tollgate"');
      expect(await readProblem(response)).toEqual([401, 'api_key_refused']);
    });

    it('is refused with a key that lacks the scope', async () => {
      const scopes = (['submit', 'read', 'operator'] as const).filter((scope) => !needed.some((one) => one === scope));
      const response = await agents.call(path, await agents.createKey(scopes), { method });
      expect(response.headers.get('www-authenticate')).toContain(`scope="${needed.join(' ')}"`);
      expect(await readProblem(response)).toEqual([403, 'scope_missing']);
    });

    it.each(needed)('is allowed with a key that has the scope %s', async (scope) => {
      const response = await agents.call(path, await agents.createKey([scope]), { method });
      expect([401, 403]).not.toContain(response.status);
    });
  });

  it.each([
    ['another scheme', (token: string) => `Digest ${token}`],
    ['no scheme', (token: string) => token],
    ['Basic', (token: string) => `Basic ${Buffer.from(`key:${token}`).toString('base64')}`],
    ['a wrong secret', (token: string) => `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['a wrong id', (token: string) => `Bearer tgk_000000000000${token.slice(16)}`],
    ['the id alone', (token: string) => `Bearer ${token.slice(0, 16)}`],
    ['two tokens', (token: string) => `Bearer ${token} ${token}`],
    ['something long', () => `Bearer ${'x'.repeat(10_000)}`],
    ['the name of an object property', () => 'Bearer __proto__'],
  ])('are refused when sent as %s', async (_name, write) => {
    const response = await agents.call('/agent/jobs', null, { headers: { Authorization: write(owner.token) } });
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(await readProblem(response)).toEqual([401, 'api_key_refused']);
  });

  it('are refused from the moment they are revoked', async () => {
    const key = await agents.createKey(['read']);
    expect((await agents.call('/agent/jobs', key)).status).toBe(200);
    await agents.keys.revoke(key.id);
    expect(await readProblem(await agents.call('/agent/jobs', key))).toEqual([401, 'api_key_refused']);
  });

  // The matched route decides, however its path is spelled.
  it.each(['/AGENT/jobs', '//agent//jobs/', '/agent/%6aobs', '/agent/jobs?x', '/agent/jobs/..%2fjobs'])(
    'are required at %s',
    async (path) => {
      expect((await send(agents.gateway.port, { path })).status).toBe(401);
    },
  );

  it('are required for HEAD too', async () => {
    expect((await agents.call('/agent/jobs', null, { method: 'HEAD' })).status).toBe(401);
    expect((await agents.call('/agent/jobs', owner, { method: 'HEAD' })).status).toBe(200);
  });

  it('make no difference for a path that is not served', async () => {
    expect(await readProblem(await agents.call('/agent/nothing', null))).toEqual([404, 'not_found']);
    expect(await readProblem(await agents.call('/agent/nothing', owner))).toEqual([404, 'not_found']);
  });

  // Prevents: clients without a key fill the memory with bodies that are read first.
  it('are checked before the body is sent', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': 60_000, Expect: '100-continue' };
    const response = await send(agents.gateway.port, { method: 'POST', path: '/agent/jobs', headers, body: '{' });
    expect(response.status).toBe(401);
  });

  it('may use only their own wallets, and cannot find out about others', async () => {
    const key = await agents.createKey(['submit'], ['other']);
    for (const wallet of ['main', 'nobody-has-it']) {
      expect(await readProblem(await agents.submit(key, { ...SAMPLE_JOB, wallet }))).toEqual([
        403,
        'wallet_not_allowed',
      ]);
    }
    const any = await agents.createKey(['submit'], ['*']);
    expect((await agents.submit(any)).status).toBe(202);
    expect(await readProblem(await agents.submit(any, { ...SAMPLE_JOB, wallet: 'nobody-has-it' }))).toEqual([
      422,
      'wallet_unknown',
    ]);
  });
});

describe('the rate limit of an API key', () => {
  it('is counted for each key separately', async () => {
    const agents = await AgentsFixture.start({ AGENT_RATE_LIMIT_PER_MINUTE: '2' });
    const [one, other] = [await agents.createKey(['read']), await agents.createKey(['read'])];
    for (let turn = 0; turn < 2; turn++) expect((await agents.call('/agent/jobs', one)).status).toBe(200);
    const refused = await agents.call('/agent/jobs', one);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readProblem(refused)).toEqual([429, 'too_many_requests']);
    expect((await agents.call('/agent/jobs', other)).status).toBe(200);
    await agents.stop();
  });
});

describe('Invalid API keys', () => {
  const wrong: TestKey = { id: 'none', token: `tgk_000000000000_${'x'.repeat(43)}` };
  const from = (address: string): RequestInit => ({
    headers: { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' },
  });
  let agents: AgentsFixture;

  beforeEach(async () => {
    agents = await AgentsFixture.start({
      REFUSED_KEYS_PER_MINUTE: '2',
      TRUST_PROXY: '127.0.0.1',
      FACILITATOR: 'true',
      FACILITATOR_PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    });
  });

  afterEach(() => agents.stop());

  it('are limited per client address, over all routes together', async () => {
    const guess = (path: string, method = 'GET') => agents.call(path, wrong, { method, ...from('192.0.2.1') });
    expect(await readProblem(await guess('/agent/jobs'))).toEqual([401, 'api_key_refused']);
    expect(await readProblem(await guess('/facilitator/settle', 'POST'))).toEqual([401, 'api_key_refused']);
    for (const [path, method] of [
      ['/agent/jobs', 'GET'],
      ['/agent/events', 'GET'],
      ['/agent/queues', 'GET'],
      ['/facilitator/settle', 'POST'],
      ['/facilitator/verify', 'POST'],
    ] as const) {
      const refused = await guess(path, method);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await readProblem(refused)).toEqual([429, 'too_many_requests']);
    }
  });

  it('do not block a valid key from another address, or one that was accepted before', async () => {
    const [used, fresh] = [await agents.createKey(['read']), await agents.createKey(['read'])];
    expect((await agents.call('/agent/jobs', used, from('192.0.2.1'))).status).toBe(200);
    for (let turn = 0; turn < 5; turn++) await agents.call('/agent/jobs', wrong, from('192.0.2.1'));
    expect((await agents.call('/agent/jobs', used, from('192.0.2.1'))).status).toBe(200);
    expect((await agents.call('/agent/jobs', fresh, from('192.0.2.2'))).status).toBe(200);
  });

  it('are not looked up beyond the limit, nor is a valid key that was not used before', async () => {
    const fresh = await agents.createKey(['read']);
    for (let turn = 0; turn < 2; turn++) await agents.call('/agent/jobs', wrong, from('192.0.2.1'));
    const refused = await agents.call('/agent/jobs', fresh, from('192.0.2.1'));
    expect(await readProblem(refused)).toEqual([429, 'too_many_requests']);
  });

  it('do not include requests without a key in their count', async () => {
    for (let turn = 0; turn < 4; turn++) {
      const response = await agents.call('/agent/jobs', null, from('192.0.2.1'));
      expect(await readProblem(response)).toEqual([401, 'api_key_refused']);
    }
  });
});
