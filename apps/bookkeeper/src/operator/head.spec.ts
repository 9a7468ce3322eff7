import { Logger } from '@nestjs/common';

import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';
import { BookHolder } from '../book/book-holder.js';

describe('HEAD at the operator API', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  let token: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    token = await fixture.createToken('operator:read', 'operator:approve');
    bookkeeper = await fixture.startBookkeeper();
    await waitFor('the book is open', async () => (await ask('/operator/balances', 'GET')).status === 200);
  });

  afterAll(() => fixture.stop());

  const send = (path: string, method: string) =>
    fetch(`${bookkeeper.url}${path}`, { method, headers: { Authorization: `Bearer ${token}` } });

  async function ask(path: string, method: string): Promise<{ status: number; type: string | null }> {
    const response = await send(path, method);
    // Some are streams without an end.
    await response.body?.cancel();
    return { status: response.status, type: response.headers.get('content-type')?.replace(/; ?/, ';') ?? null };
  }

  it('has the status and the type of the GET', async () => {
    const { paths } = (await (await fetch(`${bookkeeper.url}/operator/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const reads = Object.entries(paths).flatMap(([path, methods]) =>
      path.startsWith('/operator/') && 'get' in methods
        ? [path.replace('{table}', 'entries').replace(/\{\w+\}/g, 'some-thing')]
        : [],
    );
    expect(reads).toEqual(expect.arrayContaining(['/operator/backup', '/operator/changes', '/operator/events']));
    for (const path of reads)
      expect({ path, ...(await ask(path, 'HEAD')) }).toEqual({ path, ...(await ask(path, 'GET')) });
  });

  it('neither copies nor exports, and is recorded as nothing', async () => {
    const { database } = bookkeeper.app.get(BookHolder).writer;
    const countAudit = async () => (await database.query('SELECT id FROM audit')).length;
    const [snapshots, queries] = [jest.spyOn(database, 'longSnapshot'), jest.spyOn(database, 'query')];
    const workOf = async (method: string) => {
      const before = await countAudit();
      [snapshots, queries].forEach((calls) => calls.mockClear());
      for (const path of ['/operator/backup', '/operator/exports/entries']) await (await send(path, method)).text();
      const isExported = queries.mock.calls.some(([sql]) => /\bentries\b/.test(sql));
      return { copies: snapshots.mock.calls.length, isExported, recorded: (await countAudit()) - before };
    };
    expect(await workOf('GET')).toEqual({ copies: 1, isExported: true, recorded: 1 });
    expect(await workOf('HEAD')).toEqual({ copies: 0, isExported: false, recorded: 0 });
  });
});
