import { Logger } from '@nestjs/common';
import { ApiKeyStore } from '@tollgate/http';
import { OPERATOR_ROUTES, type OperatorRoute } from '@tollgate/operator-api';

import {
  answered,
  ASSET,
  authorizationId,
  deliver,
  hashOf,
  PAY_TO,
  PAYER,
  refused,
  settled,
  transferId,
} from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';
import { BookHolder } from '../book/book-holder.js';
import { BookController } from './book.controller.js';

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
    bookkeeper = await fixture.startBookkeeper({ EXPLORER_URL: 'https://explorer.example/' });
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
    ['owed=true', [transferId(6)]],
    ['owed=true&dust=false', [transferId(6)]],
    ['minAmount=3000&maxAmount=4000', [transferId(3), transferId(4)]],
    [`payer=${PAYER.toUpperCase().replace('X', 'x')}&state=refused`, [transferId(6)]],
    ['route=/api/weather&minAmount=5000', [transferId(5)]],
    ['option=default&minAmount=4000&maxAmount=5000', [transferId(4), transferId(5)]],
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
    'owed=false',
    'dust=true',
    'minAmount=1.5',
    'from=yesterday',
    'limit=0',
    'cursor=nothing',
    'colour=red',
    'payer=a&payer=b',
    'option=usdc',
    'option=default&option=default',
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

  it.each([
    ['a month 99', '9999-99-99T99:99Z x'],
    ['February 30', '2026-02-30T00:00:00.000Z x'],
    ['the year 0', '0000-01-01T00:00:00.000Z x'],
    ['a year before it', '-000001-01-01T00:00:00.000Z x'],
    ['the last year of a date', '+275760-09-13T00:00:00.000Z x'],
    ['a day', '2026-01-01 x'],
    ['a number', '1 x'],
    ['a zero byte', '2026-01-01T00:00:00.000Z a\0b'],
    ['a long id', `2026-01-01T00:00:00.000Z ${'x'.repeat(301)}`],
  ])('answers 400 for a cursor with %s', async (_, text) => {
    const cursor = Buffer.from(text).toString('base64url');
    for (const list of ['payments', 'refunds']) {
      const answer = await (await get(`/operator/${list}?cursor=${cursor}`)).json();
      expect(answer).toMatchObject({ status: 400, code: 'request_invalid' });
    }
  });

  it.each(['payments', 'exports/payments', 'exports/entries', 'reconcile'])(
    'answers 400 for a time that is none: %s',
    async (path) => {
      for (const time of ['0000-01-01', '2026-02-30', '2026-02-30T08:00:00Z', '9999-12-31T24:00Z'])
        expect((await get(`/operator/${path}?from=${time}`)).status).toBe(400);
    },
  );

  // Prevents: what records a body before it is checked overflows the stack.
  it.each(['refunds', 'closings', 'webhooks'])(
    'answers 400 for a body of %s that is nested without measure',
    async (path) => {
      const token = await fixture.createToken('operator:refund', 'operator:approve', 'operator:read');
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
      for (const body of [deep, `{"payment":${deep}}`, '{"a":'.repeat(10_000), '['.repeat(60_000)]) {
        const response = await fetch(`${bookkeeper.url}/operator/${path}`, { method: 'POST', headers, body });
        expect(await response.json()).toMatchObject({ status: 400, code: 'request_invalid' });
      }
    },
  );

  it('lets a request arrive within ten seconds', () => {
    const server = bookkeeper.app.getHttpServer();
    expect(server).toMatchObject({
      requestTimeout: 10_000,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
    });
  });

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
    ['/operator/summary', 'GET'],
    ['/operator/seller', 'GET'],
    ['/operator/changes', 'GET'],
    ['/operator/audit', 'GET'],
    ['/operator/exports/entries', 'GET'],
    ['/operator/closings', 'POST'],
    ['/operator/retention', 'POST'],
    ['/operator/backup', 'GET'],
    ['/operator/events', 'GET'],
    ['/operator/webhooks', 'POST'],
  ])('asks %s for a key with the scope', async (path, method) => {
    expect((await fetch(`${bookkeeper.url}${path}`, { method })).status).toBe(401);
    const other = await fixture.createToken('operator:wallets');
    expect(await (await get(path, other, method)).json()).toMatchObject({ status: 403, code: 'scope_missing' });
  });

  it('exports CSV and JSON lines with a schema, and no formula', async () => {
    const csv = (await (await get('/operator/exports/payments')).text()).split('\r\n');
    expect(csv[0]).toBe(
      'schema,id,state,at,scheme,network,asset,payer,recipient,route,request_id,transaction,reason,amount,refunded,for_other,path,query,symbol,amount_decimal,refunded_decimal',
    );
    expect(csv).toHaveLength(10);
    expect(csv.find((line) => line.includes(LAST))).toContain(`,'=1+1,"a ""quoted"", one",`);
    const lines = (await (await get('/operator/exports/entries?format=jsonl')).text()).trim().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, string>);
    expect(entries[0]).toMatchObject({ schema: 'entries.v1', id: '1', booking: '1', kind: 'payment' });
    expect(entries[1]).toMatchObject({ amount: '-1000', amount_decimal: '-0.001', symbol: 'USDC', payer: PAYER });
    expect(entries[1]!['account']).toBe(`revenue:${entries[1]!['route']}`);
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

  it('verifies the book once for all who ask at a time', async () => {
    const query = jest.spyOn(bookkeeper.app.get(BookHolder).writer.database, 'query');
    const controller = bookkeeper.app.get(BookController);
    const verdicts = await Promise.all([controller.verify(), controller.verify(), controller.verify()]);
    const readings = query.mock.calls.filter(([sql]) => sql.includes('FROM closings'));
    query.mockRestore();
    expect(readings).toHaveLength(1);
    expect(verdicts.map(({ broken }) => broken)).toEqual([null, null, null]);
    expect(await controller.verify()).not.toBe(verdicts[0]);
  });

  it('lists what is owed, oldest first, page by page', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/operator/payments?state=refused,settled&order=oldest&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = (await (await get(path)).json()) as { payments: { id: string }[]; cursor: string | null };
      seen.push(...page.payments.map(({ id }) => id));
      ({ cursor } = page);
    }
    expect(seen).toEqual([transferId(6), authorizationId(7)]);
  });

  it('says what the seller is paid in, and sums up the last hour', async () => {
    const only = {
      network: 'chain-testnet',
      chainId: 1328,
      payTo: PAY_TO,
      explorerUrl: 'https://explorer.example',
      asset: { address: ASSET, symbol: 'USDC', decimals: 6 },
    };
    expect(await (await get('/operator/seller')).json()).toEqual({ ...only, options: [{ name: 'default', ...only }] });
    const summary = (await (await get('/operator/summary')).json()) as { points: unknown[] };
    expect(summary.points).toHaveLength(60);
    expect((await get('/operator/summary?window=year')).status).toBe(400);
  });

  it('says when the book changes, and ends with the key', async () => {
    const { key, token } = await new ApiKeyStore(fixture.redis).create({
      name: 'watches',
      scopes: ['operator:read'],
      wallets: [],
    });
    const response = await get('/operator/changes', token);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = response.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    await fixture.report(deliver(answered(transferId(2000))));
    let text = '';
    while (!text.includes('event: book')) text += (await events.next()).value;
    await new ApiKeyStore(fixture.redis).revoke(key.id);
    for (let done: boolean | undefined = false; !done;) ({ done } = await events.next());
    expect((await get('/operator/changes', token)).status).toBe(401);
  });

  it('goes on saying so while the key cannot be read', async () => {
    const closing = new AbortController();
    const headers = { Authorization: `Bearer ${reader}` };
    const { body } = await fetch(`${bookkeeper.url}/operator/changes`, { headers, signal: closing.signal });
    const events = body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    fixture.server.signal('SIGSTOP');
    try {
      let text = '';
      // The key was read before the stop for the first one at most.
      while (text.split('event: alive').length < 3) {
        const { value, done } = await events.next();
        if (done === true) throw new Error('the stream has ended');
        text += value;
      }
    } finally {
      fixture.server.signal('SIGCONT');
      closing.abort();
    }
  });

  it('bounds the event streams of a key, and counts those that are open', async () => {
    const own = await fixture.createToken('operator:read');
    const streams: AbortController[] = [];
    const open = async () => {
      streams.push(new AbortController());
      const headers = { Authorization: `Bearer ${own}` };
      return (await fetch(`${bookkeeper.url}/operator/changes`, { headers, signal: streams.at(-1)!.signal })).status;
    };
    for (let count = 0; count < 20; count++) expect(await open()).toBe(200);
    expect(await open()).toBe(429);
    streams[0]!.abort();
    await waitFor('one may be opened', async () => (await open()) === 200);
    for (const stream of streams) stream.abort();
  });

  it('lists what people did', async () => {
    const approver = await fixture.createToken('operator:approve');
    await get('/operator/closings', approver, 'POST');
    const { acts, next } = (await (await get('/operator/audit?limit=1')).json()) as {
      acts: { id: number; action: string; keyId: string }[];
      next: number | null;
    };
    expect(acts).toMatchObject([{ action: 'close', subject: 'book', keyId: approver.split('_')[1] }]);
    expect(next === null || next === acts[0]!.id).toBe(true);
    expect((await get('/operator/audit?before=none')).status).toBe(400);
  });

  it('describes itself: every route, and every shape that it refers to', async () => {
    const document = (await (await fetch(`${bookkeeper.url}/operator/openapi.json`)).json()) as {
      paths: Record<string, object>;
      components: { schemas: object };
    };
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(described.filter((route) => route.includes(' /operator/')).sort()).toEqual(
      Object.keys(OPERATOR_ROUTES).sort(),
    );
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter(([, name]) => !Object.hasOwn(document.components.schemas, name!))).toEqual([]);
  });

  /** All but those of things that this book has none of, and of a chain. */
  const readable = Object.entries<OperatorRoute>(OPERATOR_ROUTES).flatMap(([name, { answer }]) =>
    answer === undefined || !/^GET (?!.*(proof|refund|reconcile|(jobs|refunds)\/:id)$)/.test(name)
      ? []
      : [[name, answer] as const],
  );

  it.each(readable)('answers %s with what its schema says, and no more', async (name, schema) => {
    const answer = (await (await get(name.slice('GET '.length).replace(':id', LAST))).json()) as object;
    expect(schema.parse(answer)).toEqual(answer);
  });
});
