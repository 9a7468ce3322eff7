import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { deriveEnqueueSecret, WalletDirectory } from '@tollgate/agent-jobs';
import { ApiKeyStore } from '@tollgate/http';
import { createLaneId } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { NOT_DONE, tollgate, WRONG_USAGE } from '../test/run-tollgate.js';

const run = promisify(execFile);
const AGENT_SECRET = 'a-secret-of-one-installation-and-no-other';

describe('tollgate keys', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let store: ApiKeyStore;

  beforeAll(async () => {
    server = await borrowRedis();
    redis = new Redis(server.url);
    store = new ApiKeyStore(redis);
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const keys = (args: string[], env = {}): Promise<string> => tollgate(['keys', ...args, '--redis', server.url], env);

  it('creates a key whose token authenticates, and shows it and the enqueue secret once', async () => {
    const args = [
      'create',
      '--name',
      'bot',
      '--scope',
      'submit,read',
      '--wallet',
      'main',
      '--wallet',
      'spare',
      '--json',
    ];
    const created = JSON.parse(await keys(args, { AGENT_SECRET })) as Record<string, string>;
    const { id, token, enqueueSecret } = created;
    expect(created).toMatchObject({
      name: 'bot',
      scopes: ['submit', 'read'],
      wallets: ['main', 'spare'],
      revokedAt: null,
    });
    expect(await store.authenticate(token!)).toMatchObject({ id, wallets: ['main', 'spare'] });
    expect(enqueueSecret).toBe(deriveEnqueueSecret(AGENT_SECRET, id!));
    const listed = `${await keys(['list'])}${await keys(['list', '--json'])}`;
    expect(listed).toContain(id);
    for (const secret of [token!, token!.slice(-43), enqueueSecret!]) expect(listed).not.toContain(secret);
  });

  it('prints a table, and the enqueue secret again where AGENT_SECRET is set', async () => {
    const stdout = await keys(['create', '--name', 'bot', '--scope', 'submit']);
    expect(stdout).toMatch(
      /^KEY +[0-9a-f]{12} \(bot\)\nscopes +submit\nwallets +main\ntoken +tgk_[\w-]{56} +shown now/,
    );
    expect(stdout).toContain('set AGENT_SECRET and run tollgate keys secret');
    const id = /[0-9a-f]{12}/.exec(stdout)![0];
    expect(await keys(['secret', id], { AGENT_SECRET })).toBe(deriveEnqueueSecret(AGENT_SECRET, id));
    await expect(keys(['secret', id])).rejects.toThrow(/^AGENT_SECRET is not set/);
    const short = keys(['secret', id], { AGENT_SECRET: 'canary' });
    await expect(short).rejects.toThrow(/32 characters/);
    await expect(short).rejects.not.toThrow(/canary/);
  });

  it('derives no enqueue secret for a key that may not submit or is revoked', async () => {
    const stdout = await keys(['create', '--name', 'eye', '--scope', 'read', '--json'], { AGENT_SECRET });
    const { id, enqueueSecret } = JSON.parse(stdout) as { id: string; enqueueSecret: null };
    expect(enqueueSecret).toBeNull();
    await expect(keys(['secret', id], { AGENT_SECRET })).rejects.toMatchObject(NOT_DONE);
    const { key } = await store.create({ name: 'bot', scopes: ['submit'], wallets: ['main'] });
    await store.revoke(key.id);
    await expect(keys(['secret', key.id], { AGENT_SECRET })).rejects.toMatchObject(NOT_DONE);
  });

  it('revokes', async () => {
    const { key, token } = await store.create({ name: 'bot', scopes: ['submit'], wallets: ['main'] });
    expect(await keys(['revoke', key.id])).toContain('is revoked');
    expect(await store.authenticate(token)).toBeNull();
    expect(await keys(['list'])).toMatch(/bot +submit +main .* revoked 20/);
    await expect(keys(['revoke', 'ffffffffffff'])).rejects.toMatchObject(NOT_DONE);
  });

  it('creates a key that settles payments, and needs no wallet for it', async () => {
    expect(await keys(['create', '--name', 'shop', '--scope', 'settle'])).toMatch(/\nscopes +settle\nwallets +-\n/);
    expect((await store.list()).keys).toMatchObject([{ scopes: ['settle'], wallets: [] }]);
    expect(await keys(['create', '--name', 'both', '--scope', 'settle,read'])).toMatch(/\nwallets +main\n/);
  });

  it('limits a key to options and chains of the settings', async () => {
    const env = { PAYMENTS_FILE: 'tools/cli/test/payments.yaml' };
    const shop = await keys(['create', '--name', 'shop', '--scope', 'settle', '--accepts', 'usdc-base'], env);
    expect(shop).toMatch(/\naccepts +usdc-base\n/);
    const id = /[0-9a-f]{12}/.exec(shop)![0];
    expect(await keys(['list'])).toMatch(/shop +settle +- +usdc-base +/);
    expect(await keys(['limit', id, '--accepts', 'usdc-sei,eip155:8453'], env)).toBe(
      `${id} accepts usdc-sei, eip155:8453 from its next request on.`,
    );
    expect((await store.read(id))?.accepts).toEqual(['usdc-sei', 'eip155:8453']);
    expect(await keys(['limit', id, '--accepts', '*'])).toContain('accepts * from');
  });

  it('refuses a limit that names nothing that is configured, and names the nearest', async () => {
    const { key } = await store.create({ name: 'shop', scopes: ['settle'], wallets: [] });
    const env = { PAYMENTS_FILE: 'tools/cli/test/payments.yaml' };
    const limit = (accepts: string, own = {}): Promise<string> => keys(['limit', key.id, '--accepts', accepts], own);
    await expect(limit('usdc-bsae', env)).rejects.toThrow('did you mean "usdc-base"?');
    await expect(limit('eip155:1328', env)).rejects.toThrow('did you mean "eip155:1329"?');
    await expect(limit('usdc-base')).rejects.toThrow('known names are *, default, eip155:1328');
    await expect(limit('', env)).rejects.toMatchObject(WRONG_USAGE);
    await expect(keys(['limit', 'ffffffffffff', '--accepts', '*'])).rejects.toMatchObject(NOT_DONE);
    const { key: bot } = await store.create({ name: 'bot', scopes: ['submit'], wallets: ['main'] });
    await expect(keys(['limit', bot.id, '--accepts', '*'])).rejects.toMatchObject(WRONG_USAGE);
    expect((await store.read(key.id))?.accepts).toEqual(['*']);
  });

  it('creates a key for the only wallet there is', async () => {
    const directory = new WalletDirectory(redis);
    await directory.publish({ name: 'devnet', lane: createLaneId(1328, `0x${'11'.repeat(20)}`) });
    expect(await keys(['create', '--name', 'bot', '--scope', 'submit'])).toMatch(/\nwallets +devnet\n/);
    await directory.publish({ name: 'other', lane: createLaneId(1328, `0x${'22'.repeat(20)}`) });
    expect(await keys(['create', '--name', 'bot', '--scope', 'submit'])).toMatch(/\nwallets +main\n/);
  });

  it('names an entry that cannot be read', async () => {
    await redis.hset('tollgate:{api-keys}', 'broken', '{');
    expect(await keys(['list'])).toBe('There is no API key.\n"broken" cannot be read; the gateway refuses it.');
  });

  it('refuses wrong usage with exit code 2, and quotes no token', async () => {
    const program = ['scripts/typescript.cjs', 'tools/cli/main.ts', 'keys', 'dance'];
    await expect(run(process.execPath, program)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^unknown command 'dance'\nSee tollgate keys --help\.\n$/),
    });
    const wrong = [
      ['create', '--name', 'bot'],
      ['create', '--scope', 'submit'],
      ['create', '--name', 'bot', '--scope', 'root'],
      ['create', '--name', 'bot', '--scope', 'submit', '--wallet', 'two words'],
      ['revoke'],
      ['limit', '0123456789ab'],
      ['revoke', 'tgk_0123456789ab_canary'],
      ['revoke', '0123456789ab', 'tgk_0123456789ab_canary'],
      ['list', 'canary'],
      ['dance'],
    ];
    for (const args of wrong) {
      const typed = keys(args);
      await expect(typed).rejects.toMatchObject(WRONG_USAGE);
      await expect(typed).rejects.not.toThrow(/canary/);
    }
    expect((await store.list()).keys).toEqual([]);
  });
});
