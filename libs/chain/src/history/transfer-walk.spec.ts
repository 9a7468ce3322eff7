import type { Hex } from '@tollgate/protocol';

import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { MinedTransfer, TransferSearch } from './chain-history.js';
import { TransferWalk } from './transfer-walk.js';

const ASSET: Hex = `0x${'a5'.repeat(20)}`;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;

/** A provider with a transfer in each block, which refuses ranges and answers that are too long. */
function createProvider(limits: { blocks: number; logs: number }) {
  const asked: number[] = [];
  return {
    asked,
    readBlock: (number: number) => Promise.resolve({ number, hash: hashOf(number), timeMs: number * 1000 }),
    readTransfers: ({ fromBlock, toBlock }: TransferSearch): Promise<MinedTransfer[] | null> => {
      const count = toBlock - fromBlock + 1;
      asked.push(count);
      if (count > limits.blocks || count > limits.logs) return Promise.resolve(null);
      const blocks = Array.from({ length: count }, (_, index) => fromBlock + index);
      return Promise.resolve(
        blocks.map((blockNumber) => ({
          txHash: hashOf(blockNumber),
          logIndex: 0,
          blockNumber,
          blockTimeMs: null,
          asset: ASSET,
          from: ASSET,
          amountBaseUnits: 1n,
        })),
      );
    },
  };
}

async function walk(limits: { blocks: number; logs: number }, fromBlock: number, toBlock: number) {
  const provider = createProvider(limits);
  const pages = [];
  for await (const page of new TransferWalk(provider, 1_000).walk({ assets: [ASSET], to: ASSET, fromBlock, toBlock })) {
    pages.push(page);
  }
  return { pages, asked: provider.asked };
}

describe('TransferWalk', () => {
  it.each([
    ['no limit', { blocks: 1e9, logs: 1e9 }],
    ['a limit of blocks', { blocks: 300, logs: 1e9 }],
    ['a limit of logs', { blocks: 1e9, logs: 7 }],
    ['a limit of one block', { blocks: 1, logs: 1e9 }],
  ])('reads each block once and in order with %s', async (_, limits) => {
    const { pages } = await walk(limits, 5, 3_210);
    const blocks = pages.flatMap(({ transfers }) => transfers.map(({ blockNumber }) => blockNumber));
    expect(blocks).toEqual(Array.from({ length: 3_206 }, (_block, index) => 5 + index));
    expect(pages.at(-1)).toMatchObject({ toBlock: 3_210, toHash: hashOf(3_210), toTimeMs: 3_210_000 });
  });

  it('asks no more than needed once it knows what is refused', async () => {
    const { asked } = await walk({ blocks: 250, logs: 1e9 }, 0, 99_999);
    expect(asked.length).toBeLessThan(1_100);
  });

  it('reads nothing where nothing is new', async () => {
    expect((await walk({ blocks: 1, logs: 1 }, 8, 7)).pages).toEqual([]);
  });

  it('gives up on a provider that refuses a single block', async () => {
    await expect(walk({ blocks: 0, logs: 0 }, 0, 10)).rejects.toBeInstanceOf(ChainUnavailableError);
  });
});
