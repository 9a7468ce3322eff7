import type { Hex } from '@tollgate/protocol';

import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { ChainHistory, MinedTransfer, TransferSearch } from './chain-history.js';

/** All transfers of a range of blocks, and the last of these blocks. */
export interface TransferPage {
  fromBlock: number;
  toBlock: number;
  toHash: Hex;
  toTimeMs: number;
  transfers: MinedTransfer[];
}

const PAGES_AT_ONCE = 4;

/**
 * Reads the transfers of many blocks, a page at a time. Nodes limit the blocks and the logs of one answer, and each in
 * its own way: what a node refuses is asked for in halves, and the next pages are as long as what it has answered.
 */
export class TransferWalk {
  #span: number;

  /** @param mostBlocks how many blocks one `eth_getLogs` spans at most */
  constructor(
    private readonly history: Pick<ChainHistory, 'readTransfers' | 'readBlock'>,
    private readonly mostBlocks: number,
  ) {
    this.#span = mostBlocks;
  }

  /** The pages in the order of their blocks. @throws ChainUnavailableError */
  async *walk(search: TransferSearch): AsyncGenerator<TransferPage> {
    for (let next = search.fromBlock; next <= search.toBlock;) {
      const spanBefore = this.#span;
      const ranges: TransferSearch[] = [];
      for (let count = 0; count < PAGES_AT_ONCE && next <= search.toBlock; count++) {
        const toBlock = Math.min(next + spanBefore - 1, search.toBlock);
        ranges.push({ ...search, fromBlock: next, toBlock });
        next = toBlock + 1;
      }
      yield* await Promise.all(ranges.map((range) => this.#readPage(range)));
      if (this.#span === spanBefore) this.#span = Math.min(this.#span * 2, this.mostBlocks);
    }
  }

  async #readPage(range: TransferSearch): Promise<TransferPage> {
    const { fromBlock, toBlock } = range;
    const [transfers, block] = await Promise.all([this.#readRange(range), this.history.readBlock(toBlock)]);
    if (block === null)
      throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server does not have its own block.');
    return { fromBlock, toBlock, toHash: block.hash, toTimeMs: block.timeMs, transfers };
  }

  async #readRange(range: TransferSearch): Promise<MinedTransfer[]> {
    const found = await this.history.readTransfers(range);
    if (found !== null) return found;
    const { fromBlock, toBlock } = range;
    const blocks = toBlock - fromBlock + 1;
    if (blocks === 1)
      throw new ChainUnavailableError('rpc_error', 'The RPC server refuses the logs of a single block.');
    const half = Math.ceil(blocks / 2);
    this.#span = Math.min(this.#span, half);
    const middle = fromBlock + half;
    const first = await this.#readRange({ ...range, toBlock: middle - 1 });
    return [...first, ...(await this.#readRange({ ...range, fromBlock: middle }))];
  }
}
