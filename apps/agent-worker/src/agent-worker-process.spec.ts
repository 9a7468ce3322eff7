import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, deriveEnqueueSecret, WalletDirectory } from '@tollgate/agent-jobs';
import { signAgentJobMessage } from '@tollgate/client/jobs';
import { ApiKeyStore } from '@tollgate/http';
import { createLaneId, isFinal, Journal, type JobRecord, type LaneId } from '@tollgate/journal';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import * as Keystore from 'ox/Keystore';

import { startRpcProxy, type RpcProxy } from '../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../test/harness/retry.js';
import { startChain, type DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { startService, type ServiceProcess } from '../../../tools/devnet/processes/service-process.js';

const NAMES = ['one', 'two', 'three'] as const;
const AGENT_SECRET = `canary-of-the-agents-${randomBytes(16).toString('hex')}`;
const PASSWORD = `canary-of-the-keystore-${randomBytes(16).toString('hex')}`;
const RPC_KEY = `canary-of-the-rpc-${randomBytes(8).toString('hex')}`;
const RECEIVER = '0x00000000000000000000000000000000000a11ce';

/** The built worker, with keys in the forms that operators use: an encrypted keystore, and key files. */
describe('agent workers as processes', () => {
  let folder: string;
  let server: RedisServer;
  let redis: Redis;
  let chain: DevnetWithProtocols;
  let rpc: RpcProxy;
  let journal: Journal;
  let queue: Queue;
  let keyId: string;
  let lanes: Record<(typeof NAMES)[number], LaneId>;
  const workers: ServiceProcess[] = [];
  const seen: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-worker-'));
    [server, chain] = await Promise.all([startRedis(), startChain({ protocols: true })]);
    rpc = await startRpcProxy(chain.rpcUrl, `/v2/${RPC_KEY}`);
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    queue = new Queue(AGENT_JOBS_QUEUE, { connection: redis, prefix: AGENT_QUEUE_PREFIX });
    queue.on('error', () => undefined);
    keyId = (await new ApiKeyStore(redis).create({ name: 'shop', scopes: ['submit'], wallets: ['*'] })).key.id;
    lanes = { one: laneOf(0), two: laneOf(1), three: laneOf(2) };
    for (const lane of Object.values(lanes)) {
      const pendingNonce = Number(await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [lane.address, 'pending']));
      await journal.adopt(lane, { pendingNonce });
    }
    writeWalletsFile();
    workers.push(...(await Promise.all([startWorker('worker-1'), startWorker('worker-2')])));
  }, 120_000);

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await queue.close();
    redis.disconnect();
    await Promise.all([server.stop(), rpc.stop(), chain.stop()]);
    rmSync(folder, { recursive: true });
  });

  const laneOf = (index: number): LaneId => createLaneId(chain.chainId, chain.agentWallets[index]!.address);
  const keyOf = (index: number): `0x${string}` => chain.agentWallets[index]!.privateKey;

  function writeWalletsFile(): void {
    const [key, options] = Keystore.pbkdf2({ password: PASSWORD, iterations: 2, iv: randomBytes(16) });
    writeFileSync(join(folder, 'one.json'), JSON.stringify(Keystore.encrypt(keyOf(0), key, options)));
    writeFileSync(join(folder, 'one.password'), PASSWORD);
    writeFileSync(join(folder, 'two.key'), keyOf(1));
    writeFileSync(join(folder, 'three.key'), keyOf(2).slice(2));
    writeFileSync(join(folder, 'agent-secret'), AGENT_SECRET);
    const wallets = `
wallets:
  one: { keystore: one.json, passwordFile: one.password, policy: { maxPerOperation: { USDC: '5' } } }
  two: { privateKeyFile: two.key }
  three: { privateKeyFile: three.key }
`;
    writeFileSync(join(folder, 'wallets.yaml'), wallets);
  }

  async function startWorker(name: string): Promise<ServiceProcess> {
    const port = await findFreePort();
    const { PATH, HOME } = process.env;
    const env = {
      PATH,
      HOME,
      AGENT_WORKER_PORT: String(port),
      REDIS_URL: server.url,
      RPC_URL: rpc.rpcUrl,
      CHAIN_ID: String(chain.chainId),
      WALLETS_FILE: join(folder, 'wallets.yaml'),
      AGENT_SECRET_FILE: join(folder, 'agent-secret'),
      LOG_LEVEL: 'trace',
      LANE_POLL_MS: '50',
      LANE_LEASE_MS: '1500',
    };
    const onLine = (line: string): void => void seen.push(line);
    return startService({ app: 'agent-worker', name, url: `http://127.0.0.1:${port}`, env, onLine });
  }

  /** Puts a transfer into the queue as another service does; returns the job's id. */
  async function enqueue(wallet: string, amount = '1'): Promise<string> {
    const message = await signAgentJobMessage(
      { operation: 'transfer', wallet, input: { to: RECEIVER, amount, token: 'USDC' } },
      {
        keyId,
        secret: deriveEnqueueSecret(AGENT_SECRET, keyId),
        idempotencyKey: randomBytes(8).toString('hex'),
        issuedAtMs: Date.now(),
      },
    );
    const { id } = await queue.add('job', message);
    let jobId: string | undefined;
    await waitFor('the message is journaled', async () => {
      const job = await queue.getJob(id!);
      if (job?.failedReason) throw new Error(job.failedReason);
      jobId = job?.returnvalue?.jobId;
      return jobId !== undefined;
    });
    return jobId!;
  }

  async function waitForEnd(jobId: string): Promise<JobRecord> {
    await waitFor(`job ${jobId} ends`, async () => isFinal((await journal.readJob(jobId))!.state));
    return (await journal.readJob(jobId))!;
  }

  async function holderOf(name: (typeof NAMES)[number]): Promise<ServiceProcess> {
    let holder: ServiceProcess | undefined;
    await waitFor(`a process holds the lane of wallet ${name}`, async () => {
      for (const worker of workers.filter((one) => !one.hasExited())) {
        const text = await readMetrics(worker);
        if (new RegExp(`tollgate_agent_lane_held\\{wallet="${name}",.*\\} 1\n`).test(text)) holder = worker;
      }
      return holder !== undefined;
    });
    return holder!;
  }

  const readMetrics = async (worker: ServiceProcess) => (await fetch(`${worker.url}/metrics`)).text();
  const readBalance = () =>
    callRpc(chain.rpcUrl, 'eth_call', [
      { to: chain.asset, data: `0x70a08231${RECEIVER.slice(2).padStart(64, '0')}` },
      'latest',
    ]);

  it('share the wallets, and carry out each job once', async () => {
    const before = BigInt((await readBalance()) as string);
    const jobs = await Promise.all([...NAMES, ...NAMES, ...NAMES].map((name) => enqueue(name)));
    const ended = await Promise.all(jobs.map(waitForEnd));
    expect(ended.map(({ state }) => state)).toEqual(jobs.map(() => 'FINAL'));
    expect(BigInt((await readBalance()) as string) - before).toBe(9_000_000n);
    for (const name of NAMES) await holderOf(name);
    const directory = await new WalletDirectory(redis).list();
    expect(directory).toEqual(['one', 'three', 'two'].map((name) => ({ name, lane: lanes[name as 'one'] })));
  });

  it('keep each wallet within its policy', async () => {
    expect(await waitForEnd(await enqueue('one', '6'))).toMatchObject({
      state: 'PLAN_FAILED',
      failure: { code: 'POLICY_VIOLATION' },
      steps: [],
    });
    expect(await waitForEnd(await enqueue('two', '6'))).toMatchObject({ state: 'FINAL' });
  });

  it('release a wallet in the middle of a job at SIGTERM, and another worker continues with its signed bytes', async () => {
    const worker = await holderOf('one');
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const jobId = await enqueue('one');
    await waitFor('the job is sent', async () => (await journal.readJob(jobId))?.state === 'BROADCAST');
    const sent = (await journal.readJob(jobId))!.steps[0]!.attempts;
    expect(await worker.kill('SIGTERM')).toEqual({ code: 0, signal: null });

    expect(await holderOf('one')).not.toBe(worker);
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
    await callRpc(chain.rpcUrl, 'evm_mine');
    const job = await waitForEnd(jobId);
    expect(job).toMatchObject({ state: 'FINAL', steps: [{ mined: { hash: sent[0]!.hash } }] });
    await worker.restart();
  });

  it('take over from a worker that is killed, and from one that hangs', async () => {
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const worker = await holderOf('two');
      if (signal === 'SIGKILL') await worker.kill(signal);
      else worker.signal(signal);
      const ended = await waitForEnd(await enqueue('two'));
      expect(ended.state).toBe('FINAL');
      if (signal === 'SIGKILL') await worker.restart();
      else worker.signal('SIGCONT');
    }
  });

  it('stop although Redis hangs', async () => {
    const worker = await holderOf('three');
    server.signal('SIGSTOP');
    try {
      expect(await worker.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    } finally {
      server.signal('SIGCONT');
    }
    await worker.restart();
  });

  it('report the number of ended jobs, their durations, and the balances of the wallets', async () => {
    await holderOf('one');
    const jobId = await enqueue('one');
    await waitForEnd(jobId);
    const expected = [
      /tollgate_agent_jobs_ended_total\{wallet="one",operation="transfer",state="FINAL",.*\} [1-9]/,
      /tollgate_agent_transaction_mined_seconds_count\{.*\} [1-9]/,
      /tollgate_agent_job_final_seconds_count\{.*operation="transfer".*\} [1-9]/,
      /tollgate_agent_wallet_balance\{wallet="one",.*\} \d/,
      /tollgate_agent_lane_adopted\{wallet="one",.*\} 1\n/,
      /tollgate_agent_oldest_open_job_seconds\{wallet="one",.*\} [\d.]+\n/,
      /tollgate_agent_lane_open_jobs\{wallet="three",.*\} 0\n/,
    ];
    // What cannot be read in time is missing from one answer and there in a later one.
    await waitFor('the job is counted, and everything is read', async () => {
      const text = await readMetrics(await holderOf('one'));
      return expected.every((line) => line.test(text));
    });
  });

  it('have every metric that the alerts and the page on metrics name', async () => {
    const text = await readMetrics(await holderOf('one'));
    const [agentJobs = ''] = readFileSync('deploy/alerts.yml', 'utf8').split('- name: tollgate-relayers');
    const alerts = agentJobs.matchAll(/tollgate_\w+/g);
    const page = readFileSync('docs/operations/metrics.md', 'utf8').matchAll(/\| `(tollgate_\w+)`.*Agent worker: /g);
    const names = [...[...alerts].map(([name]) => name.replace(/_bucket$/, '')), ...[...page].map(([, name]) => name)];
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('show no key, password or secret in logs, Redis, metrics or the process list', async () => {
    for (const worker of workers) {
      seen.push(await readMetrics(worker), await (await fetch(`${worker.url}/health/ready`)).text());
      for (const file of ['cmdline', 'environ']) seen.push(readFileSync(`/proc/${worker.pid}/${file}`, 'utf8'));
    }
    seen.push(await dumpRedis());
    // The environment contains the URL of the RPC server, as the operator set it.
    const printed = seen.filter((text) => !text.includes('WALLETS_FILE=')).join('\n');
    const everything = seen.join('\n');
    expect(everything).toContain(lanes.one.address);
    for (const index of [0, 1, 2]) expect(everything.toLowerCase()).not.toContain(keyOf(index).slice(2));
    for (const secret of [AGENT_SECRET, PASSWORD]) expect(everything).not.toContain(secret);
    expect(printed).not.toContain(RPC_KEY);
  });

  /** Every Redis key with its content. */
  async function dumpRedis(): Promise<string> {
    const texts: string[] = [];
    for (const key of await redis.keys('*')) {
      const type = await redis.type(key);
      const value: unknown = await {
        string: () => redis.get(key),
        hash: () => redis.hgetall(key),
        list: () => redis.lrange(key, 0, -1),
        set: () => redis.smembers(key),
        zset: () => redis.zrange(key, '0', '-1'),
        stream: () => redis.xrange(key, '-', '+'),
        // The key expired after KEYS had named it.
        none: () => null,
      }[type as 'string']();
      texts.push(key, JSON.stringify(value));
    }
    return texts.join('\n');
  }
});
