import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal, type LaneId, nameLane, RELAYER_FLEET } from '@tollgate/journal';

import { spoilJob, submitSample } from '../../../libs/journal/test/sample-jobs.js';
import { startJournal, type StartedJournal } from '../../../libs/journal/test/start-journal.js';
import { startChain, type Devnet } from '../../devnet/chain/chain.js';
import { callRpc } from '../../devnet/processes/json-rpc.js';
import { CommandError } from '../shared/cli-command.js';
import { releaseAccount, type AccountParts } from './release-account.js';
import { adoptWallet } from './wallet-commands.js';
import { formatWallets, readWalletStates } from './wallets.js';

describe('tollgate wallets release', () => {
  let chain: Devnet;
  let started: StartedJournal;
  let parts: AccountParts;
  let lane: LaneId;
  let address: string;

  beforeAll(async () => {
    [chain, started] = await Promise.all([startChain(), startJournal()]);
    const { redis, journal } = started;
    const relayers = new Journal({ redis, fleet: RELAYER_FLEET, timeoutMs: 30_000 });
    parts = { journal, relayers, directory: new WalletDirectory(redis), rpc: () => [chain.rpcUrl] };
    address = chain.accounts[0]!.address;
    lane = createLaneId(1328, address);
  });

  afterAll(() => Promise.all([chain.stop(), started.stop()]));

  const setNonce = (nonce: number) => callRpc(chain.rpcUrl, 'anvil_setNonce', [address, `0x${nonce.toString(16)}`]);
  const release = (named: string, flags: { cancels?: boolean; isMeant?: boolean } = {}): Promise<string> =>
    releaseAccount(parts, named, { cancels: false, isMeant: true, ...flags });
  const list = async () => formatWallets(await readWalletStates(parts, parts.rpc));

  async function refused(named: string, flags: { cancels?: boolean; isMeant?: boolean } = {}): Promise<string> {
    const error: unknown = await release(named, flags).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommandError);
    return (error as CommandError).message;
  }

  it('ends the role of an account with nothing open, names included, after a preview', async () => {
    const { journal, directory } = parts;
    await adoptWallet(parts, 'main', address);
    const held = (await journal.takeLease(lane, 'worker', 600_000))!;
    expect(await refused('main')).toContain('is held by worker: take its key from the agent workers first');
    await submitSample(journal, lane, held.token);
    await journal.releaseLease(held);
    expect(await refused('main')).toContain('has 1 open jobs, 0 unfinished transactions, and 0 jobs that wait');
    expect(await refused('main', { cancels: true, isMeant: false })).toContain('has 1 open jobs');
    expect(await journal.readLane(lane)).toMatchObject({ fleet: 'lanes', openJobs: 1 });

    expect(await release('main', { cancels: true })).toBe(
      `${lane.address} on chain 1328 (main) has lost its role, and 1 ended jobs are forgotten. The next process that has ` +
        "its key gives it one, starting at the chain's nonce.",
    );
    expect(await journal.readLane(lane)).toMatchObject({ fleet: null, nextNonce: null });
    expect(await directory.list()).toEqual([]);
    expect(await refused('main')).toContain('No account main has a role');
  });

  it('cancels the other jobs, and is refused, while a job cannot be read', async () => {
    const { journal } = parts;
    await adoptWallet(parts, 'main', address);
    const held = (await journal.takeLease(lane, 'worker', 600_000))!;
    const [unreadable, other] = [
      await submitSample(journal, lane, held.token),
      await submitSample(journal, lane, held.token),
    ];
    await journal.releaseLease(held);
    const mend = await spoilJob(started.redis, lane, unreadable.jobId);
    expect(await refused('main', { cancels: true })).toContain('has 1 open jobs');
    expect(await journal.readJob(other.jobId)).toMatchObject({ state: 'CANCELLED' });
    await mend();
    expect(await release('main', { cancels: true })).toContain('has lost its role');
  });

  it('lets a wallet become a relayer and the reverse, once the chain has all its transactions', async () => {
    const { relayers } = parts;
    await setNonce(9);
    await relayers.adopt(lane, { pendingNonce: 9 });
    expect(await list()).toMatch(/\n\(relayer\) +0x\w{40} .* a relayer, but no verifier holds it$/m);
    expect(await release(address, { isMeant: false })).toMatch(
      /\(a relayer\) would lose its role, .*\. Nothing was changed: add --yes to do it\.$/,
    );
    expect(await relayers.readLane(lane)).toMatchObject({ fleet: RELAYER_FLEET, nextNonce: 9 });
    await setNonce(8);
    expect(await refused(address)).toContain('The chain has 8 transactions');
    await setNonce(9);
    await release(address);
    expect(await adoptWallet(parts, 'main', address)).toContain('its next nonce is 9');
    await parts.directory.remove('main');
    expect(await list()).toMatch(/^\(no name\) .* adopted, but no worker holds it$/m);
    await release(address);
    expect(await readWalletStates(parts, parts.rpc)).toEqual([]);
  });

  it('compares a relayer whose key is gone with the chain after a restart of Redis', async () => {
    const { relayers } = parts;
    await setNonce(9);
    await relayers.adopt(lane, { pendingNonce: 3 });
    await started.redis.hset(`tollgate:{${nameLane(lane)}}:lane`, 'frozen', 'lost');
    expect(await release(address, { isMeant: false })).toContain('Nothing was changed');
    expect(await relayers.readLane(lane)).toMatchObject({ frozen: 'lost' });
    await release(address);
    expect(await relayers.readLane(lane)).toMatchObject({ fleet: null, nextNonce: null });
  });
});
