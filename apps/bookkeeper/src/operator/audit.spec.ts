import { Logger } from '@nestjs/common';
import { ApiKeyStore } from '@tollgate/http';

import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';
import { BookHolder } from '../book/book-holder.js';

interface AuditRow {
  key_id: string;
  action: string;
  subject: string;
  request_id: string;
  details: { body?: string };
}

interface Document {
  paths: Record<string, Record<string, { description: string }>>;
}

/** What every route takes, so that it is reached; it is refused there, since nothing of the name exists. */
const BODIES: Record<string, object> = {
  '/operator/refunds': { payment: 'tx:1:2:3' },
  '/operator/jobs/{id}/approve': { plan: 'ab'.repeat(32) },
};

describe('the audit table', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  let token: string;
  let keyId: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    const scopes = ['operator:read', 'operator:refund', 'operator:approve', 'operator:wallets'] as const;
    const created = await new ApiKeyStore(fixture.redis).create({ name: 'spec', scopes, wallets: [] });
    [token, keyId] = [created.token, created.key.id];
    bookkeeper = await fixture.startBookkeeper({ OPERATOR_WRITES_PER_DAY: '40' });
    await waitFor('the book is open', async () => (await send('/operator/balances', 'GET')).status === 200);
  });

  afterAll(() => fixture.stop());

  function send(path: string, method: string, body?: object): Promise<Response> {
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
    return fetch(`${bookkeeper.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  const readAudit = (): Promise<AuditRow[]> =>
    bookkeeper.app
      .get(BookHolder)
      .writer.database.query<AuditRow>('SELECT key_id, action, subject, request_id, details FROM audit ORDER BY id');

  async function listWrites(): Promise<[path: string, method: string, scope: string][]> {
    const { paths } = (await (await send('/operator/openapi.json', 'GET')).json()) as Document;
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => path.startsWith('/operator') && method !== 'get')
        .map(([method, { description }]): [string, string, string] => [path, method.toUpperCase(), description]),
    );
  }

  it('has a row of each write route of the API, and of no other', async () => {
    const writes = await listWrites();
    expect(writes.length).toBeGreaterThanOrEqual(11);
    const actions = new Set<string>();
    for (const [path, method] of writes) {
      const before = await readAudit();
      const response = await send(path.replace(/\{\w+\}/g, 'some-thing'), method, BODIES[path]);
      const added = (await readAudit()).slice(before.length);
      expect({ path, added }).toEqual({
        path,
        added: [{ key_id: keyId, action: expect.any(String), request_id: expect.any(String), ...subjectOf(path) }],
      });
      expect(response.status).not.toBe(500);
      actions.add(added[0]!.action);
    }
    // Each has a name of its own.
    expect(actions.size).toBe(writes.length);
    const before = await readAudit();
    await send('/operator/wallets', 'GET');
    expect(await readAudit()).toHaveLength(before.length);
  });

  it('has no row of a request without the scope', async () => {
    const before = await readAudit();
    const [reader, pauser] = [
      await fixture.createToken('operator:read'),
      await fixture.createToken('operator:wallets'),
    ];
    for (const [path, method, scope] of await listWrites()) {
      const headers = { Authorization: `Bearer ${scope.includes('operator:read') ? pauser : reader}` };
      const url = `${bookkeeper.url}${path.replace(/\{\w+\}/g, 'some-thing')}`;
      expect((await fetch(url, { method, headers })).status).toBe(403);
    }
    expect(await readAudit()).toHaveLength(before.length);
  });

  it('keeps what was sent, whatever it is', async () => {
    const body = { reason: 'a\u0000b\ud800', more: ['x'.repeat(5_000)] };
    expect((await send('/operator/wallets/a%00b/pause', 'POST', body)).status).toBe(400);
    const row = (await readAudit()).at(-1);
    expect(row).toMatchObject({ action: 'wallet.pause', subject: 'a?b' });
    expect(row?.details.body).toHaveLength(4_000);
    expect(row?.details.body).toContain(String.raw`{"reason":"a\u0000b\ud800"`);
  });

  it('stops a key that has made its writes of the day', async () => {
    const made = (await readAudit()).filter((row) => row.key_id === keyId).length;
    for (let left = 40 - made; left > 0; left--) await send('/operator/jobs/none/cancel', 'POST');
    const refused = await send('/operator/jobs/none/cancel', 'POST');
    expect(await refused.json()).toMatchObject({ status: 429, code: 'daily_cap' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await readAudit()).filter((row) => row.key_id === keyId)).toHaveLength(40);
    const other = await fixture.createToken('operator:approve');
    const headers = { Authorization: `Bearer ${other}` };
    const allowed = await fetch(`${bookkeeper.url}/operator/jobs/none/cancel`, { method: 'POST', headers });
    expect(allowed.status).toBe(404);
  });

  function subjectOf(path: string): Partial<AuditRow> {
    const body = BODIES[path];
    return {
      subject: path.includes('{') ? 'some-thing' : path === '/operator/refunds' ? 'tx:1:2:3' : 'book',
      details: body === undefined ? {} : { body: JSON.stringify(body) },
    };
  }
});
