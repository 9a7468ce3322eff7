import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Hex } from '@tollgate/protocol';
import type { Redis } from 'ioredis';

import { ReportedHashes } from '../../apps/gateway/src/pages/reported-hashes.js';
import { presentV2, readChallenge } from '../../apps/gateway/test/present-payments.js';
import { Journal, LaneDirectory, RELAYER_FLEET } from '../../libs/journal/src/index.js';
import { tollgate } from '../../tools/cli/test/run-tollgate.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { startStack, type Stack } from '../../tools/devnet/stack/stack.js';
import { createAgentClient } from '../harness/agents/agent-client.js';
import { payLocked } from '../harness/payments/pay.js';
import { retryUntilPaid } from '../harness/retry.js';
import { startGuardedRedis, type GuardedRedis } from '../harness/stack/guarded-redis.js';

/** In place of the URLs that the stack gives to its services. */
const asUser = (redis: GuardedRedis, user: string) => ({
  REDIS_URL: '',
  REDIS_URL_FILE: redis.urlFileOf(user),
  QUEUE_REDIS_URL: '',
  QUEUE_REDIS_URL_FILE: redis.urlFileOf(user),
});

describe('a stack whose processes are users of Redis', () => {
  let redis: GuardedRedis;
  let stack: Stack;
  const resource = () => `${stack.baseUrl}/api/weather`;

  beforeAll(async () => {
    redis = await startGuardedRedis();
    const env = { SIGNED_PAYMENTS: 'true', RELAYER_POLL_MS: '20', BOOK: 'on' };
    const serviceEnv = {
      gateway: asUser(redis, 'gateway-jobs'),
      verifier: asUser(redis, 'verifier'),
      'agent-worker': asUser(redis, 'agent-worker'),
    };
    stack = await startStack({ redis: redis.server, agentWorkers: 1, env, serviceEnv });
  });

  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest) process.stderr.write(stack.logs());
    await stack.stop();
    await redis.stop();
  });

  it('sells for hashes and signatures, notes what phones report, and does jobs', async () => {
    const { proof } = await payLocked(stack.chain, resource());
    const ask = () => fetch(resource(), { headers: { 'X-PAYMENT': proof } });
    const { body } = await retryUntilPaid(ask);
    expect(await retryUntilPaid(ask)).toMatchObject({ body, isReplay: true });

    const signed = await signAuthorization(stack.chain, stack.chain.accounts[0]!, { value: '1000' });
    const headers = presentV2(await readChallenge(resource()), signed);
    await retryUntilPaid(() => fetch(resource(), { headers }));

    const page = await (await fetch(resource(), { headers: { Accept: 'text/html' } })).text();
    const [, reference = '', ticket = ''] = /"reference":"([^"]+)".*"ticketUrl":"([^"]+)"/.exec(page) ?? [];
    const post = (path: string, body: object) =>
      fetch(stack.baseUrl + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    const txHash = `0x${'ab'.repeat(32)}`;
    expect((await post(ticket, { txHash })).status).toBe(202);
    expect(await (await post('/pay', { reference })).json()).toEqual({ txHashes: [txHash] });

    const { token } = await stack.agents!.createApiKey(['submit', 'read']);
    const client = createAgentClient(stack.baseUrl, token);
    const [wallet] = stack.agents!.wallets;
    const input = { amount: '0.001', to: stack.chain.payTo };
    await client.waitFor(await client.submit({ operation: 'transfer', wallet: wallet!.name, input }), 'FINAL');
  });

  it('is looked into by the command line', async () => {
    const env = { REDIS_URL_FILE: redis.urlFileOf('operator'), RPC_URL: stack.chain.rpcUrl };
    expect(JSON.parse(await tollgate(['payments', 'list', '--json'], env))).toHaveLength(2);
    for (const what of [
      'payments refused',
      'jobs list',
      'keys list',
      'wallets list',
      'webhooks list',
      'webhooks dead',
    ]) {
      await tollgate([...what.split(' '), '--json'], env);
    }
  });

  it('is backed up and restored by the command line', async () => {
    const file = join(redis.server.dir, 'backup');
    const env = { REDIS_URL_FILE: redis.urlFileOf('operator') };
    await tollgate(['backup', file], env);
    await Promise.all([...stack.gateways, ...stack.verifiers, ...stack.agentWorkers].map((one) => one.kill('SIGTERM')));
    await tollgate(['restore', file, '--replace'], env);
    expect(JSON.parse(await tollgate(['payments', 'list', '--json'], env))).toHaveLength(2);
  });

  it('does nothing that Redis refuses', async () => {
    expect(await redis.readRefusals()).toEqual([]);
  });
});

const USERS = ['gateway', 'gateway-jobs', 'verifier', 'agent-worker', 'operator'];

describe('the users of Redis', () => {
  let redis: GuardedRedis;
  let users: Map<string, Redis>;

  beforeAll(async () => {
    redis = await startGuardedRedis();
    users = new Map(USERS.map((user) => [user, redis.connectAs(user)]));
  });

  afterAll(() => redis.stop());

  const isRefused = (command: Promise<unknown>): Promise<boolean> =>
    command.then(
      () => false,
      ({ message }: Error) => /NOPERM|ACL failure/.test(message),
    );

  /** What the user may do with the key, by commands and by a script that names it nowhere. */
  async function access(user: string, key: string): Promise<string> {
    const one = users.get(user)!;
    const byScript = (name: string) =>
      isRefused(one.eval(`return redis.call('${name}', '${key.replace("'", '')}')`, 0));
    const cannotRead = [await isRefused(one.get(key)), await byScript('GET')];
    const cannotWrite = [await isRefused(one.del(key)), await byScript('DEL')];
    expect([cannotRead[0], cannotWrite[0]]).toEqual([cannotRead[1], cannotWrite[1]]);
    if (!cannotWrite[0]) return cannotRead[0] ? 'only write' : 'write';
    return cannotRead[0] ? '-' : 'read';
  }

  const [, table = ''] = readFileSync('docs/operations/redis.md', 'utf8').split(/\n(?=\| keys  )/);
  const rows = table.split('\n\n')[0]!.split('\n').slice(2).filter(Boolean);

  it.each(rows)('may do what the table says: %s', async (row) => {
    const [, keys = '', ...cells] = row.split('|').map((cell) => cell.trim());
    for (const [, pattern = ''] of keys.matchAll(/`([^`]+)`/g)) {
      const key = pattern.replace('<account>', `1328:0x${'ab'.repeat(20)}`).replaceAll('*', '7');
      for (const [index, user] of USERS.entries())
        expect([user, key, await access(user, key)]).toEqual([user, key, cells[index]]);
    }
  });

  it.each([
    ...[
      'FLUSHALL',
      'FLUSHDB',
      'KEYS *',
      'CONFIG SET maxmemory 1',
      'CONFIG REWRITE',
      'DEBUG SLEEP 0',
      'SHUTDOWN',
      'MONITOR',
    ],
    ...['ACL LIST', 'ACL SETUSER x on', 'SCRIPT FLUSH', 'FUNCTION FLUSH', 'CLIENT KILL ID 1', 'REPLICAOF NO ONE'],
    ...[
      'CLIENT TRACKING ON BCAST',
      'SAVE',
      'SWAPDB 0 1',
      'RANDOMKEY',
      'DBSIZE',
      'PUBSUB CHANNELS',
      'PSYNC ? -1',
      'SYNC',
    ],
  ])('may not %s', async (line) => {
    const [name = '', ...args] = line.split(' ');
    for (const user of USERS) expect([user, await isRefused(users.get(user)!.call(name, args))]).toEqual([user, true]);
  });

  it('of a gateway may note what phones report, and drop it for later reports', async () => {
    const reports = new ReportedHashes(users.get('gateway')!);
    const digits = (index: number): Hex => `0x${String(index + 10).repeat(32)}`;
    const lock = digits(0);
    // One more than are kept for a lock.
    for (let index = 0; index < 17; index += 1)
      expect(await reports.report({ lock, txHash: digits(index), network: '192.0.2.7' }, 0)).toBe(true);
    expect(await reports.find(lock, 0)).toHaveLength(16);
  });

  it('of a gateway may see which relayers have a running verifier', async () => {
    const relayers = (client: Redis) => new Journal({ redis: client, fleet: RELAYER_FLEET });
    const verifier = relayers(users.get('verifier')!);
    await verifier.open();
    const address: Hex = `0x${'cd'.repeat(20)}`;
    await verifier.adopt({ chainId: 1328, address }, { pendingNonce: 0 });
    await verifier.takeLease({ chainId: 1328, address }, 'verifier', 60_000);
    const journal = relayers(users.get('gateway')!);
    const directory = new LaneDirectory({ journal, chainId: 1328, nowMs: Date.now });
    expect(await directory.read()).toEqual([{ address, isAvailable: true }]);
  });

  it('keep passwords out of the ACL file', async () => {
    const rules = (await redis.admin.call('ACL', 'LIST')) as string[];
    expect(rules.filter((rule) => / on /.test(rule) && !/^user admin /.test(rule))).toHaveLength(8);
    for (const rule of rules.filter((one) => !/^user (admin|default) /.test(one)))
      expect(rule).toMatch(/ #[0-9a-f]{64} /);
    for (const user of USERS)
      expect(rules.join()).not.toContain(/:([^:@]+)@/.exec(readFileSync(redis.urlFileOf(user), 'utf8'))![1]);
  });

  it('are needed: nobody else may do anything', async () => {
    const anonymous = redis.admin.duplicate({ username: 'default', password: 'any', retryStrategy: () => null });
    anonymous.on('error', () => undefined);
    await expect(anonymous.get('tollgate:{pay-1}:x')).rejects.toThrow(/WRONGPASS|closed/);
  });
});
