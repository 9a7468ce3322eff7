import type { Hex } from '@tollgate/protocol';

import { mineReceiptBomb } from '../../../../test/harness/chain/mine-receipt-bomb.js';
import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { mineTransfers } from '../../../../tools/devnet/chain/mine-transfers.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { connectDevnet } from '../../test/connect-devnet.js';
import { changeResult, startRpcStandIn, type RpcFault, type RpcStandIn } from '../../test/rpc-stand-in.js';
import type { Receipt } from '../receipts/receipt.js';
import { ReceiptTooLargeError } from '../rpc/chain-unavailable-error.js';
import type { RpcAsker } from '../rpc/rpc-batcher.js';
import type { EndedBatch } from '../rpc/rpc-endpoints.js';
import type { ChainOptions, ConnectedChain } from './connect-chain.js';

const UNKNOWN: Hex = `0x${'ab'.repeat(32)}`;

describe('reading the chain', () => {
  let devnet: Devnet;
  let rpc: RpcStandIn;
  let txHash: Hex;
  let chain: ConnectedChain;
  let batches: EndedBatch[];

  beforeAll(async () => {
    devnet = await startChain();
    txHash = await transferTokens(devnet, { amountBaseUnits: 1000n });
  });

  afterAll(() => devnet.stop());

  beforeEach(async () => {
    rpc = await startRpcStandIn(devnet.rpcUrl);
    chain = connect({});
  });

  afterEach(async () => {
    await chain.close();
    await rpc.stop();
  });

  function connect(options: Partial<ChainOptions>): ConnectedChain {
    batches = [];
    const observer = { batchEnded: (batch: EndedBatch) => void batches.push(batch), queueChanged: () => undefined };
    return connectDevnet(rpc.url, { timeoutMs: 3000, observer, ...options });
  }

  const soon = (ms = 20_000) => Date.now() + ms;
  const read = (hash = txHash, ms = 20_000) => chain.reader.readTransaction(hash, soon(ms));
  const readReceipt = async (): Promise<Receipt> => {
    const { mined } = await read();
    if (mined === null) throw new Error('not mined');
    return mined.receipt;
  };

  it('takes one HTTP round trip for a lone payment, its block time included', async () => {
    const { mined, headBlockNumber } = await read();
    const minedAtMs = await chain.reader.readBlockTime(mined!.receipt, soon());

    const block = (await callRpc(devnet.rpcUrl, 'eth_getBlockByHash', [mined!.receipt.blockHash, false])) as never;
    expect(minedAtMs).toBe(Number(block['timestamp']) * 1000);
    expect(headBlockNumber).toBe(Number(await callRpc(devnet.rpcUrl, 'eth_blockNumber')));
    expect(mined).toMatchObject({
      receipt: { txHash, status: 'success', logs: [{ address: devnet.asset.toLowerCase(), logIndex: 0 }] },
      input: expect.stringMatching(/^0xa9059cbb/),
    });
    expect(rpc.requests).toEqual([
      ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_chainId', 'eth_blockNumber'],
    ]);
  });

  it('reports that there is no receipt', async () => {
    expect(await read(UNKNOWN)).toMatchObject({ mined: null });
  });

  it('puts 256 payments at once into few batches', async () => {
    const hashes = await mineTransfers(devnet, { count: 256, amountBaseUnits: 1000n });
    const sightings = await Promise.all(hashes.map((hash) => read(hash)));

    expect(sightings.map(({ mined }) => mined?.receipt.txHash)).toEqual(hashes);
    expect(rpc.requests).toHaveLength(Math.ceil(256 / 50));
    expect(batches.map(({ lookups }) => lookups)).toEqual(expect.arrayContaining([50, 6]));
  });

  it('collects while all slots are busy', async () => {
    await chain.close();
    chain = connect({ batchesInFlight: 1 });
    const hashes = await mineTransfers(devnet, { count: 20, amountBaseUnits: 1000n });
    rpc.fail({ kind: 'delay', ms: 300 }, 1);
    const first = read();
    await new Promise((resolve) => setTimeout(resolve, 10));
    const later = hashes.map((hash) => read(hash));
    await Promise.all([first, ...later]);

    expect(batches.map(({ lookups }) => lookups)).toEqual([1, 20]);
  });

  const passing: [string, RpcFault][] = [
    ['429', { kind: 'status', status: 429 }],
    ['500', { kind: 'status', status: 500 }],
    ['a redirect', { kind: 'status', status: 302 }],
    ['a broken connection', { kind: 'reset' }],
    ['no answer', { kind: 'hang' }],
    ['garbage', { kind: 'body', text: '<html>busy</html>' }],
    ['half a JSON text', { kind: 'truncate' }],
    ['another JSON shape', { kind: 'body', text: '{"result":[]}' }],
    ['a null', { kind: 'body', text: 'null' }],
    ['an empty body', { kind: 'body', text: '' }],
    ['a list of garbage', { kind: 'body', text: '[1,null,"x"]' }],
    ['50 MB', { kind: 'flood', bytes: 50_000_000 }],
    ['a partial batch', { kind: 'rewrite', rewrite: (answers) => answers.slice(1) }],
    ['a batch without chain id', { kind: 'rewrite', rewrite: (answers) => answers.slice(0, 2) }],
    ['ids that do not match', { kind: 'rewrite', rewrite: (all) => all.map((one) => ({ ...one, id: one.id + 1 })) }],
    ['an answer twice', { kind: 'rewrite', rewrite: (answers) => [...answers, ...answers.slice(0, 1)] }],
    ['another chain', changeResult('eth_chainId', () => '0x1')],
    ['a call limit', errorFor('eth_getTransactionReceipt', -32005, 'limit exceeded')],
    [
      'a receipt of another transaction',
      changeResult('eth_getTransactionReceipt', withField('transactionHash', UNKNOWN)),
    ],
    ['a receipt of another block', changeResult('eth_getTransactionReceipt', withField('blockHash', UNKNOWN))],
    ['a receipt without status', changeResult('eth_getTransactionReceipt', withField('status', undefined))],
    ['a receipt without logs', changeResult('eth_getTransactionReceipt', withField('logs', 'none'))],
    ['a receipt with a bad log', changeResult('eth_getTransactionReceipt', withField('logs', [{ address: 7 }]))],
    ['a receipt that is text', changeResult('eth_getTransactionReceipt', () => 'success')],
    ['a transaction that is not known', changeResult('eth_getTransactionByHash', () => null)],
    ['a transaction of another hash', changeResult('eth_getTransactionByHash', withField('hash', UNKNOWN))],
  ];

  it.each(passing)('tries again after %s', async (_, fault) => {
    rpc.fail(fault, 1);
    expect((await read()).mined?.receipt.status).toBe('success');
    expect(rpc.requests).toHaveLength(2);
  });

  const REFUSAL = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}';
  it.each([...passing, ['a refused batch', { kind: 'body', text: REFUSAL }] as const])(
    'never accepts %s as an answer',
    async (_, fault) => {
      rpc.fail(fault);
      await expect(read(txHash, 700)).rejects.toMatchObject({ name: 'ChainUnavailableError' });
    },
  );

  it('names the failure, and never the URL', async () => {
    await chain.close();
    chain = connect({ urls: [`${rpc.url}/v1/SECRETKEY?token=SECRETTOKEN`] });
    rpc.fail({ kind: 'status', status: 429 });
    const error = await read().catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ reason: 'rpc_rate_limited' });
    expect(JSON.stringify([(error as Error).message, batches])).not.toContain('SECRET');
    expect(batches).toMatchObject([{ host: rpc.host, trouble: 'rpc_rate_limited' }, {}, {}]);
  });

  it('cuts off an answer that is too long', async () => {
    rpc.fail({ kind: 'flood', bytes: 500_000_000 });
    await expect(read()).rejects.toMatchObject({ reason: 'rpc_response_too_large' });
    expect(rpc.floodedBytes).toBeLessThan(50_000_000);
  });

  it('asks alone for a payment whose neighbours made the answer too long', async () => {
    await chain.close();
    chain = connect({ maxResponseBytes: 6_000 });
    const hashes = await mineTransfers(devnet, { count: 3, amountBaseUnits: 1000n });
    const sightings = await Promise.all(hashes.map((hash) => read(hash)));
    expect(sightings.every(({ mined }) => mined !== null)).toBe(true);
    expect(batches.map(({ lookups, trouble }) => [lookups, trouble])).toEqual([
      [3, 'rpc_response_too_large'],
      [1, 'none'],
      [1, 'none'],
      [1, 'none'],
    ]);
  });

  describe('of a transaction with an enormous receipt', () => {
    let nowMs: number;
    let bomb: Hex;

    beforeAll(async () => {
      bomb = await mineReceiptBomb(devnet, { logs: 2_000 });
    });

    beforeEach(async () => {
      await chain.close();
      nowMs = Date.now();
      chain = connect({ maxReceiptBytes: 65_536, nowMs: () => nowMs });
    });

    const readBomb = (asker?: RpcAsker) => chain.reader.readTransaction(bomb, nowMs + 5000, asker);
    const tooLarge = (retryAfterMs: number) => ({ reason: 'rpc_response_too_large', retryAfterMs });
    const troubles = () => batches.map(({ lookups, trouble }) => [lookups, trouble]);

    // Prevents: a client names such a transaction repeatedly, at no cost to itself.
    it('is looked up once for any number of askers, and again a minute later', async () => {
      // Whole, so that sums and differences of it are exact.
      let atMs = Math.ceil(performance.now());
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => atMs);
      const readers = Array.from({ length: 32 }, () => readBomb());
      expect((await Promise.allSettled(readers)).map(({ status }) => status)).toEqual(readers.map(() => 'rejected'));
      await expect(readBomb()).rejects.toBeInstanceOf(ReceiptTooLargeError);
      atMs += 20_000;
      await expect(readBomb()).rejects.toMatchObject(tooLarge(40_000));
      expect(troubles()).toEqual([[1, 'rpc_response_too_large']]);
      atMs += 41_000;
      await expect(readBomb()).rejects.toMatchObject(tooLarge(60_000));
      expect(troubles()).toHaveLength(2);
      clock.mockRestore();
    });

    it('asks for its neighbours alone, and for none of them twice', async () => {
      const others = await mineTransfers(devnet, { count: 3, amountBaseUnits: 1000n });
      const readOther = (hash: Hex) => chain.reader.readTransaction(hash, nowMs + 5000);
      const [refused, ...sightings] = await Promise.allSettled([readBomb(), ...others.map(readOther)]);
      expect(refused?.status).toBe('rejected');
      expect(sightings).toMatchObject(others.map((txHash) => ({ value: { mined: { receipt: { txHash } } } })));
      const alone = others.map(() => [1, 'none']);
      expect(troubles()[0]).toEqual([4, 'rpc_response_too_large']);
      expect(troubles().slice(1)).toEqual(expect.arrayContaining([[1, 'rpc_response_too_large'], ...alone]));
      expect(troubles()).toHaveLength(5);
    });

    it('does not switch to another server because of it', async () => {
      const second = await startRpcStandIn(devnet.rpcUrl);
      await chain.close();
      chain = connect({ urls: [rpc.url, second.url], maxReceiptBytes: 65_536, nowMs: () => nowMs });
      await expect(readBomb()).rejects.toBeInstanceOf(ReceiptTooLargeError);
      await read();
      expect([rpc.requests.length, second.requests.length]).toEqual([2, 0]);
      await second.stop();
    });

    it('remembers nothing if the answer that was too long held no receipt', async () => {
      rpc.fail({ kind: 'flood', bytes: 1_000_000 });
      await expect(read(bomb, 2000)).rejects.toMatchObject({
        reason: 'rpc_response_too_large',
        retryAfterMs: undefined,
      });
      rpc.fail({ kind: 'flood', bytes: 1_000_000 });
      await expect(read(txHash, 700)).rejects.toMatchObject({ reason: 'rpc_response_too_large' });
      rpc.fail(undefined);
      expect((await read()).mined).not.toBeNull();
    });

    it('reports the cost to the asker, and keeps a costly one apart from the others', async () => {
      const costly = { isCostly: true, cost: 0, answered: (bytes: number) => (costly.cost += bytes) };
      await Promise.allSettled([readBomb(costly), read(), chain.reader.readTransaction(UNKNOWN, nowMs + 5000, costly)]);
      expect(costly.cost).toBeGreaterThan(65_536);
      expect(troubles().sort()).toEqual([
        [1, 'none'],
        [1, 'none'],
        [1, 'rpc_response_too_large'],
      ]);
    });
  });

  it('asks once when several ask the same at once', async () => {
    const readers = [read(), read(), read()];
    expect(new Set((await Promise.all(readers)).map(({ mined }) => mined?.receipt.txHash))).toEqual(new Set([txHash]));
    await read();
    expect(batches.map(({ lookups }) => lookups)).toEqual([1, 1]);
  });

  // Prevents: a request close to its deadline fails the requests that joined it.
  it('asks again for those with time left when the first asker has none', async () => {
    rpc.fail({ kind: 'hang' }, 1);
    const [first, second] = [read(txHash, 300), read(txHash, 20_000)];
    await expect(first).rejects.toMatchObject({ name: 'ChainUnavailableError' });
    expect((await second).mined).not.toBeNull();
  });

  it('returns the answers that a partial batch contains', async () => {
    rpc.fail({ kind: 'rewrite', rewrite: (answers) => answers.slice(2) }, 1);
    const [other] = await mineTransfers(devnet, { count: 1, amountBaseUnits: 1000n });
    await Promise.all([read(), read(other)]);
    expect(batches.map(({ lookups }) => lookups)).toEqual([2, 1]);
  });

  describe('with two servers', () => {
    let second: RpcStandIn;

    beforeEach(async () => {
      second = await startRpcStandIn(devnet.rpcUrl);
      await chain.close();
    });

    afterEach(() => second.stop());

    it('fails over, and stays on the good one', async () => {
      chain = connect({ urls: [rpc.url, second.url] });
      rpc.fail({ kind: 'status', status: 500 });
      await read();
      await read();
      expect(rpc.requests).toHaveLength(1);
      expect(second.requests).toHaveLength(2);
    });

    it('returns to the first one once it works again', async () => {
      let nowMs = Date.now();
      chain = connect({ urls: [rpc.url, second.url], nowMs: () => nowMs });
      const ask = () => chain.reader.readTransaction(txHash, nowMs + 5000);
      rpc.fail({ kind: 'reset' });
      await ask();
      nowMs += 11_000;
      await ask();
      expect(rpc.requests.at(-1)).toEqual(['eth_chainId', 'eth_blockNumber']);
      expect(second.requests).toHaveLength(2);

      rpc.fail(undefined);
      nowMs += 11_000;
      await ask();
      while (!batches.some(({ host, lookups, trouble }) => host === rpc.host && lookups === 0 && trouble === 'none')) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await ask();
      expect(rpc.requests.at(-1)).toContain('eth_getTransactionReceipt');
      expect(second.requests).toHaveLength(3);
    });

    it('does not believe a server on another chain', async () => {
      chain = connect({ urls: [rpc.url, second.url] });
      rpc.fail(changeResult('eth_chainId', () => '0x1'));
      expect((await read()).mined).not.toBeNull();
      expect(second.requests).toHaveLength(1);
    });

    it('reports the failure of the last one when all fail', async () => {
      chain = connect({ urls: [rpc.url, second.url] });
      await rpc.stop();
      second.fail({ kind: 'status', status: 429 });
      await expect(read()).rejects.toMatchObject({ reason: 'rpc_rate_limited' });
    });
  });

  describe('of a node whose logs hold no block times', () => {
    const withoutTimes = changeResult('eth_getTransactionReceipt', (receipt: { logs: object[] }) => ({
      ...receipt,
      logs: receipt.logs.map((log) => ({ ...log, blockTimestamp: undefined })),
    }));

    beforeEach(() => rpc.fail(withoutTimes));

    it('asks for the block once, however many payments are in it', async () => {
      const expected = (await readReceipt()).blockHash;
      const receipts = await Promise.all(Array.from({ length: 5 }, () => readReceipt()));
      const times = await Promise.all(receipts.map((receipt) => chain.reader.readBlockTime(receipt, soon())));
      await chain.reader.readBlockTime(receipts[0]!, soon());

      const block = (await callRpc(devnet.rpcUrl, 'eth_getBlockByHash', [expected, false])) as never;
      expect(new Set(times)).toEqual(new Set([Number(block['timestamp']) * 1000]));
      expect(rpc.requests.flat().filter((method) => method === 'eth_getBlockByHash')).toHaveLength(1);
    });

    it('follows the head, so that later payments need no further look-up', async () => {
      await chain.reader.readBlockTime(await readReceipt(), soon());
      const next = await transferTokens(devnet, { amountBaseUnits: 1000n });
      await callRpc(devnet.rpcUrl, 'anvil_mine', ['0x3']);
      const polls = () => rpc.requests.filter((methods) => methods.includes('eth_getBlockByNumber'));
      const blockLookups = () => rpc.requests.flat().filter((method) => method === 'eth_getBlockByHash').length;
      // A poll may be in flight and ask for the blocks before an older head. After it come the head, the blocks before
      // it, and a poll which shows that both were read.
      const enough = polls().length + 4;
      while (polls().length < enough) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(Math.max(...polls().map(({ length }) => length))).toBeGreaterThan(3);
      const { mined } = await read(next);
      expect(mined?.receipt.blockTimeMs).toBeNull();
      await chain.reader.readBlockTime(mined!.receipt, soon());
      expect(blockLookups()).toBe(1);
    });

    it('does not accept another block', async () => {
      const receipt = await readReceipt();
      rpc.fail(changeResult('eth_getBlockByHash', withField('hash', UNKNOWN)));
      await expect(chain.reader.readBlockTime(receipt, soon())).rejects.toMatchObject({
        reason: 'rpc_inconsistent',
      });
    });
  });
});

function withField(name: string, value: unknown): (result: object) => object {
  return (result) => ({ ...result, [name]: value });
}

function errorFor(method: string, code: number, message: string): RpcFault {
  return {
    kind: 'rewrite',
    rewrite: (answers) =>
      answers.map((answer) => (answer.method === method ? { id: answer.id, error: { code, message } } : answer)),
  };
}
