import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { startRedisShards } from '../../tools/devnet/processes/redis-shards.js';
import { startRedis, type RedisServer } from '../../tools/devnet/processes/redis.js';
import { repositoryRoot } from '../../tools/devnet/processes/repository.js';
import { startService } from '../../tools/devnet/processes/service-process.js';
import { startGuardedRedis, type GuardedRedis } from '../harness/stack/guarded-redis.js';

const certificates = join(repositoryRoot(), 'test/certificates');

/** The only line of a gateway that does not start with these settings. */
async function refusalOf(env: NodeJS.ProcessEnv): Promise<string> {
  const port = await findFreePort();
  const started = startService({
    app: 'gateway',
    name: 'gateway',
    url: `http://127.0.0.1:${port}`,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      CHALLENGE_SECRET: randomBytes(32).toString('hex'),
      RPC_URL: 'http://127.0.0.1:9',
      ASSET_ADDRESS: `0x${'1'.repeat(40)}`,
      PAY_TO: `0x${'2'.repeat(40)}`,
      ...env,
    },
  });
  const error: unknown = await started.then(
    (service) => service.stop(),
    (thrown: unknown) => thrown,
  );
  const text = String(error);
  expect(text).not.toMatch(/\n\s+at /);
  return /gateway cannot start\. (.*)/.exec(text)?.[1] ?? text;
}

describe('a Redis whose user lacks something', () => {
  let redis: GuardedRedis;

  beforeAll(async () => (redis = await startGuardedRedis()));
  afterAll(() => redis.stop());

  const asGateway = () => ({ REDIS_URL_FILE: redis.urlFileOf('gateway') });
  const HINT = 'Give the user the rules of its process, which are in deploy/redis.';

  it.each([
    ['a command', '-info', /^Redis does not let this user run INFO: NOPERM .*/],
    [
      'the keys of the ledger',
      'resetkeys %R~tollgate:{restore}',
      /^Redis does not let this user run EVAL on tollgate:\{pay-\d+\}:birth:1328: NOPERM .*/,
    ],
    [
      'a command in a script',
      '-hset',
      /^Redis does not let this user run EVAL on tollgate:\{pay-\d+\}:birth:1328: .*ACL failure.*/,
    ],
    ['the scripts', '-script|load', /^Redis does not let this user run SCRIPT: NOPERM .*/],
  ])('stops the start: %s', async (_, rule, expected) => {
    await redis.admin.call('ACL', 'SETUSER', 'gateway', ...rule.split(' '));
    let refusal = '';
    try {
      refusal = await refusalOf(asGateway());
    } finally {
      await redis.admin.call('ACL', 'LOAD');
    }
    expect(refusal).toMatch(expected);
    expect(refusal.endsWith(HINT)).toBe(true);
  });

  it('stops the start when it is the Redis of the queues', async () => {
    const refusal = await refusalOf({ ...asGateway(), QUEUE_REDIS_URL_FILE: redis.urlFileOf('agent-worker') });
    expect(refusal).toMatch(/^Redis does not let this user run LLEN on tollgate:\{verify-1328\}:requests: NOPERM /);
  });

  it('stops the start with a wrong password, which is not repeated', async () => {
    const refusal = await refusalOf({ REDIS_URL: `redis://gateway:canary@127.0.0.1:${redis.server.port}` });
    expect(refusal).toMatch(/^Redis does not know this user and password\. Correct them/);
  });

  it('stops the start without a password', async () => {
    const refusal = await refusalOf({ REDIS_URL: `redis://127.0.0.1:${redis.server.port}` });
    expect(refusal).toMatch(/^Redis asks for a user and a password\. Put them/);
  });
});

describe('a Redis that cannot be used as it is', () => {
  it.each([
    ['the ledger', 'REDIS_URL', 'EVAL', 'tollgate:{pay-0}:birth:1328'],
    ['the queues', 'QUEUE_REDIS_URL', 'LLEN', 'tollgate:{verify-1328}:requests'],
  ])('stops the start: %s holds data of something else', async (_, name, command, key) => {
    const [fit, other] = await Promise.all([startRedis(), startRedis()]);
    const direct = new Redis(other.url);
    await direct.sadd(key, 'member');
    const refusal = await refusalOf({ REDIS_URL: fit.url, [name]: other.url });
    expect(refusal).toContain(`This Redis holds data of something else: ${command} on ${key} failed with WRONGTYPE.`);
    direct.disconnect();
    await Promise.all([fit.stop(), other.stop()]);
  });

  it('stops the start: it is a node of a cluster', async () => {
    const shards = await startRedisShards(2);
    const refusal = await refusalOf({ REDIS_URL: shards.servers[0]!.url });
    expect(refusal).toMatch(/^This Redis is a node of a cluster\. Put redis\+cluster:/);
    await shards.stop();
  });
});

describe('a Redis behind TLS', () => {
  const servers: RedisServer[] = [];
  const trusted = { NODE_EXTRA_CA_CERTS: join(certificates, 'localhost.cert.pem') };
  let [valid, expired] = [0, 0];

  async function startWithTls(name: string): Promise<number> {
    const port = await findFreePort();
    const files = [
      '--tls-cert-file',
      join(certificates, `${name}.cert.pem`),
      '--tls-key-file',
      join(certificates, `${name}.key.pem`),
    ];
    const args = ['--tls-port', String(port), '--tls-auth-clients', 'no', '--bind', '127.0.0.1 127.0.0.2', ...files];
    servers.push(await startRedis({ args }));
    return port;
  }

  beforeAll(async () => {
    valid = await startWithTls('localhost');
    expired = await startWithTls('expired');
  });

  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  it.each([
    ['redis', 'rediss://127.0.0.1:PORT', 'REDIS_URL'],
    ['the queues', 'rediss://127.0.0.1:PORT', 'QUEUE_REDIS_URL'],
  ])('of an unknown authority stops the start: %s', async (_, url, name) => {
    const plain = { REDIS_URL: servers[0]!.url };
    const refusal = await refusalOf({ ...plain, [name]: url.replace('PORT', String(valid)) });
    expect(refusal).toMatch(
      /^The certificate of this Redis is not accepted: .*self-signed certificate.* NODE_EXTRA_CA_CERTS\.$/,
    );
  });

  it('that has expired stops the start', async () => {
    const env = { NODE_EXTRA_CA_CERTS: join(certificates, 'expired.cert.pem') };
    const refusal = await refusalOf({ ...env, REDIS_URL: `rediss://127.0.0.1:${expired}` });
    expect(refusal).toMatch(/^The certificate of this Redis is not accepted: certificate has expired\. Renew it/);
  });

  it('for another host stops the start', async () => {
    const refusal = await refusalOf({ ...trusted, REDIS_URL: `rediss://127.0.0.2:${valid}` });
    expect(refusal).toMatch(
      /^The certificate of this Redis is not accepted: Hostname\/IP does not match.* 127\.0\.0\.2/,
    );
  });

  it('that names the host is connected to', async () => {
    // Nothing answers for the chain: that the ledger was opened shows in the command line.
    const env = { ...process.env, ...trusted, REDIS_URL: `rediss://localhost:${valid}` };
    const output = execFileSync(process.execPath, ['dist/tollgate.js', 'payments', 'list', '--json'], { env });
    expect(JSON.parse(output.toString())).toEqual([]);
  });
});
