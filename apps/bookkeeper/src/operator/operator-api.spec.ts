import { Logger } from '@nestjs/common';

import {
  answered,
  authorizationId,
  deliver,
  hashOf,
  PAYER,
  refused,
  settled,
  transferId,
} from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';

const LAST = transferId(1000);

describe('the operator API', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  let reader: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    reader = await fixture.createToken('operator:read');
    for (let number = 1; number <= 5; number++) {
      const more = { requestId: `request-${number}`, amount: `${number}000`, transaction: hashOf(number) };
      await fixture.report(deliver(answered(transferId(number), more)));
    }
    await fixture.report(deliver(refused(transferId(6))));
    await fixture.report(deliver(settled([authorizationId(7)])));
    bookkeeper = await fixture.startBookkeeper();
    await fixture.report(
      deliver(answered(LAST, { route: '=1+1', requestId: 'a "quoted", one', transaction: hashOf(1000) })),
    );
    await waitFor(
      'the last event is in the book',
      async () => (await get(`/operator/payments/${LAST}`)).status === 200,
    );
  });

  afterAll(() => fixture.stop());

  function get(path: string, token = reader, method = 'GET'): Promise<Response> {
    return fetch(`${bookkeeper.url}${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
  }

  async function search(query: string): Promise<string[]> {
    const { payments } = (await (await get(`/operator/payments?${query}`)).json()) as { payments: { id: string }[] };
    return payments.map(({ id }) => id).sort();
  }

  it('is ready, with metrics, and says who has the book', async () => {
    expect((await fetch(`${bookkeeper.url}/health/ready`)).status).toBe(200);
    const metrics = await (await fetch(`${bookkeeper.url}/metrics`)).text();
    expect(metrics).toMatch(/^tollgate_book_active\{.*\} 1$/m);
    expect(metrics).toMatch(/^tollgate_book_lag_events\{.*\} 0$/m);
    expect(metrics).toMatch(/^tollgate_book_events_total\{outcome="applied".*\} 8$/m);
    expect(await (await get('/operator/health')).json()).toMatchObject({ epoch: 1, unreadEvents: 0, lastBooking: 9 });
  });

  it.each([
    [`transaction=${hashOf(3)}`, [transferId(3)]],
    [`reference=${transferId(6)}`, [transferId(6)]],
    ['requestId=request-2', [transferId(2)]],
    ['state=refused', [transferId(6)]],
    ['state=settled', [authorizationId(7)]],
    ['minAmount=3000&maxAmount=4000', [transferId(3), transferId(4)]],
    [`payer=${PAYER.toUpperCase().replace('X', 'x')}&state=refused`, [transferId(6)]],
    ['route=/api/weather&minAmount=5000', [transferId(5)]],
    ['from=2099-01-01', []],
    [`route=${encodeURIComponent("' OR true --")}`, []],
  ])('finds payments by %s', async (query, expected) => {
    expect(await search(query)).toEqual(expected);
  });

  it('lists every payment once, page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const path = `/operator/payments?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = (await (await get(path)).json()) as { payments: { id: string }[]; cursor: string | null };
      seen.push(...page.payments.map(({ id }) => id));
      ({ cursor } = page);
    }
    expect(seen).toHaveLength(8);
    expect(new Set(seen).size).toBe(8);
  });

  it.each([
    'state=paid',
    'minAmount=1.5',
    'from=yesterday',
    'limit=0',
    'cursor=nothing',
    'colour=red',
    'payer=a&payer=b',
  ])('refuses the query %s', async (query) => {
    const response = await get(`/operator/payments?${query}`);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 400, code: 'request_invalid' });
  });

  it.each(['payments?route=%00', 'payments/a%00b', 'payments/a%00b/refund', 'refunds/a%00b', 'refunds?payment=%00'])(
    'answers 400 for a text that the book cannot have: %s',
    async (path) => {
      expect(await (await get(`/operator/${path}`)).json()).toMatchObject({ status: 400, code: 'request_invalid' });
    },
  );

  it('answers 404 for a payment that is not in the book', async () => {
    expect(await (await get(`/operator/payments/${transferId(99)}`)).json()).toMatchObject({
      code: 'book_payment_not_found',
    });
  });

  it.each([
    ['/operator/payments', 'GET'],
    ['/operator/balances', 'GET'],
    ['/operator/verification', 'GET'],
    ['/operator/health', 'GET'],
    ['/operator/exports/entries', 'GET'],
    ['/operator/closings', 'POST'],
  ])('asks %s for a key with the scope', async (path, method) => {
    expect((await fetch(`${bookkeeper.url}${path}`, { method })).status).toBe(401);
    const other = await fixture.createToken('operator:wallets');
    expect(await (await get(path, other, method)).json()).toMatchObject({ status: 403, code: 'scope_missing' });
  });

  it('exports CSV and JSON lines with a schema, and no formula', async () => {
    const csv = (await (await get('/operator/exports/payments')).text()).split('\r\n');
    expect(csv[0]).toBe(
      'schema,id,state,at,scheme,network,asset,payer,recipient,route,request_id,transaction,reason,amount,refunded',
    );
    expect(csv).toHaveLength(10);
    expect(csv.find((line) => line.includes(LAST))).toContain(`,'=1+1,"a ""quoted"", one",`);
    const lines = (await (await get('/operator/exports/entries?format=jsonl')).text()).trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, string>);
    expect(entries[0]).toMatchObject({ schema: 'entries.v1', id: '1', booking: '1', kind: 'payment' });
    const sum = entries
      .filter(({ asset }) => asset?.endsWith('native') === false)
      .reduce((total, { amount }) => total + BigInt(amount!), 0n);
    expect([entries.length, sum]).toEqual([18, 0n]);
  });

  it('closes on demand for those who may, records it, and proves a payment only then', async () => {
    const path = `/operator/payments/${transferId(1)}/proof`;
    expect(await (await get(path)).json()).toMatchObject({ status: 409, code: 'not_closed' });
    const approver = await fixture.createToken('operator:approve');
    const closed = (await (await get('/operator/closings', approver, 'POST')).json()) as { closings: unknown[] };
    expect(closed.closings).toHaveLength(1);
    expect(await (await get(path)).json()).toMatchObject({
      payment: transferId(1),
      bookings: [{ path: expect.any(Array) }],
    });
    expect(await (await get('/operator/verification')).json()).toMatchObject({
      closings: 1,
      bookings: 9,
      broken: null,
    });
  });

  it('describes itself', async () => {
    const { paths } = (await (await fetch(`${bookkeeper.url}/operator/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/operator/payments', '/operator/payments/{id}', '/operator/exports/{table}']),
    );
  });
});
