import {
  matchTransfers,
  postAnswers,
  readCompleteFrom,
  readLeastUnclaimed,
  readLostTransfers,
  readOpenQuestions,
  storeDifferences,
  type Answered,
  type AnswerTerms,
  type BookSeller,
  type BookWriter,
  type ChainAnswers,
  type ChainScope,
  type Difference,
} from '@tollgate/book';
import type { ChainHistory } from '@tollgate/chain';

import { ArrivalReader } from './arrival-reader.js';
import { SenderWatch } from './sender-watch.js';
import { TransactionAnswers } from './transaction-answers.js';

export interface ComparisonOptions {
  history: ChainHistory;
  chainId: number;
  /** The seller's tokens on this chain. */
  scopes: readonly ChainScope[];
  /** All of the seller's tokens. */
  seller: BookSeller;
  confirmations: number;
  rangeBlocks: number;
  graceMs: number;
  /** Base units below which unclaimed transfers are summed; null: a part of the token's cheapest price. */
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
/** The most questions of one comparison about each token, the oldest first. */
const MOST_QUESTIONS = 10_000;

/** Compares the book with a chain, from where the last comparison ended: each token of the seller, and gas. */
export class ChainComparison {
  readonly #arrivals: ArrivalReader;
  readonly #answers: TransactionAnswers;
  readonly #senders: SenderWatch;

  constructor(private readonly options: ComparisonOptions) {
    const { history, chainId, graceMs } = options;
    this.#arrivals = new ArrivalReader(history, options.rangeBlocks);
    this.#answers = new TransactionAnswers(history, graceMs);
    this.#senders = new SenderWatch(history, chainId, graceMs);
  }

  /**
   * Null while the book is not complete, or no block is final yet.
   * @param outboxReadAtMs every event that was reported before is in the book
   * @throws ChainUnavailableError, BookUnavailableError, DeposedError; what was read until then is kept
   */
  async run(writer: BookWriter, outboxReadAtMs: number, signal: AbortSignal): Promise<Comparison | null> {
    const { database } = writer;
    const { history, chainId, scopes, seller, confirmations, graceMs } = this.options;
    const completeFromMs = await readCompleteFrom(database, chainId);
    if (completeFromMs === null) return null;
    const finalBlock = (await history.readHead()) - confirmations + 1;
    if (finalBlock < 0) return null;
    const range = { completeFromMs, finalBlock };
    const read: Awaited<ReturnType<ArrivalReader['read']>>[] = [];
    for (const scope of scopes) read.push(await this.#arrivals.read(writer, scope, range, signal));

    const accounts = await this.options.listAccounts();
    const fromBlock = Math.min(...read.map(({ nextBlock }) => nextBlock)) - 1;
    const senders = await this.#senders.look(writer, accounts, { fromBlock, finalBlock });
    const beforeMs = Math.min(Date.now(), outboxReadAtMs) - graceMs;
    const terms = { chainId, seller, completeFromMs, leastOf: await this.#readLeast(writer) };
    const { bookings, differences } = await this.#settle(writer, terms, { ...senders, beforeMs, finalBlock }, signal);
    const all: Difference[] = [...differences, ...senders.differences];
    for (const scope of scopes)
      all.push(...(await readLostTransfers(database, scope, { seller, completeFromMs, limit: MOST_QUESTIONS })));
    await writer.write((within) => storeDifferences(within, chainId, all));
    const rewound = read.flatMap(({ rewoundTo }) => rewoundTo ?? []);
    const rewoundTo = rewound.length === 0 ? null : Math.min(...rewound);
    return { finalBlock, rewoundTo, bookings, differences: all };
  }

  async #readLeast({ database }: BookWriter): Promise<AnswerTerms['leastOf']> {
    const { least, scopes } = this.options;
    if (least !== null) return () => least;
    const known = new Map<ChainScope, bigint>();
    for (const scope of scopes) known.set(scope, await readLeastUnclaimed(database, scope));
    return (scope) => known.get(scope) ?? 0n;
  }

  /** Asks the chain about every transaction that chain and book do not agree on. */
  async #settle(
    writer: BookWriter,
    terms: AnswerTerms,
    asked: Pick<ChainAnswers, 'unreported'> & { beforeMs: number; finalBlock: number },
    signal: AbortSignal,
  ): Promise<Answered> {
    const { chainId, scopes } = this.options;
    const { unreported, beforeMs, finalBlock } = asked;
    const all: { bookings: Answered['bookings'][number][]; differences: Difference[] } = {
      bookings: [],
      differences: [],
    };
    const add = ({ bookings, differences }: Answered) => {
      all.bookings.push(...bookings);
      all.differences.push(...differences);
    };
    if (unreported.length > 0) add(await postAnswers(writer, { money: [], gas: new Map(), unreported }, terms));
    for (const scope of scopes) await writer.write((within) => matchTransfers(within, scope));
    const range = { beforeMs, completeFromMs: terms.completeFromMs, limit: MOST_QUESTIONS };
    const { ofMoney, ofGas } = await readOpenQuestions(writer.database, chainId, scopes, range);
    const count = Math.max(ofMoney.length, ofGas.length);
    for (let at = 0; at < count && !signal.aborted; at += QUESTIONS_AT_ONCE) {
      const some = <Question>(questions: readonly Question[]) => questions.slice(at, at + QUESTIONS_AT_ONCE);
      const answers = await this.#answers.ask({ ofMoney: some(ofMoney), ofGas: some(ofGas) }, finalBlock);
      add(await postAnswers(writer, { ...answers, unreported: [] }, terms));
    }
    return all;
  }
}
