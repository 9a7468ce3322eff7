import type { Hex } from '@tollgate/protocol';

import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { connectDevnet } from '../../test/connect-devnet.js';
import { changeResult, startRpcStandIn, type RpcStandIn } from '../../test/rpc-stand-in.js';
import type { ConnectedChain } from '../reader/connect-chain.js';
import { SearchMemory } from './search-logs.js';

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const RANGE_BLOCKS = 10;
const SECONDS_PER_BLOCK = 60;

describe('searching the chain for logs', () => {
  let devnet: Devnet;
  let rpc: RpcStandIn;
  let chain: ConnectedChain;
  let txHash: Hex;
  let minedAt: number;
  let headBlockNumber: number;
  let headTimeMs: number;

  beforeAll(async () => {
    devnet = await startChain();
    txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
    minedAt = Number(await callRpc(devnet.rpcUrl, 'eth_blockNumber'));
    await callRpc(devnet.rpcUrl, 'anvil_mine', ['0x64', `0x${SECONDS_PER_BLOCK.toString(16)}`]);
    const head = (await callRpc(devnet.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as Record<string, Hex>;
    [headBlockNumber, headTimeMs] = [Number(head['number']), Number(head['timestamp']) * 1000];
    rpc = await startRpcStandIn(devnet.rpcUrl);
    chain = connectDevnet(rpc.url, { logRangeBlocks: RANGE_BLOCKS });
  });

  afterAll(async () => {
    await chain.close();
    await Promise.all([rpc.stop(), devnet.stop()]);
  });

  beforeEach(() => {
    rpc.fail(undefined);
    rpc.requests.length = 0;
  });

  const wordOf = (address: Hex): Hex => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const searchOf = (changes: { payee?: Hex; sinceMs?: number; headBlockNumber?: number }) => ({
    address: devnet.asset.toLowerCase() as Hex,
    topics: [[TRANSFER], [wordOf(devnet.accounts[0]!.address)], [wordOf(changes.payee ?? devnet.payTo)]],
    headBlockNumber: changes.headBlockNumber ?? headBlockNumber,
    sinceMs: changes.sinceMs ?? 0,
    deadlineMs: Date.now() + 60_000,
  });
  const search = (changes: Parameters<typeof searchOf>[0] = {}) => chain.reader.searchLogs(searchOf(changes));
  const ranges = () => rpc.requests.map((methods) => methods.filter((method) => method === 'eth_getLogs').length);

  it('finds a log a hundred blocks old by searching more and more ranges at once', async () => {
    expect(await search()).toEqual([expect.objectContaining({ txHash, blockNumber: minedAt })]);
    expect(ranges()).toEqual([1, 4, Math.ceil((headBlockNumber + 1) / RANGE_BLOCKS) - 5]);
  });

  it('finds a log in the newest block with one range', async () => {
    expect(await search({ headBlockNumber: minedAt })).toHaveLength(1);
    expect(ranges()).toEqual([1]);
  });

  it('ends at blocks that are too old, and at the first block', async () => {
    expect(await search({ sinceMs: headTimeMs - 15 * SECONDS_PER_BLOCK * 1000 })).toEqual([]);
    expect(ranges()).toEqual([1, 4]);
    expect(await search({ payee: `0x${'12'.repeat(20)}` })).toEqual([]);
  });

  it('searches once for a past event, however many ask, and again after a failure', async () => {
    const past = (payee: Hex) => chain.reader.searchPast({ ...searchOf({ payee }), sinceMs: headTimeMs });
    await Promise.all([past(devnet.payTo), past(devnet.payTo)]);
    await past(devnet.payTo);
    // One search, and one look whether the head has advanced since.
    expect(ranges()).toEqual([1, 0]);
    const stranger: Hex = `0x${'34'.repeat(20)}`;
    rpc.fail({ kind: 'status', status: 500 });
    await expect(past(stranger)).rejects.toMatchObject({ reason: 'rpc_http_error' });
    rpc.fail(undefined);
    expect(await past(stranger)).toEqual([]);
  });

  // Prevents: a client names an event of long ago again and again, and the chain is searched for it every few seconds.
  it('searches again five seconds after it found nothing, and then once a minute', async () => {
    let nowMs = 0;
    const searchedAtMs: number[] = [];
    const memory = new SearchMemory(() => nowMs);
    const find = () =>
      memory.find(searchOf({}), '', () => {
        searchedAtMs.push(nowMs);
        return Promise.resolve([]);
      });
    for (; nowMs < 130_000; nowMs += 1000) {
      expect(await find()).toEqual([]);
      expect(memory.foundNothingTwice(searchOf({}), '')).toBe(nowMs >= 5000);
    }
    expect(searchedAtMs).toEqual([0, 5000, 65_000, 125_000]);
  });

  it('finds a past event in a block that is newer than the head at which its effect was seen', async () => {
    const before = searchOf({ headBlockNumber: minedAt - 1 });
    expect(await chain.reader.searchLogs(before)).toEqual([]);
    expect(await chain.reader.searchPast(before, 'newer')).toEqual([expect.objectContaining({ txHash })]);
  });

  it('does not believe a server that lags behind the head', async () => {
    rpc.fail(changeResult('eth_blockNumber', () => `0x${(headBlockNumber - 1).toString(16)}`));
    await expect(search()).rejects.toMatchObject({ reason: 'rpc_inconsistent' });
  });

  it.each([
    ['another address', { address: `0x${'12'.repeat(20)}` }],
    ['another topic', { topics: [TRANSFER, `0x${'00'.repeat(32)}`, `0x${'00'.repeat(32)}`] }],
    ['no topics', { topics: [] }],
    ['a block that was not asked for', { blockNumber: '0xffff' }],
    ['a block that was replaced', { removed: true }],
  ])('does not accept a log with %s', async (_, changes) => {
    rpc.fail(changeResult('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, ...changes }))));
    await expect(search({ headBlockNumber: minedAt })).rejects.toMatchObject({ reason: 'rpc_malformed' });
  });
});
