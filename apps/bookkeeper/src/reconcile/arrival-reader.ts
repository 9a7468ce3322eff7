import {
  beginAt,
  readAnchors,
  readChainPosition,
  rewind,
  storePage,
  type BookWriter,
  type ChainPosition,
  type ChainScope,
} from '@tollgate/book';
import { ChainUnavailableError, TransferWalk, type ChainHistory, type TransferPage } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

/** What a reading found of one token. */
export interface ReadArrivals {
  /** The first block that had not been read before. */
  readonly nextBlock: number;
  /** Blocks that were read before and were replaced: the first of them; null without any. */
  readonly rewoundTo: number | null;
}

/** Reads the transfers of a token to the seller into the book, from where the last reading ended. */
export class ArrivalReader {
  readonly #walk: TransferWalk;

  constructor(
    private readonly history: ChainHistory,
    rangeBlocks: number,
  ) {
    this.#walk = new TransferWalk(history, rangeBlocks);
  }

  /**
   * @param completeFromMs since when every change of money on this chain is in the book
   * @throws ChainUnavailableError, BookUnavailableError, DeposedError; what was read until then is kept
   */
  async read(
    writer: BookWriter,
    scope: ChainScope,
    { completeFromMs, finalBlock }: { completeFromMs: number; finalBlock: number },
    signal: AbortSignal,
  ): Promise<ReadArrivals> {
    const before =
      (await readChainPosition(writer.database, scope)) ??
      (await this.#begin(writer, scope, completeFromMs, finalBlock));
    const rewoundTo = await this.#rewind(writer, scope, before);
    const search = { assets: [scope.asset as Hex], to: scope.recipient as Hex };
    const fromBlock = rewoundTo ?? before.nextBlock;
    for await (const page of this.#walk.walk({ ...search, fromBlock, toBlock: finalBlock })) {
      signal.throwIfAborted();
      await storePage(writer, scope, toPage(page, scope));
    }
    return { nextBlock: before.nextBlock, rewoundTo };
  }

  /** Begins at the first block that is not older than the book. */
  async #begin(
    writer: BookWriter,
    scope: ChainScope,
    completeFromMs: number,
    finalBlock: number,
  ): Promise<ChainPosition> {
    let [low, high] = [-1, finalBlock + 1];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const block = await this.history.readBlock(middle);
      // A server without its old blocks has none of this book's either.
      if (block === null || block.timeMs < completeFromMs) low = middle;
      else high = middle;
    }
    await beginAt(writer, scope, high);
    return { firstBlock: high, nextBlock: high, readUntilMs: null };
  }

  /** Forgets blocks that were read and are no longer in the chain. Returns the first of them, or null. */
  async #rewind(writer: BookWriter, scope: ChainScope, { firstBlock }: ChainPosition): Promise<number | null> {
    const anchors = await readAnchors(writer.database, scope);
    let lost = 0;
    for (const { number, hash } of anchors) {
      const block = await this.history.readBlock(number);
      // A server that is behind, or a chain that has become shorter: what it shows later decides.
      if (block === null) throw new ChainUnavailableError('rpc_inconsistent', `The RPC server has no block ${number}.`);
      if (block.hash === hash) break;
      lost++;
    }
    if (lost === 0) return null;
    const kept = anchors[lost];
    const toBlock = kept === undefined ? firstBlock : kept.number + 1;
    await rewind(writer, scope, toBlock);
    return toBlock;
  }
}

function toPage({ transfers, toBlock, toHash, toTimeMs }: TransferPage, { recipient }: ChainScope) {
  return {
    transfers: transfers
      // To oneself: nothing arrived.
      .filter(({ from }) => from !== recipient)
      .map(({ txHash, logIndex, blockNumber, from, amountBaseUnits, blockTimeMs }) => ({
        transaction: txHash,
        logIndex,
        blockNumber,
        payer: from,
        amount: String(amountBaseUnits),
        atMs: blockTimeMs,
      })),
    end: { number: toBlock, hash: toHash },
    endAtMs: toTimeMs,
  };
}
