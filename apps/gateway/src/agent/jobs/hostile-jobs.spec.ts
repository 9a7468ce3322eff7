import { randomBytes } from 'node:crypto';

import { WalletDirectory } from '@tollgate/agent-jobs';
import { laneBookKey } from '@tollgate/book-events';
import { createLaneId, Journal, nameLane } from '@tollgate/journal';

import { waitFor } from '../../../../../test/harness/retry.js';
import { AgentsFixture, createKeyText, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';
import { send } from '../../../test/start-gateway.js';

const BOOK_LIMIT = 1_000;

describe('an invalid job', () => {
  let agents: AgentsFixture;
  let owner: TestKey;

  beforeAll(async () => {
    const book = { BOOK: 'on', BOOK_OUTBOX_LIMIT: String(BOOK_LIMIT) };
    agents = await AgentsFixture.start({ AGENT_RATE_LIMIT_PER_MINUTE: '0', ...book });
    owner = await agents.createKey(['submit', 'read'], ['*']);
  });

  // None of the submissions was accepted.
  afterAll(async () => {
    expect(await agents.journal.readOpenJobs(agents.lane)).toEqual([]);
    await agents.stop();
  });

  const withInput = (changes: object): object => ({ ...SAMPLE_JOB, input: { ...SAMPLE_JOB.input, ...changes } });

  it('is refused with a list of every mistake', async () => {
    const response = await agents.submit(owner, { wallet: 'a b', input: { amount: '-1', nonce: 7 }, from: '0x1' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'request_invalid',
      problems: [
        expect.stringContaining('from must be omitted'),
        expect.stringContaining('operation'),
        expect.stringContaining('wallet'),
      ],
    });
  });

  it.each([
    ['a nonce', withInput({ nonce: 1 })],
    ['a sender', withInput({ from: '0x00000000000000000000000000000000000a11ce' })],
    ['gas', { ...SAMPLE_JOB, gas: '21000' }],
    ['a raw transaction', { ...SAMPLE_JOB, rawTx: '0x02f8' }],
    ['a negative amount', withInput({ amount: '-0.5' })],
    ['text that is not a number', withInput({ amount: 'NaN' })],
    ['an amount with an exponent', withInput({ amount: '1e18' })],
    ['an amount that is not text', withInput({ amount: 0.5 })],
    ['a list for an amount', withInput({ amount: ['0.5'] })],
    ['a string', '"transfer"'],
    ['a list', [SAMPLE_JOB]],
    ['null', 'null'],
    ['nothing', undefined],
    ['an unknown operation', { ...SAMPLE_JOB, operation: 'constructor' }],
    ['a wallet of 65 characters', { ...SAMPLE_JOB, wallet: 'w'.repeat(65) }],
    ['deep nesting', `{"operation":"transfer","wallet":"main","input":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['a constructor', '{"operation":"transfer","wallet":"main","input":{"constructor":{"prototype":{"a":1}}}}'],
  ])('(%s) is refused', async (_name, body) => {
    const headers = { 'Idempotency-Key': createKeyText() };
    expect((await agents.post('/agent/jobs', owner, body, headers)).status).toBe(400);
  });

  it.each([
    ['no JSON', '{"operation":'],
    ['an empty body', ''],
    ['a changed prototype', `{"__proto__":{"wallet":"main"},"operation":"transfer"}`],
  ])('(%s) is refused as not being JSON', async (_name, body) => {
    const response = await agents.submit(owner, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'request_invalid',
      problems: [expect.stringContaining('not JSON')],
    });
  });

  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/jsonp'],
  ])('(%s) is refused for its media type', async (type) => {
    const response = await agents.post('/agent/jobs', owner, SAMPLE_JOB, { 'Content-Type': type });
    expect(await readProblem(response)).toEqual([415, 'media_type_unsupported']);
  });

  it.each([[65_537], [1_048_576]])('(%d bytes) is too large', async (length) => {
    expect(await readProblem(await agents.submit(owner, ' '.repeat(length)))).toEqual([413, 'body_too_large']);
  });

  it('(in endless chunks) is too large', async () => {
    const headers = {
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
      Authorization: `Bearer ${owner.token}`,
    };
    const options = { method: 'POST', path: '/agent/jobs', headers, body: ' '.repeat(100_000) };
    expect((await send(agents.gateway.port, options)).status).toBe(413);
  });

  it.each([['?dryrun=true'], ['?dryRun=yes'], ['?dryRun=true&dryRun=false'], ['?state=FINAL']])(
    'is refused with the query %s',
    async (query) => {
      const response = await agents.post(`/agent/jobs${query}`, owner, SAMPLE_JOB, {
        'Idempotency-Key': createKeyText(),
      });
      expect(await readProblem(response)).toEqual([400, 'request_invalid']);
    },
  );

  it('is refused if its wallet was not adopted', async () => {
    const lane = createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);
    await new WalletDirectory(agents.redis).publish({ name: 'new', lane });
    const key = createKeyText();
    const response = await agents.submit(owner, { ...SAMPLE_JOB, wallet: 'new' }, key);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readProblem(response)).toEqual([503, 'wallet_not_adopted']);
  });

  it('is refused while the bookkeeper has not read the transactions of its wallet, but not one that was accepted', async () => {
    const lane = createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);
    await agents.journal.adopt(lane, { pendingNonce: 0 });
    await new WalletDirectory(agents.redis).publish({ name: 'unread', lane });
    const job = { ...SAMPLE_JOB, wallet: 'unread' };
    const [before, after] = [createKeyText(), createKeyText()];
    const accepted = await agents.submit(owner, job, before);
    expect(accepted.status).toBe(202);
    const events = agents.redis.pipeline();
    for (let event = 0; event < BOOK_LIMIT; event++) events.xadd(laneBookKey(nameLane(lane)), '*', 'v', '1');
    await events.exec();
    const refused = await agents.submit(owner, job, after);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readProblem(refused)).toEqual([503, 'outbox_full']);
    expect((await agents.submit(owner, job, before)).status).toBe(202);
    await agents.redis.xtrim(laneBookKey(nameLane(lane)), 'MAXLEN', BOOK_LIMIT - 1);
    expect((await agents.submit(owner, job, after)).status).toBe(202);
  });

  it('is refused while the worker of its wallet reports nothing to the book that this gateway writes to', async () => {
    const lane = createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);
    await agents.journal.adopt(lane, { pendingNonce: 0 });
    await new WalletDirectory(agents.redis).publish({ name: 'unbooked', lane });
    const hold = (bookLimit: number | null, owner: string) =>
      new Journal({ redis: agents.redis, timeoutMs: 30_000, bookLimit }).takeLease(lane, owner, 1);
    const key = createKeyText();
    const submit = () => agents.submit(owner, { ...SAMPLE_JOB, wallet: 'unbooked' }, key);
    await hold(null, 'off');
    const refused = await submit();
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readProblem(refused)).toEqual([503, 'settings_differ']);
    await waitFor('the next one holds it', async () => (await hold(BOOK_LIMIT, 'on')) !== null);
    expect((await submit()).status).toBe(202);
  });

  it.each([
    ['/agent/jobs/x'],
    ['/agent/jobs/__proto__'],
    ['/agent/jobs/j00000000-000000000000000000000000'],
    ['/agent/jobs/%00'],
    [`/agent/jobs/${'9'.repeat(1000)}`],
  ])('(%s) is not found', async (path) => {
    expect(await readProblem(await agents.call(path, owner))).toEqual([404, 'job_not_found']);
  });
});
