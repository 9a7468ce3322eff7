import { execFile, execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { Redis } from 'ioredis';

import { Ledger } from '../../libs/ledger/src/index.js';
import { HEAD_AT_BIRTH, leaseOf, sampleClaim } from '../../libs/ledger/test/sample-payments.js';
import { connectRedis, type RedisClient } from '../../libs/redis/src/connect-redis.js';
import { withRedis } from '../../tools/cli/shared/with-redis.js';
import { meet } from '../../tools/devnet/processes/cluster-servers.js';
import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { startRedis } from '../../tools/devnet/processes/redis.js';
import { createRandom } from '../harness/random.js';
import { waitFor } from '../harness/retry.js';
import { moveSlots } from './move-slots.js';
import { createNode, findPrimaries, waitUntilWell, type Node } from './servers.js';
import { CLUSTER_PASSWORD, startCluster, type StartedCluster } from './start-cluster.js';
import { startSentinels } from './start-sentinels.js';

const run = promisify(execFile);
/** For replicas that acknowledge, on a busy machine too. */
const PATIENT = { durability: { replicas: 1, timeoutMs: 60_000 }, timeoutMs: 90_000 };
/** For replicas that may not. */
const HASTY = { ...PATIENT, durability: { replicas: 1, timeoutMs: 500 } };
/** Enough different payments for all three shards. */
const MANY = 24;
const lines: string[] = [];
const note = (line: string) => void lines.push(line);
const logger = { log: note, warn: note, error: note };

const isOk = async (nodes: readonly Node[]): Promise<boolean> => {
  const states = await Promise.all(nodes.map(({ redis }) => redis.cluster('INFO').catch(() => '')));
  return states.every((state) => state.includes('cluster_state:ok'));
};

describe('a cluster with a fault', () => {
  let cluster: StartedCluster;
  let nodes: Node[];
  let redis: RedisClient;
  let ledger: Ledger;
  let hasty: Ledger;
  const open = (url: string) => {
    const client = connectRedis({ url, role: 'ledger', logger });
    return { client, ledger: new Ledger({ redis: client, chainIds: [1328], ...PATIENT }) };
  };
  const sample = () => sampleClaim(ledger, { leaseMs: 120_000, deadlineMs: ledger.nowMs() + 120_000 });
  /** The outcome of one new claim each, or the error's message. */
  const claimMany = () => {
    const claims = Array.from({ length: MANY }, () => hasty.claim(sample()));
    return Promise.all(claims.map((claim) => claim.then(({ outcome }) => outcome, readTrouble)));
  };
  const readTrouble = (error: unknown): string => {
    const { name, message } = error as Error;
    expect(name).toBe('StoreUnavailableError');
    return message;
  };
  const waitUntilSold = () =>
    waitFor('every shard to sell', async () => (await claimMany()).every((outcome) => outcome === 'claimed'));

  beforeAll(async () => {
    cluster = await startCluster();
    nodes = [...cluster.primaries, ...cluster.replicas].map((server) => createNode(server, CLUSTER_PASSWORD));
    ({ client: redis, ledger } = open(cluster.url));
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    hasty = new Ledger({ redis, chainIds: [1328], ...HASTY });
    await hasty.open();
    await waitUntilSold();
  });

  afterAll(async () => {
    redis.disconnect();
    for (const node of nodes) node.redis.disconnect();
    await cluster.stop();
  });

  it.each([
    { wrong: 'password', url: () => cluster.url.replace(CLUSTER_PASSWORD, 'canary-wrong') },
    { wrong: 'user', url: () => cluster.url.replace('seller', 'canary-user') },
  ])('refuses a wrong $wrong, and neither the log nor the error contains it', async ({ url }) => {
    lines.length = 0;
    const { client, ledger: refused } = open(url());
    await expect(refused.open()).rejects.toMatchObject({ code: 'redis_wrong_password' });
    client.disconnect();
    const failed = withRedis({ url: url() }, (one) => one.set('tollgate:{x}', '1'));
    await expect(failed).rejects.toThrow(/did not answer \(WRONGPASS/);
    await expect(failed).rejects.not.toThrow('canary');
    expect(lines.join('\n')).toMatch(/no connection to the cluster .*WRONGPASS/);
    expect(lines.join('\n')).not.toContain('canary');
  });

  it('is found through a replica, and through a server without slots', async () => {
    const newcomer = createNode(await cluster.startServer(), CLUSTER_PASSWORD);
    await meet(nodes[0]!.redis, newcomer.redis);
    await waitFor('the newcomer to know the others', () => isOk([newcomer]));
    for (const { port } of [cluster.replicas[0]!, newcomer.server]) {
      const { client, ledger: other } = open(cluster.url.replace(/@.*/, `@127.0.0.1:${port}`));
      await other.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
      const claims = Array.from({ length: MANY }, () => other.claim(sampleClaim(other)));
      expect(new Set((await Promise.all(claims)).map(({ outcome }) => outcome))).toEqual(new Set(['claimed']));
      client.disconnect();
    }
    newcomer.redis.disconnect();
  });

  it('refuses a replica that is named as the primary', async () => {
    const { port } = cluster.replicas[0]!;
    const { client, ledger: refused } = open(`redis://seller:${CLUSTER_PASSWORD}@127.0.0.1:${port}`);
    await expect(refused.open()).rejects.toMatchObject({
      code: 'redis_read_only',
      hint: 'Point REDIS_URL at the primary.',
    });
    client.disconnect();
  });

  it('loses nothing when slots move in the middle of a pipeline', async () => {
    const random = createRandom(7);
    const held = await Promise.all(Array.from({ length: MANY }, async () => leaseOf(await ledger.claim(sample()))));
    let isMoving = true;
    const moving = (async () => {
      const [one, other] = await findPrimaries(nodes);
      // It is chance whether a claim meets a slot whose keys have just left, so slots move until one has.
      do {
        await moveSlots(nodes, { from: one!, to: other!, random });
        await moveSlots(nodes, { from: other!, to: one!, random });
      } while (!(await readErrors()).includes('errorstat_ASK'));
    })().finally(() => (isMoving = false));
    while (isMoving) {
      const claims = Array.from({ length: MANY }, sample);
      const leases = claims.map(async (claim) => {
        const first = await ledger.claim(claim).catch(readTrouble);
        // The same request again, as a client that was answered 503.
        return typeof first === 'string' ? repeatUntilClaimed(claim) : leaseOf(first);
      });
      for (const lease of await Promise.all(leases)) expect(await ledger.commit(lease, null)).toBe(true);
    }
    await moving;
    await waitUntilSold();
    for (const lease of held) expect(await ledger.commit(lease, null)).toBe(true);
    expect(await readErrors()).toContain('errorstat_MOVED');
    expect(await readErrors()).toContain('errorstat_ASK');
  });

  async function readErrors(): Promise<string> {
    return (await Promise.all(nodes.map((node) => node.redis.info('errorstats')))).join('\n');
  }

  async function repeatUntilClaimed(claim: ReturnType<typeof sample>) {
    let last: Awaited<ReturnType<Ledger['claim']>> | null = null;
    await waitFor('the claim', async () => (last = await ledger.claim(claim).catch(() => null)) !== null);
    return leaseOf(last!);
  }

  it('answers 503 while a replica has no space on its disk, and sells again once it has', async () => {
    const committed = sample();
    await ledger.commit(leaseOf(await ledger.claim(committed)), null);
    const replica = nodes[3]!;
    const [pid] = /(?<=process_id:)\d+/.exec(await replica.redis.info('server')) ?? [];
    // No file of this process may grow any more, which needs no rights and no file system of its own.
    execFileSync('prlimit', ['--pid', pid!, '--fsize=1']);
    const ended = replica.server.exited();
    const outcomes = await claimMany();
    await ended;
    expect(new Set(outcomes.filter((outcome) => outcome !== 'claimed')).size).toBeGreaterThan(0);
    expect(outcomes).toContain('claimed');
    await replica.server.start();
    await waitUntilSold();
    expect(await ledger.claim({ ...committed, owner: sample().owner })).toMatchObject({ outcome: 'used' });
  });

  it('answers 503 while half of it is gone, and sells again once that is back', async () => {
    const [committed, unclaimed] = [sample(), sample()];
    await ledger.commit(leaseOf(await ledger.claim(committed)), null);
    const gone = [cluster.primaries[0]!, cluster.primaries[1]!, cluster.replicas[0]!];
    await Promise.all(gone.map((server) => server.kill()));
    await waitFor('the rest to stop', async () => {
      const outcomes = await claimMany();
      return !outcomes.includes('claimed') && outcomes.some((outcome) => outcome.includes('CLUSTERDOWN'));
    });
    await Promise.all(gone.map((server) => server.start()));
    await waitUntilWell(nodes, () => isOk(nodes));
    await waitUntilSold();
    expect(await ledger.claim({ ...committed, owner: sample().owner })).toMatchObject({ outcome: 'used' });
    expect(await ledger.claim(unclaimed)).toMatchObject({ outcome: 'claimed' });
  });
});

describe.each([
  { kind: 'a server', scheme: 'rediss', cluster: [] },
  { kind: 'a cluster', scheme: 'rediss+cluster', cluster: ['--cluster-enabled', 'yes'] },
])('$kind over TLS', ({ scheme, cluster }) => {
  /** The command line, as a process that trusts this certificate. */
  async function askWith(certificate: string) {
    const file = join('test', 'certificates', certificate);
    const port = await findFreePort();
    const tls = [
      '--port',
      '0',
      '--tls-port',
      String(port),
      '--tls-cert-file',
      resolve(file),
      '--tls-auth-clients',
      'no',
    ];
    const key = ['--tls-key-file', resolve(file.replace('.cert.', '.key.'))];
    const announced = cluster.length > 0 ? ['--cluster-announce-ip', '127.0.0.1'] : [];
    const args = [...tls, ...key, ...cluster, ...announced];
    const server = await startRedis({ port, args });
    if (cluster.length > 0) {
      const node = new Redis({ port, tls: { rejectUnauthorized: false } });
      await node.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
      await waitFor('its slots', async () => (await node.cluster('INFO')).includes('cluster_state:ok'));
      node.disconnect();
    }
    const command = ['scripts/typescript.cjs', 'tools/cli/main.ts', 'payments', 'list'];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file, REDIS_URL: `${scheme}://127.0.0.1:${port}` };
    const outcome = await run(process.execPath, command, { env }).catch((error: { stderr: string }) => error);
    await server.stop();
    return outcome;
  }

  it('is used with a valid certificate', async () => {
    expect(await askWith('localhost.cert.pem')).toMatchObject({ stderr: '', stdout: expect.any(String) as string });
  });

  it('is refused with an expired one, and the reason named', async () => {
    expect((await askWith('expired.cert.pem')).stderr).toContain('Redis did not answer (CERT_HAS_EXPIRED)');
  });
});

describe('Sentinels that name a dead primary', () => {
  it('are no answer, and serve again once it is back', async () => {
    const group = await startSentinels();
    const redis = connectRedis({ url: group.url, role: 'ledger', logger });
    const [ledger, hasty] = [
      new Ledger({ redis, chainIds: [1328], ...PATIENT }),
      new Ledger({ redis, chainIds: [1328], ...HASTY }),
    ];
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
    await hasty.open();
    const sample = () => sampleClaim(ledger, { leaseMs: 120_000, deadlineMs: ledger.nowMs() + 120_000 });
    const claim = () => hasty.claim(sample()).then(({ outcome }) => outcome, String);
    await waitFor('the replica', async () => (await claim()) === 'claimed');
    const committed = sample();
    await ledger.commit(leaseOf(await ledger.claim(committed)), null);
    await group.replica.kill();
    await group.primary.kill();
    expect(await claim()).toMatch(/^StoreUnavailableError/);
    expect(await group.readNamedPort()).toBe(group.primary.port);
    await expect(withRedis(group, (one) => one.ping())).rejects.toThrow(/did not answer \(/);
    await group.primary.start();
    await group.replica.start();
    await waitFor('a claim', async () => (await claim()) === 'claimed');
    expect(await ledger.claim({ ...committed, owner: sample().owner })).toMatchObject({ outcome: 'used' });
    redis.disconnect();
    await group.stop();
  });
});
