import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Logger } from '@nestjs/common';

import { answered, deliver, transferId } from '../../../../libs/book/test/sample-events.js';
import { startTarget } from '../../../../test/harness/payments/start-target.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { NOT_DONE, tollgate, WRONG_USAGE } from '../../../../tools/cli/test/run-tollgate.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';

const PAYMENT = transferId(1);
const run = promisify(execFile);

describe('tollgate book, export, prove and verify-proof', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  let folder: string;
  let env: Record<string, string>;
  let closed: { content: { root: string }; signer: string };

  beforeAll(async () => {
    Logger.overrideLogger(false);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
    fixture = await BookkeeperFixture.start();
    for (const number of [1, 2, 3]) await fixture.report(deliver(answered(transferId(number))));
    bookkeeper = await fixture.startBookkeeper({ ALLOW_PRIVATE_TARGETS: 'true', WEBHOOK_ATTEMPTS: '1' });
    const apiKey = await fixture.createToken('operator:read', 'operator:approve');
    env = { OPERATOR_URL: bookkeeper.url, OPERATOR_API_KEY: apiKey, TOLLGATE_STATE_DIR: folder };
    await waitFor('all is booked', async () => (await tollgate(['book', 'verify'], env)).includes('3 bookings'));
    [closed] = JSON.parse(await tollgate(['book', 'close', '--json'], env));
    await tollgate(['prove', PAYMENT, '--out', join(folder, 'proof.json')], env);
  });

  afterAll(async () => {
    await fixture.stop();
    rmSync(folder, { recursive: true });
  });

  const proof = (): string => join(folder, 'proof.json');

  it('shows balances and exports', async () => {
    expect(await tollgate(['book', 'balances'], env)).toMatch(
      /^revenue:\/api\/weather +-0.03 +USDC +-30000 +1328:0x\w+$/m,
    );
    const listed = await tollgate(['book', 'payments', '--route', '/api/weather'], env);
    expect(listed).toMatch(/^AT +STATE +AMOUNT +SYMBOL +BASE UNITS +ROUTE +PAYER +PAYMENT$/m);
    expect(listed.match(/UTC +answered +0\.01 +USDC +10000 +\/api\/weather +0x(c1)+ +tx:1328:/g)).toHaveLength(3);
    expect(await tollgate(['book', 'payments', '--owed'], env)).toBe('The book has no such payment.');
    await expect(tollgate(['book', 'payments', '--state', 'lost'], env)).rejects.toThrow('must be one or more of');
    expect(await tollgate(['refunds', 'list'], env)).toBe('There is no such refund.');
    expect((await tollgate(['export', 'payments', '--format', 'jsonl'], env)).split('\n')).toHaveLength(3);
    expect((await tollgate(['export', 'entries', '--from', '2026-01-01'], env)).split('\n')).toHaveLength(7);
    await expect(tollgate(['export', 'entries', '--from', 'soon'], env)).rejects.toThrow(/must be a day or a time/);
    expect(await tollgate(['book', 'close'], env)).toBe('Everything is closed already.');
  });

  it('checks a proof offline, by the root or by the key', async () => {
    for (const trusted of [
      ['--root', closed.content.root],
      ['--key', closed.signer],
    ]) {
      const text = await tollgate(['verify-proof', proof(), ...trusted]);
      expect(text).toMatch(new RegExp(`^${PAYMENT} is proved:\nbooking 1 .*\n.*10000 base units`));
    }
  });

  it('refuses a proof without anything to check it against, or with something that it does not fit', async () => {
    await expect(tollgate(['verify-proof', proof()])).rejects.toMatchObject(WRONG_USAGE);
    const both = ['--root', closed.content.root, '--key', closed.signer];
    await expect(tollgate(['verify-proof', proof(), ...both])).rejects.toMatchObject(WRONG_USAGE);
    const others = [
      ['--root', 'ab'.repeat(32)],
      ['--key', `0x${'ab'.repeat(20)}`],
    ];
    for (const other of others)
      await expect(tollgate(['verify-proof', proof(), ...other])).rejects.toMatchObject(NOT_DONE);
  });

  it.each([
    ['an amount', (text: string) => text.replaceAll('10000', '10001')],
    ['the request', (text: string) => text.replace('"hash": "r', '"hash": "x')],
    ['the payment', (text: string) => text.replace(`"payment": "${PAYMENT}"`, `"payment": "${transferId(2)}"`)],
    ['the path', (text: string) => text.replace('"side": "right"', '"side": "left"')],
    ['the day', (text: string) => text.replace(/"day": "20\d\d/, '"day": "1999')],
    ['the version', (text: string) => text.replace('"version": 1', '"version": 2')],
    ['everything', () => '{}'],
    ['the syntax', () => '{'],
  ])('refuses a proof in which %s was changed', async (name, change) => {
    const file = join(folder, `${name.replace(' ', '-')}.json`);
    const [before, after] = [readFileSync(proof(), 'utf8'), change(readFileSync(proof(), 'utf8'))];
    expect(after).not.toBe(before);
    writeFileSync(file, after);
    await expect(tollgate(['verify-proof', file, '--key', closed.signer])).rejects.toMatchObject(NOT_DONE);
  });

  it('forgets what was requested long ago, for a key that may approve', async () => {
    expect(await tollgate(['book', 'forget', '--months', '1'], env)).toMatch(/^Removed what was requested before /);
    await expect(tollgate(['book', 'forget', '--months', '0'], env)).rejects.toThrow(/whole number of months/);
    await expect(tollgate(['book', 'forget'], env)).rejects.toThrow(/--months/);
  });

  it('registers webhook targets of payments, shows what did not reach them, sends it again, and removes them', async () => {
    const receiver = await startTarget();
    try {
      const webhooks = (...args: string[]) => tollgate(['payment-webhooks', ...args], env);
      expect(await webhooks('list')).toBe('This API key has no webhook target.');
      expect(await webhooks('dead')).toBe('No delivery was given up.');
      const added = await webhooks('add', receiver.url, '--events', 'payment.answered, payment.refused');
      const [, id = '', secret] =
        /^(wh_\w{24}) receives payment\.answered, payment\.refused from now on\.\nIts secret.*: (\S{32,})$/.exec(
          added,
        ) ?? [];
      expect(await webhooks('list')).toMatch(
        new RegExp(`^${id} +payment\\.answered,payment\\.refused .* enabled +http`, 'm'),
      );
      expect(await webhooks('list', '--json')).not.toContain(secret);

      receiver.answerWith(500);
      await fixture.report(deliver(answered(transferId(4))));
      await waitFor('it is given up', async () => (await webhooks('dead')).includes(id));
      const dead = new RegExp(`^${id} +payment\\.answered:${transferId(4)} +1 .*The target answered 500\\.$`, 'm');
      expect(await webhooks('dead')).toMatch(dead);
      receiver.answerWith(410);
      expect(await webhooks('resend', id)).toBe('1 delivery is tried again.');
      await waitFor('it is disabled', async () => (await webhooks('list')).includes('disabled: gone'));
      receiver.answerWith(204);
      expect(await webhooks('enable', id)).toBe(`${id} receives events from now on.`);
      expect(await webhooks('list')).toContain('enabled');
      expect(await webhooks('remove', id)).toBe(`${id} is removed.`);
      await expect(webhooks('remove', id)).rejects.toThrow(/no such webhook target/);
      expect(await webhooks('list')).toBe('This API key has no webhook target.');
    } finally {
      await receiver.stop();
    }
  });

  it.each([
    [WRONG_USAGE, ['add']],
    [WRONG_USAGE, ['remove']],
    [WRONG_USAGE, ['dead', '--limit', '0']],
    [NOT_DONE, ['add', 'http://127.0.0.1:1/', '--events', 'payment.lost']],
    [NOT_DONE, ['add', 'not a URL']],
    [NOT_DONE, ['resend', 'wh_000000000000000000000000']],
  ])('refuses as %j a webhook command: %j', async (ended, args) => {
    await expect(tollgate(['payment-webhooks', ...args], env)).rejects.toMatchObject(ended);
  });

  it('says in one sentence why it cannot ask', async () => {
    await expect(tollgate(['book', 'balances', '--operator', 'http://127.0.0.1:9'], env)).rejects.toThrow(
      /^No bookkeeper answers at http:\/\/127\.0\.0\.1:9\. Start one, or name it with OPERATOR_URL\.\n$/,
    );
    await expect(tollgate(['book', 'balances'], { TOLLGATE_STATE_DIR: folder })).rejects.toThrow(
      /^OPERATOR_API_KEY is not set/,
    );
    await expect(tollgate(['book', 'balances'], { ...env, OPERATOR_API_KEY: 'wrong' })).rejects.toThrow(
      /unknown or revoked/,
    );
    await expect(tollgate(['prove', 'tx:1:2', '--out', join(folder, 'no.json')], env)).rejects.toThrow(
      /no such payment/,
    );
    await expect(tollgate(['prove', PAYMENT, '--out', proof()], env)).rejects.toThrow(/Name a new file/);
  });

  it('leaves no copy of the book where the disk is full', async () => {
    for (let number = 100; number < 150; number++) await fixture.report(deliver(answered(transferId(number))));
    await waitFor('all is booked', async () => (await tollgate(['book', 'verify'], env)).includes('54 bookings'));
    const file = join(folder, 'copy');
    const more = ['--redis', fixture.server.url, '--book', '--operator', bookkeeper.url].join(' ');
    // Redis has a part of this size, and the book has more.
    const command = `ulimit -f 200 && exec node scripts/typescript.cjs tools/cli/main.ts backup ${file} ${more}`;
    await expect(run('sh', ['-c', command], { env: { ...process.env, ...env } })).rejects.toMatchObject({
      ...NOT_DONE,
      stderr: expect.stringMatching(/copy\.book\.part could not be written \(EFBIG.*Free space/),
    });
    expect([existsSync(file), existsSync(`${file}.book`), existsSync(`${file}.book.part`)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
