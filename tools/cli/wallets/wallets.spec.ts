import { createLaneId, Journal } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { planSample, submitSample } from '../../../libs/journal/test/sample-jobs.js';
import { startChain, type Devnet } from '../../devnet/chain/chain.js';
import { callRpc } from '../../devnet/processes/json-rpc.js';
import { startRedis, type RedisServer } from '../../devnet/processes/redis.js';
import { tollgate, type Ended } from '../test/run-tollgate.js';

describe('tollgate wallets', () => {
  let chain: Devnet;
  let server: RedisServer;
  let redis: Redis;
  let address: string;

  beforeAll(async () => {
    [chain, server] = await Promise.all([startChain(), startRedis({ appendfsync: 'no' })]);
    redis = new Redis(server.url, { maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    address = chain.accounts[0]!.address.toLowerCase();
    await setNonce(7);
  });

  afterAll(async () => {
    redis.disconnect();
    await Promise.all([chain.stop(), server.stop()]);
  });

  const setNonce = (nonce: number) => callRpc(chain.rpcUrl, 'anvil_setNonce', [address, `0x${nonce.toString(16)}`]);

  async function wallets(...args: string[]): Promise<Ended> {
    try {
      const env = { REDIS_URL: server.url, RPC_URL: chain.rpcUrl };
      return { code: 0, stdout: `${await tollgate(['wallets', ...args], env)}\n`, stderr: '' };
    } catch (error) {
      return error as Ended;
    }
  }

  it('adopts a wallet that no worker has published, from the nonce of the chain, once', async () => {
    expect(await wallets('adopt', 'main')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no wallet main. No worker has published any yet.'),
    });
    const adopted = `main (${address}) is adopted; its next nonce is 7.\n`;
    expect(await wallets('adopt', 'main', '--address', address)).toMatchObject({ code: 0, stdout: adopted });
    await setNonce(9);
    const again = `main (${address}) is already adopted; its next nonce is 7.\n`;
    expect(await wallets('adopt', 'main')).toMatchObject({ code: 0, stdout: again });
    const other = chain.accounts[1]!.address;
    expect(await wallets('adopt', 'main', '--address', other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`main names ${address} on chain 1328`),
    });
    expect(await wallets('adopt', 'second', '--address', address)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${address} is the wallet main: run tollgate wallets remove main first.`),
    });
  });

  it('lists balance and nonces, for people and programs', async () => {
    const [listed] = JSON.parse((await wallets('list', '--json')).stdout) as Record<string, unknown>[];
    const balanceWei = BigInt((await callRpc(chain.rpcUrl, 'eth_getBalance', [address, 'latest'])) as string);
    expect(listed).toEqual({
      name: 'main',
      address,
      chainId: 1328,
      balanceWei: balanceWei.toString(),
      pendingNonce: 9,
      nextNonce: 7,
      openJobs: 0,
      inFlight: 0,
      paused: null,
      frozen: null,
      heldBy: null,
      role: 'wallet',
      gap: null,
      waiting: null,
    });
    const { stdout } = await wallets('list');
    expect(stdout).toMatch(
      /^WALLET +ADDRESS .*\nmain +0x[0-9a-f]{40} +1328 +[\d.]+ +7 +9 +0 +0 +adopted, but no worker/,
    );
    expect((await wallets('list', '--rpc', 'http://127.0.0.1:9')).stdout).toContain(
      'no RPC server of that chain answered',
    );
  });

  it('pauses and resumes', async () => {
    expect(await wallets('pause', 'main', '--reason', 'The key moves.')).toMatchObject({ code: 0 });
    expect((await wallets('list')).stdout).toContain('paused: The key moves.');
    expect((await wallets('resume', 'main')).stdout).toBe('main is resumed.\n');
    expect((await wallets('resume', 'main')).stdout).toBe('main was not paused.\n');
    expect(JSON.parse((await wallets('resume', 'main', '--json')).stdout)).toEqual({ message: 'main was not paused.' });
  });

  it('thaws a wallet whose Redis lost writes once the chain agrees with it twice, a minute and some blocks apart', async () => {
    await setNonce(7);
    await server.kill();
    await server.start();
    for (const blocks of ['0x1', '0x5']) {
      await callRpc(chain.rpcUrl, 'anvil_mine', [blocks]);
      expect(await wallets('thaw', 'main')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('run this again after 60 seconds and 5 blocks'),
      });
    }
    // As if the first reading were a minute old.
    const key = `tollgate:{1328:${address}}:lane`;
    const reading = (await redis.hget(key, 'reading'))!;
    await redis.hset(
      key,
      'reading',
      reading.replace(/\d+$/, (at) => `${Number(at) - 60_000}`),
    );
    expect((await wallets('thaw', 'main')).stdout).toBe('main agrees with the chain and is no longer frozen.\n');
    await setNonce(9);
  });

  it('thaws a wallet that a restart of Redis froze, or asks for another adoption where the chain is ahead', async () => {
    // This Redis does not keep every write, so after a restart the journal may be behind the chain.
    await server.kill();
    await server.start();
    expect((await wallets('list')).stdout).toContain('frozen: Redis may have lost writes');

    expect(await wallets('thaw', 'main')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'The chain has, or had when it was last compared, transactions of main that the journal does not know',
      ),
    });
    expect((await wallets('list')).stdout).toContain('adopt it again');
    expect((await wallets('adopt', 'main')).stdout).toContain('its next nonce is 9');
    expect((await wallets('thaw', 'main')).stdout).toBe('main is not frozen.\n');
  });

  it('names the nonce that nothing uses, and fills it after a preview', async () => {
    const journal = new Journal({ redis });
    await journal.open();
    const account = chain.accounts[1]!.address;
    await wallets('adopt', 'bot', '--address', account);
    const { lane, token } = (await journal.takeLease(createLaneId(1328, account), 'worker', 600_000))!;
    expect((await wallets('fill', 'bot', '--yes')).stderr).toContain('bot waits for no nonce');
    await journal.noteGap(lane, { token, nonce: 8 });
    const state =
      'nothing uses nonce 8, and all later transactions wait for it: no stored job had it: tollgate wallets fill bot';
    expect((await wallets('list')).stdout).toContain(state);
    const preview = await wallets('fill', 'bot');
    expect(preview.stdout).toContain('It cancels nothing that the journal knows.\nNothing was changed. To do it, run:');
    expect(preview.stdout).toContain('tollgate wallets fill bot --nonce 8 --yes');
    expect((await wallets('fill', 'bot', '--nonce', '7', '--yes')).stderr).toContain('waits for nonce 8, not 7');
    expect(await journal.readOpenJobs(lane)).toEqual([]);
    const { gap, jobId } = JSON.parse((await wallets('fill', 'bot', '--yes', '--json')).stdout) as Record<
      string,
      string
    >;
    expect(gap).toMatchObject({ nonce: 8, job: null });
    expect(await journal.readJob(jobId!)).toMatchObject({ operation: 'fillNonce', keyId: 'console', wallet: 'bot' });
    const failure = { code: 'X', message: 'x', suggestion: 'x' };
    await journal.endFill({ jobId: jobId!, stepIndex: 0, token, failure });

    const write = await submitSample(journal, lane, token);
    await planSample(journal, write, ['Pay \u001b[2J1 SEI']);
    const reserved = await journal.reserve({ ...write, maxInFlight: 9 });
    await journal.needOperator({ ...write, failure });
    await journal.noteGap(lane, { token, nonce: 'nonce' in reserved ? reserved.nonce : -1 });
    const parked = (await wallets('fill', 'bot')).stdout;
    expect(parked).toContain('unless one of its transactions is mined first: none is signed.');
    expect(parked).toContain(`tollgate jobs resume ${write.jobId} sends them instead.`);
    expect(parked).not.toContain('\u001b');
    expect((await wallets('fill', 'bot', '--yes')).stdout).toContain(`is being filled by job ${write.jobId}`);
  });

  it('removes a name and keeps its account', async () => {
    expect((await wallets('remove', 'main')).stdout).toContain('main names no account now');
    expect((await wallets('list')).stdout).toMatch(
      /\n\(no name\) +0x\w{40} +1328 .* adopted, but no worker holds it\n/,
    );
  });

  it('prints its usage, and refuses wrong usage with exit code 2', async () => {
    expect((await wallets('--help')).stdout).toContain('adopt [options] <name>');
    for (const [cause, ...args] of [
      ["missing required argument 'name'", 'adopt'],
      ["unknown command 'dance'", 'dance'],
      ["too many arguments for 'pause'", 'pause', 'main', 'spare'],
      ["too many arguments for 'list'", 'list', 'main'],
      ["unknown option '--wrong'", 'list', '--wrong'],
    ]) {
      // None of these needs Redis.
      const { code, stderr } = await wallets(...args, '--redis', 'redis://127.0.0.1:9');
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/See tollgate wallets .*--help\.$/m) });
      expect(stderr).toContain(cause);
    }
  });

  it('reports that Redis or the chain does not answer, without their addresses', async () => {
    const down = await wallets('list', '--redis', 'redis://:canary@127.0.0.1:9');
    expect(down).toMatchObject({ code: 1, stderr: expect.stringContaining('Redis did not answer (ECONNREFUSED)') });
    expect(down.stderr).not.toContain('canary');
    const silent = await wallets('adopt', 'main', '--address', address, '--rpc', 'http://127.0.0.1:9/canary');
    expect(silent).toMatchObject({ code: 1, stderr: expect.stringContaining('No RPC server answered') });
    expect(silent.stderr).not.toContain('canary');
  });
});
