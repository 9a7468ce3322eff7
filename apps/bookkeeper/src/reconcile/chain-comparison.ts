import {
  beginAt,
  matchTransfers,
  postAnswers,
  readAnchors,
  readCompleteFrom,
  readLeastUnclaimed,
  readLostTransfers,
  readOpenQuestions,
  readChainPosition,
  rewind,
  storeDifferences,
  storePage,
  type Answered,
  type BookSeller,
  type BookWriter,
  type ChainAnswers,
  type ChainPosition,
  type ChainScope,
  type Difference,
} from '@tollgate/book';
import { ChainUnavailableError, TransferWalk, type ChainHistory, type TransferPage } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import { SenderWatch } from './sender-watch.js';
import { TransactionAnswers } from './transaction-answers.js';

export interface ComparisonOptions {
  history: ChainHistory;
  scope: ChainScope;
  seller: BookSeller;
  confirmations: number;
  rangeBlocks: number;
  graceMs: number;
  /** Base units below which unclaimed transfers are summed; null: a part of the cheapest price. */
  least: bigint | null;
  /** The accounts that send our transactions: relayers and wallets, in lower case. */
  listAccounts: () => Promise<readonly string[]>;
}

/** What one comparison found. */
export interface Comparison extends Answered {
  /** The newest block that counts as final. */
  finalBlock: number;
  /** Blocks that were read before and were replaced: the first of them; null without any. */
  rewoundTo: number | null;
}

/** Their answers are written in one transaction, for which readers of an embedded database wait. */
const QUESTIONS_AT_ONCE = 100;
/** The most questions of one comparison, the oldest first. */
const MOST_QUESTIONS = 10_000;

/** Compares the book with the chain, from where the last comparison ended. */
export class ChainComparison {
  readonly #walk: TransferWalk;
  readonly #answers: TransactionAnswers;
  readonly #senders: SenderWatch;

  constructor(private readonly options: ComparisonOptions) {
    const { history, scope, graceMs } = options;
    this.#walk = new TransferWalk(history, options.rangeBlocks);
    this.#answers = new TransactionAnswers(history, scope, graceMs);
    this.#senders = new SenderWatch(history, scope.chainId, graceMs);
  }

  /**
   * Null while the book is not complete, or no block is final yet.
   * @param outboxReadAtMs every event that was reported before is in the book
   * @throws ChainUnavailableError, BookUnavailableError, DeposedError; what was read until then is kept
   */
  async run(writer: BookWriter, outboxReadAtMs: number, signal: AbortSignal): Promise<Comparison | null> {
    const { database } = writer;
    const { history, scope, confirmations, graceMs } = this.options;
    const completeFromMs = await readCompleteFrom(database);
    if (completeFromMs === null) return null;
    const finalBlock = (await history.readHead()) - confirmations + 1;
    if (finalBlock < 0) return null;
    const before =
      (await readChainPosition(database, scope)) ?? (await this.#begin(writer, completeFromMs, finalBlock));
    const rewoundTo = await this.#rewind(writer, before);
    await this.#read(writer, { ...before, nextBlock: rewoundTo ?? before.nextBlock }, finalBlock, signal);

    const accounts = await this.options.listAccounts();
    const beforeMs = Math.min(Date.now(), outboxReadAtMs) - graceMs;
    const senders = await this.#senders.look(writer, accounts, { fromBlock: before.nextBlock - 1, finalBlock });
    const terms = { completeFromMs, beforeMs, finalBlock };
    const { bookings, differences } = await this.#settle(writer, terms, senders.unreported, signal);
    const lost = await readLostTransfers(database, scope, { completeFromMs, limit: MOST_QUESTIONS });
    const all: Difference[] = [...differences, ...lost, ...senders.differences];
    await writer.write((within) => storeDifferences(within, all));
    return { finalBlock, rewoundTo, bookings, differences: all };
  }

  /** Begins at the first block that is not older than the book. */
  async #begin(writer: BookWriter, completeFromMs: number, finalBlock: number): Promise<ChainPosition> {
    const { history, scope } = this.options;
    let [low, high] = [-1, finalBlock + 1];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const block = await history.readBlock(middle);
      // A server without its old blocks has none of this book's either.
      if (block === null || block.timeMs < completeFromMs) low = middle;
      else high = middle;
    }
    await beginAt(writer, scope, high);
    return { firstBlock: high, nextBlock: high, readUntilMs: null };
  }

  /** Forgets blocks that were read and are no longer in the chain. Returns the first of them, or null. */
  async #rewind(writer: BookWriter, { firstBlock }: ChainPosition): Promise<number | null> {
    const { history, scope } = this.options;
    const anchors = await readAnchors(writer.database, scope);
    let lost = 0;
    for (const { number, hash } of anchors) {
      const block = await history.readBlock(number);
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

  async #read(writer: BookWriter, from: ChainPosition, finalBlock: number, signal: AbortSignal): Promise<void> {
    const { scope } = this.options;
    const search = { assets: [scope.asset as Hex], to: scope.recipient as Hex };
    for await (const page of this.#walk.walk({ ...search, fromBlock: from.nextBlock, toBlock: finalBlock })) {
      signal.throwIfAborted();
      await storePage(writer, scope, toPage(page, scope));
    }
  }

  /** Asks the chain about every transaction that chain and book do not agree on. */
  async #settle(
    writer: BookWriter,
    { completeFromMs, beforeMs, finalBlock }: { completeFromMs: number; beforeMs: number; finalBlock: number },
    unreported: ChainAnswers['unreported'],
    signal: AbortSignal,
  ): Promise<Answered> {
    const { scope, seller } = this.options;
    const least = this.options.least ?? (await readLeastUnclaimed(writer.database, scope));
    const terms = { scope, seller, completeFromMs, least };
    const all: { bookings: Answered['bookings'][number][]; differences: Difference[] } = {
      bookings: [],
      differences: [],
    };
    const add = ({ bookings, differences }: Answered) => {
      all.bookings.push(...bookings);
      all.differences.push(...differences);
    };
    if (unreported.length > 0) add(await postAnswers(writer, { money: new Map(), gas: new Map(), unreported }, terms));
    await writer.write((within) => matchTransfers(within, scope));
    const range = { beforeMs, completeFromMs, limit: MOST_QUESTIONS };
    const { ofMoney, ofGas } = await readOpenQuestions(writer.database, scope, range);
    const count = Math.max(ofMoney.length, ofGas.length);
    for (let at = 0; at < count && !signal.aborted; at += QUESTIONS_AT_ONCE) {
      const some = (hashes: readonly string[]) => hashes.slice(at, at + QUESTIONS_AT_ONCE);
      const answers = await this.#answers.ask({ ofMoney: some(ofMoney), ofGas: some(ofGas) }, finalBlock);
      add(await postAnswers(writer, { ...answers, unreported: [] }, terms));
    }
    return all;
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
