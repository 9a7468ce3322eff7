import type { ChainAnswers, ChainScope, MoneyAnswer, NamedTransfer, OpenQuestions, OwnReceipt } from '@tollgate/book';
import { ChainUnavailableError, listArrivals, type ChainHistory, type CostedReceipt } from '@tollgate/chain';
import { nameOfPayment } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

const RECEIPTS_AT_ONCE = 100;

/** Asks the chain about single transactions. */
export class TransactionAnswers {
  /** When a transaction was first looked for and not found: a server that is behind has none for a moment. */
  readonly #missing = new Map<string, number>();

  constructor(
    private readonly history: ChainHistory,
    private readonly graceMs: number,
  ) {}

  /** Leaves out transactions that are not final yet, and those that are missing for less than the grace. */
  async ask({ ofMoney, ofGas }: OpenQuestions, finalBlock: number): Promise<Omit<ChainAnswers, 'unreported'>> {
    const hashes = new Set([...ofMoney.map(({ transaction }) => transaction), ...ofGas]);
    const receipts = await this.#readReceipts([...hashes]);
    const times = await this.#readTimes(receipts);
    const answers = { money: [] as ChainAnswers['money'][number][], gas: new Map<string, OwnReceipt | null>() };
    const isOpen = (receipt: CostedReceipt | null) => receipt !== null && receipt.blockNumber > finalBlock;
    const nowMs = Date.now();
    for (const [hash, receipt] of receipts) {
      if (receipt !== null) this.#missing.delete(hash);
      if (isOpen(receipt) || (receipt === null && !this.#isMissing(hash, nowMs))) receipts.delete(hash);
    }
    for (const question of ofMoney) {
      const receipt = receipts.get(question.transaction);
      if (receipt === undefined) continue;
      const atMs = times.get(receipt?.blockNumber ?? -1) ?? nowMs;
      answers.money.push({ ...question, answer: receipt && toMoney(receipt, question.scope, atMs) });
    }
    for (const hash of ofGas) {
      const receipt = receipts.get(hash);
      if (receipt === undefined) continue;
      const atMs = times.get(receipt?.blockNumber ?? -1) ?? nowMs;
      answers.gas.set(hash, receipt && { ...toCost(receipt), blockNumber: receipt.blockNumber, atMs });
    }
    return answers;
  }

  #isMissing(hash: string, nowMs: number): boolean {
    const sinceMs = this.#missing.get(hash) ?? nowMs;
    this.#missing.set(hash, sinceMs);
    return nowMs - sinceMs >= this.graceMs;
  }

  async #readReceipts(hashes: readonly string[]): Promise<Map<string, CostedReceipt | null>> {
    const found = new Map<string, CostedReceipt | null>();
    for (let at = 0; at < hashes.length; at += RECEIPTS_AT_ONCE) {
      const some = hashes.slice(at, at + RECEIPTS_AT_ONCE);
      const receipts = await this.history.readReceipts(some as Hex[]);
      for (const [index, hash] of some.entries()) found.set(hash, receipts[index] ?? null);
    }
    return found;
  }

  /** Times of the blocks, by number. */
  async #readTimes(receipts: ReadonlyMap<string, CostedReceipt | null>): Promise<Map<number, number>> {
    const times = new Map<number, number>();
    for (const receipt of receipts.values()) {
      if (receipt?.blockTimeMs != null) times.set(receipt.blockNumber, receipt.blockTimeMs);
    }
    const numbers = new Set([...receipts.values()].flatMap((receipt) => receipt?.blockNumber ?? []));
    const unknown = [...numbers].filter((number) => !times.has(number));
    const blocks = await Promise.all(unknown.map((number) => this.history.readBlock(number)));
    for (const [index, number] of unknown.entries()) {
      const block = blocks[index];
      if (!block)
        throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server has a receipt but not its block.');
      times.set(number, block.timeMs);
    }
    return times;
  }
}

function toMoney(receipt: CostedReceipt, scope: ChainScope, atMs: number): MoneyAnswer {
  const transfers = receipt.status === 'success' ? nameArrivals(receipt, scope, atMs) : [];
  return { transfers, blockNumber: receipt.blockNumber, atMs };
}

function toCost({ gasUsed, effectiveGasPrice }: CostedReceipt): { gasCost: bigint } {
  return { gasCost: gasUsed * (effectiveGasPrice ?? 0n) };
}

/**
 * The transfers of an asset to a recipient, each under the name that the ledger has for it: the authorization that
 * caused it, else the place of its log among the transaction's. A permit's has the transaction's name too, until the
 * permit itself is presented.
 */
function nameArrivals(
  { txHash, blockNumber, logs }: CostedReceipt,
  { chainId, asset, recipient }: ChainScope,
  atMs: number,
): NamedTransfer[] {
  const arrivals = listArrivals(logs, { chainId, asset: asset as Hex, recipient });
  return arrivals.flatMap(({ position, from, amountBaseUnits, cause }): NamedTransfer[] => {
    const log = logs[position];
    if (log === undefined) return [];
    const payment = nameOfPayment(cause?.id ?? { kind: 'transfer', chainId, txHash, logIndex: position });
    const { logIndex } = log;
    return [
      { payment, transaction: txHash, logIndex, blockNumber, payer: from, amount: String(amountBaseUnits), atMs },
    ];
  });
}
