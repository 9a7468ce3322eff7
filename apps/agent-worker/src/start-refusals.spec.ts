import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import { ConfigurationError } from '@tollgate/config';
import { type RedisClient, RESTORE_MARKER } from '@tollgate/redis';

import { waitFor } from '../../../test/harness/retry.js';
import { startRedisShards } from '../../../tools/devnet/processes/redis-shards.js';
import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { withRedis } from '../../../tools/devnet/processes/with-redis.js';
import { WorkerFixture, type TestWallet } from '../test/worker-fixture.js';
import { createWalletPlanning } from './planning/create-wallet-planning.js';

describe('an agent worker with a wrong setup', () => {
  let fixture: WorkerFixture;
  let wallet: TestWallet;
  let folder: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-refusals-'));
    fixture = await WorkerFixture.start();
    wallet = await fixture.createWallet({ adopted: false });
  });

  afterEach(() => fixture.endWorkers());

  afterAll(async () => {
    await fixture.stop();
    rmSync(folder, { recursive: true });
  });

  async function refusalOf(env: Record<string, string>): Promise<string> {
    const settings = { WALLET_PRIVATE_KEY: wallet.privateKey, ...env };
    const error: unknown = await fixture.startWorker(settings, createWalletPlanning).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).not.toContain(wallet.privateKey.slice(2));
    return (error as ConfigurationError).problems.join('\n');
  }

  it('does not start on another chain', async () => {
    expect(await refusalOf({ CHAIN_ID: '1' })).toBe(
      'RPC_URL: entry 1 is on chain 1328, but CHAIN_ID is 1. Correct one of them.',
    );
  });

  it('does not start with a Redis that may lose jobs', async () => {
    const forgetful = await startRedis({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] });
    // BullMQ warns of it too.
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    try {
      expect(await refusalOf({ REDIS_URL: forgetful.url })).toMatch(/^REDIS_URL: .*noeviction/s);
      for (const [said] of warn.mock.calls) expect(said).toContain('It should be "noeviction"');
    } finally {
      warn.mockRestore();
      await forgetful.stop();
    }
  });

  it('does not start with a node of a cluster that is named as one server', async () => {
    const shards = await startRedisShards(2);
    try {
      // What is asked for first is all on this node, the directory of wallets on the other one.
      const [id, slot] = (await withRedis(shards.servers[0]!.url, (node) =>
        Promise.all([node.call('CLUSTER', 'MYID'), node.call('CLUSTER', 'KEYSLOT', RESTORE_MARKER)]),
      )) as [string, number];
      const move = (node: RedisClient) => node.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
      for (const { url } of shards.servers) await withRedis(url, move);
      const refusal = await refusalOf({ REDIS_URL: shards.servers[0]!.url });
      expect(refusal).toMatch(/^REDIS_URL: This Redis is a node of a cluster\. Put redis\+cluster:/);
    } finally {
      await shards.stop();
    }
  });

  it('does not start with a wallet whose name refers to another account', async () => {
    const other = await fixture.createWallet();
    await fixture.publish('main', other);
    expect(await refusalOf({})).toBe(
      `The wallet main is ${wallet.lane.address} on chain 1328 here, but the name refers to ${other.lane.address} on ` +
        'chain 1328. Give the wallet another name, or, once the jobs of the old account have ended, run: ' +
        'npm run wallets -- remove main',
    );
    await fixture.unpublish('main');
  });

  it('does not start with an account that has another name', async () => {
    await fixture.publish('trial', wallet);
    expect(await refusalOf({})).toBe(
      `The wallet main is ${wallet.lane.address} on chain 1328, whose name is trial; jobs and API keys are bound to ` +
        'that. Give the wallet that name, or, once the jobs of trial have ended, run: npm run wallets -- remove trial',
    );
    expect(await fixture.readNames()).toEqual(['trial']);
    await fixture.unpublish('trial');
  });

  it('does not start with an invalid policy', async () => {
    const policy = join(folder, 'policy.json');
    writeFileSync(policy, JSON.stringify({ operations: ['transfr'], maxPerDay: { USDC: 10 } }));
    const refusal = await refusalOf({ POLICY_FILE: policy });
    expect(refusal).toMatch(/^The wallet main cannot be used: .*"transfr".*maxPerDay.*USDC/s);
  });

  it('starts with a wallet that is not adopted, and becomes ready when it is adopted', async () => {
    const { url } = await fixture.startWorker({ WALLET_PRIVATE_KEY: wallet.privateKey });
    const read = async () => (await fetch(`${url}/health/ready`)).json();
    expect(await read()).toMatchObject({ status: 'error', error: { wallets: { status: 'down' } } });
    await fixture.journal.adopt(wallet.lane, { pendingNonce: 0 });
    await waitFor('it is ready', async () => (await fetch(`${url}/health/ready`)).status === 200);
    await fixture.waitForState(await fixture.submit(wallet.lane), 'FINAL');
  });

  it('starts without a chain, and works once the chain answers', async () => {
    const late = await fixture.createWallet();
    const { url } = await fixture.startWorker({
      WALLETS_FILE: writeWallets({ late: late.privateKey }),
      RPC_URL: `http://127.0.0.1:9,${fixture.chain.rpcUrl}`,
    });
    await waitFor('it is ready', async () => (await fetch(`${url}/health/ready`)).status === 200);
    await fixture.waitForState(await fixture.submit(late.lane, 'late'), 'FINAL');
  });

  function writeWallets(keys: Record<string, string>): string {
    const wallets = Object.fromEntries(
      Object.entries(keys).map(([name, key]) => {
        writeFileSync(join(folder, `${name}.key`), key);
        return [name, { privateKeyFile: `${name}.key` }];
      }),
    );
    const file = join(folder, 'wallets.json');
    writeFileSync(file, JSON.stringify({ wallets }));
    return file;
  }
});
