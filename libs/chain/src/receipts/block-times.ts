import type { Hex } from '@tollgate/protocol';

import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { RpcBatcher } from '../rpc/rpc-batcher.js';
import { valueOf, type RpcCall } from '../rpc/rpc-endpoint.js';
import { RPC_TIMEOUT_MS } from '../rpc/rpc-http.js';
import { malformed, toQuantity } from '../rpc/rpc-value.js';
import { parseBlock, type Block, type Receipt } from './receipt.js';

const POLL_INTERVAL_MS = 1000;
/** The head is followed for this long after the last payment that needed it. */
const FOLLOW_MS = 15_000;
const MAX_KNOWN = 4096;
/** Blocks caught up on per poll; older blocks are read when a payment needs one. */
const MAX_CATCH_UP = 32;
const NEWEST: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] };

/**
 * Block times by block hash, so that a reorganised block never lends its time to another. Nodes that put
 * `blockTimestamp` into logs never need it; for other nodes the head is followed while payments come in.
 */
export class BlockTimes {
  readonly #known = new Map<Hex, number>();
  readonly #asked = new Map<Hex, Promise<number>>();
  #timer: NodeJS.Timeout | undefined;
  #lastNeededMs = 0;
  #lastNumber = 0;

  constructor(
    private readonly batcher: RpcBatcher,
    private readonly nowMs: () => number,
  ) {}

  /**
   * The time of the receipt's block, in milliseconds. Asks the chain only if neither the node nor the head gave it
   * already.
   */
  async read(receipt: Receipt, deadlineMs: number): Promise<number> {
    if (receipt.blockTimeMs !== null) return receipt.blockTimeMs;
    this.#follow();
    return this.#known.get(receipt.blockHash) ?? this.#askFor(receipt, deadlineMs);
  }

  /** The time of the newest block that a server shows, in milliseconds. */
  async readNewest(deadlineMs: number): Promise<number> {
    const [newest] = await this.#askForBlocks([NEWEST], deadlineMs);
    return newest?.timeMs ?? malformed('no newest block');
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lastNeededMs = Number.NEGATIVE_INFINITY;
  }

  #askFor({ blockHash, blockNumber }: Receipt, deadlineMs: number): Promise<number> {
    const asked = this.#asked.get(blockHash);
    if (asked) return asked;
    const asking = this.batcher
      .ask({
        calls: [{ method: 'eth_getBlockByHash', params: [blockHash, false] }],
        deadlineMs,
        read: ([result]) => {
          const block = parseBlock(valueOf(result, 'eth_getBlockByHash'));
          if (block?.hash !== blockHash || block.number !== blockNumber) {
            throw new ChainUnavailableError(
              'rpc_inconsistent',
              'The RPC server returned the receipt but not its block.',
            );
          }
          return this.#remember(block);
        },
      })
      .finally(() => this.#asked.delete(blockHash));
    this.#asked.set(blockHash, asking);
    return asking;
  }

  #follow(): void {
    this.#lastNeededMs = this.nowMs();
    this.#timer ??= setTimeout(() => void this.#poll(), POLL_INTERVAL_MS).unref();
  }

  async #poll(): Promise<void> {
    try {
      const [head] = await this.#askForBlocks([NEWEST]);
      if (head) await this.#catchUpTo(head.number);
    } catch {
      // The batcher already counted the failure, and a payment that needs a block time asks for it itself.
    }
    const isNeeded = this.nowMs() - this.#lastNeededMs < FOLLOW_MS;
    this.#timer = isNeeded ? setTimeout(() => void this.#poll(), POLL_INTERVAL_MS).unref() : undefined;
  }

  async #catchUpTo(headNumber: number): Promise<void> {
    const from = Math.max(this.#lastNumber + 1, headNumber - MAX_CATCH_UP);
    const calls: RpcCall[] = [];
    for (let number = from; number < headNumber; number++) {
      calls.push({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] });
    }
    this.#lastNumber = headNumber;
    if (calls.length > 0) await this.#askForBlocks(calls);
  }

  #askForBlocks(calls: RpcCall[], deadlineMs = this.nowMs() + RPC_TIMEOUT_MS): Promise<(Block | null)[]> {
    return this.batcher.ask({
      calls,
      deadlineMs,
      read: (results) =>
        results.map((result) => {
          const block = parseBlock(valueOf(result, 'eth_getBlockByNumber'));
          if (block) this.#remember(block);
          return block;
        }),
    });
  }

  #remember(block: Block): number {
    this.#known.set(block.hash, block.timeMs);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return block.timeMs;
  }
}
