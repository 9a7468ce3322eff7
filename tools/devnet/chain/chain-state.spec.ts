import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createPublicClient, http, numberToHex, parseAbi, parseEther, type Hex } from 'viem';

import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { repositoryRoot } from '../processes/repository.js';
import { startChain } from './chain.js';
import { transferTokens } from './transfer-tokens.js';

const CHAIN_ID = 71_329;
const folder = join(repositoryRoot(), '.tollgate', 'cache');

describe('the kept state of a chain', () => {
  afterAll(async () => {
    for (const file of await keptFiles()) await rm(file);
  });

  const keptFiles = async () =>
    (await readdir(folder)).filter((name) => name.startsWith(`chain-${CHAIN_ID}-`)).map((name) => join(folder, name));

  const readNonces = async () => {
    const chain = await startChain({ chainId: CHAIN_ID });
    try {
      expect(await callRpc(chain.rpcUrl, 'eth_getCode', [chain.asset, 'latest'])).not.toBe('0x');
      return (await callRpc(chain.rpcUrl, 'eth_getTransactionCount', [chain.payTo, 'latest'])) as string;
    } finally {
      await chain.stop();
    }
  };

  it('is made by the first chain, and each chain has nonces of its own', async () => {
    const nonces = [await readNonces(), await readNonces()];
    expect(nonces[0]).not.toBe(nonces[1]);
    expect(await keptFiles()).toHaveLength(1);
  });

  it('has the nonces from its first block on where that is asked for, with the time of now', async () => {
    const chain = await startChain({ chainId: CHAIN_ID, hasNoncesAtStart: true });
    try {
      const [first, now] = await Promise.all(
        ['0x0', 'latest'].map((block) => callRpc(chain.rpcUrl, 'eth_getTransactionCount', [chain.payTo, block])),
      );
      expect(Number(first)).toBeGreaterThanOrEqual(1_000);
      expect(now).toBe(first);
      const { timestamp } = await createPublicClient({ transport: http(chain.rpcUrl) }).getBlock();
      expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(10);
    } finally {
      await chain.stop();
    }
  });

  it.each([
    ['empty', () => ''],
    ['cut short', (text: string) => text.slice(0, text.length / 2)],
    ['of another content', () => 'checksum\n{"contracts":null,"blocks":1,"dump":"{}"}'],
  ])('is made again if its file is %s', async (_, spoil) => {
    const [path] = await keptFiles();
    const text = await readFile(path!, 'utf8');
    await writeFile(path!, spoil(text));
    await readNonces();
    expect((await readFile(path!, 'utf8')).length).toBe(text.length);
  });

  it('has been seeded a second ago, whenever it was made: staking has earned nothing, and blocks are of now', async () => {
    const chain = await startChain({ protocols: true });
    try {
      const reader = createPublicClient({ transport: http(chain.rpcUrl) });
      const { number, timestamp, baseFeePerGas } = await reader.getBlock();
      expect([number, baseFeePerGas]).toEqual([2n, 875_000_000n]);
      expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
      const abi = parseAbi(['function totalPooled() view returns (uint256)']);
      const pooled = await reader.readContract({ address: chain.contracts.staking, abi, functionName: 'totalPooled' });
      const perSecond = (parseEther('100000') * 8n) / 100n / BigInt(365 * 24 * 60 * 60);
      expect(Number(pooled - parseEther('100000'))).toBeLessThan(Number(perSecond * 60n));
    } finally {
      await chain.stop();
    }
  });
});

describe('a saved chain', () => {
  it('goes on with its blocks, transactions, receipts and nonces', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-chain-'));
    const file = join(folder, 'chain.json');
    const chain = await startChain();
    const read = (rpcUrl: string, hash: Hex) =>
      callRpcBatch(rpcUrl, [
        { method: 'eth_getTransactionByHash', params: [hash] },
        { method: 'eth_getTransactionReceipt', params: [hash] },
        { method: 'eth_getBlockByNumber', params: ['0x1', true] },
        { method: 'eth_getBlockByNumber', params: ['latest', true] },
        { method: 'eth_getTransactionCount', params: [chain.accounts[0]!.address, 'latest'] },
        { method: 'eth_getLogs', params: [{ fromBlock: '0x0', toBlock: 'latest', address: chain.asset }] },
      ]);
    const hash = await transferTokens(chain, { amountBaseUnits: 1_000n });
    const before = await read(chain.rpcUrl, hash);
    await chain.save(file);
    await chain.stop();
    const again = await startChain({ saved: { file, contracts: chain.contracts } });
    try {
      expect([chain.isNew, again.isNew]).toEqual([true, false]);
      expect(await read(again.rpcUrl, hash)).toEqual(before);
      const next = await transferTokens(again, { amountBaseUnits: 1_000n });
      const mined = await callRpc(again.rpcUrl, 'eth_getTransactionReceipt', [next]);
      const { number } = before[3] as { number: Hex };
      expect(mined).toMatchObject({ status: '0x1', blockNumber: numberToHex(BigInt(number) + 1n) });
    } finally {
      await again.stop();
      await rm(folder, { recursive: true });
    }
  });
});
