import {
  readReportedSenders,
  readSenders,
  readUnknownNonces,
  storeSender,
  unknownTransaction,
  type BookWriter,
  type Difference,
  type KnownSender,
  type UnreportedTransaction,
} from '@tollgate/book';
import type { ChainHistory } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

const UNKNOWN_AT_ONCE = 100;

/** Finds transactions of our accounts that no event has reported: the count of each account shows them. */
export class SenderWatch {
  /** When a nonce was first seen without its transaction: its event may be on its way. */
  readonly #unknown = new Map<string, number>();

  constructor(
    private readonly history: ChainHistory,
    private readonly chainId: number,
    private readonly graceMs: number,
  ) {}

  /**
   * @param accounts relayers and wallets; each is followed from the block at which it is first seen
   * @throws ChainUnavailableError, BookUnavailableError
   */
  async look(
    writer: BookWriter,
    accounts: readonly string[],
    { fromBlock, finalBlock }: { fromBlock: number; finalBlock: number },
  ): Promise<{ unreported: UnreportedTransaction[]; differences: Difference[] }> {
    const { database } = writer;
    const known = await readSenders(database, this.chainId);
    const names = new Set([...accounts, ...(await readReportedSenders(database, this.chainId))]);
    for (const { address } of known) names.delete(address);
    const added = await this.#add(writer, [...names], fromBlock, finalBlock);
    const senders = [...known, ...added];
    const counts = await this.#count(senders, finalBlock);
    const found = { unreported: [] as UnreportedTransaction[], differences: [] as Difference[] };
    for (const [index, sender] of senders.entries()) {
      const count = counts[index];
      if (count === null || count === undefined) continue;
      const unknown = await readUnknownNonces(database, this.chainId, sender, { count, limit: UNKNOWN_AT_ONCE });
      for (const nonce of unknown.filter((one) => this.#isOverdue(sender.address, one))) {
        const transaction = await findTransaction(this.history, this.chainId, sender, { nonce, toBlock: finalBlock });
        if (transaction !== null) found.unreported.push(transaction);
        else found.differences.push(unknownTransaction(this.chainId, sender.address, nonce, Date.now()));
      }
      if (unknown.length === 0 && (count !== sender.nonce || finalBlock - sender.blockNumber > KEPT_BLOCKS)) {
        this.#forget(sender.address);
        await storeSender(writer, this.chainId, { address: sender.address, nonce: count, blockNumber: finalBlock });
      }
    }
    return found;
  }

  async #add(
    writer: BookWriter,
    addresses: readonly string[],
    fromBlock: number,
    finalBlock: number,
  ): Promise<KnownSender[]> {
    const start = Math.max(0, Math.min(fromBlock, finalBlock));
    const [atStart, atEnd] = [
      await this.history.countTransactions(addresses as Hex[], start),
      await this.history.countTransactions(addresses as Hex[], finalBlock),
    ];
    const added: KnownSender[] = [];
    for (const [index, address] of addresses.entries()) {
      const first = atStart[index] ?? null;
      const nonce = first ?? atEnd[index] ?? null;
      if (nonce === null) continue;
      const sender = { address, nonce, blockNumber: first === null ? finalBlock : start };
      await storeSender(writer, this.chainId, sender);
      added.push(sender);
    }
    return added;
  }

  #count(senders: readonly KnownSender[], finalBlock: number): Promise<(number | null)[]> {
    const addresses = senders.map(({ address }) => address as Hex);
    return this.history.countTransactions(addresses, finalBlock);
  }

  #isOverdue(address: string, nonce: number): boolean {
    const name = `${address} ${nonce}`;
    const sinceMs = this.#unknown.get(name) ?? Date.now();
    this.#unknown.set(name, sinceMs);
    return Date.now() - sinceMs >= this.graceMs;
  }

  #forget(address: string): void {
    for (const name of this.#unknown.keys()) if (name.startsWith(address)) this.#unknown.delete(name);
  }
}

/** Full nodes have the states of the last 128 blocks, so an idle account is noted again before that. */
const KEPT_BLOCKS = 32;

/**
 * Finds the transaction that used an account's nonce, by halving the blocks in which the count of its transactions
 * passed it. Null: the RPC server no longer has the state of these blocks.
 * @throws ChainUnavailableError
 */
async function findTransaction(
  history: ChainHistory,
  chainId: number,
  { address, blockNumber: fromBlock }: KnownSender,
  { nonce, toBlock }: { nonce: number; toBlock: number },
): Promise<UnreportedTransaction | null> {
  let [low, high] = [fromBlock, toBlock];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const [count] = await history.countTransactions([address as Hex], middle);
    if (count === null || count === undefined) return null;
    if (count > nonce) high = middle;
    else low = middle;
  }
  const sent = (await history.readTransactions(high)).find((one) => one.from === address && one.nonce === nonce);
  if (sent === undefined) return null;
  const [[receipt], block] = await Promise.all([history.readReceipts([sent.txHash]), history.readBlock(high)]);
  if (!receipt || block === null) return null;
  return {
    chainId,
    hash: sent.txHash,
    sender: address,
    nonce,
    blockNumber: high,
    atMs: block.timeMs,
    gasCost: receipt.gasUsed * (receipt.effectiveGasPrice ?? 0n),
    value: receipt.status === 'success' ? sent.value : 0n,
  };
}
