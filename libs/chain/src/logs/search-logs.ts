import type { EmittedLog, Hex } from '@tollgate/protocol';

import { parseBlock, parseLog } from '../receipts/receipt.js';
import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { RpcBatcher } from '../rpc/rpc-batcher.js';
import { valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-endpoint.js';
import { malformed, parseHash, parseObject, parseQuantity, toQuantity } from '../rpc/rpc-value.js';

export interface LogSearch {
  address: Hex;
  /** Accepted values for each topic of a log, in lower case. */
  topics: readonly (readonly Hex[])[];
  /** The newest block that is searched. */
  headBlockNumber: number;
  /** Blocks before this time need not be searched. */
  sinceMs: number;
  deadlineMs: number;
}

export interface FoundLog extends EmittedLog {
  txHash: Hex;
  blockNumber: number;
}

interface Range {
  from: number;
  to: number;
}

interface SearchedRanges {
  logs: FoundLog[];
  /** Time of the oldest block; null when the node does not have it. */
  oldestTimeMs: number | null;
}

const FIRST_RANGES = 1;
const GROWTH = 4;
const MAX_RANGES = 16;

/**
 * Finds matching logs from the head backwards, until some are found or the blocks are too old: the wanted log is nearly
 * always recent. Later rounds search more ranges, not longer ones, since nodes limit a range's length.
 * @param rangeBlocks how many blocks one `eth_getLogs` spans
 * @throws ChainUnavailableError also where a node refuses the search, or lags behind the head
 */
export async function searchLogs(batcher: RpcBatcher, rangeBlocks: number, search: LogSearch): Promise<FoundLog[]> {
  let to = search.headBlockNumber;
  for (let count = FIRST_RANGES; to >= 0; count = Math.min(count * GROWTH, MAX_RANGES)) {
    const ranges = createRanges(to, rangeBlocks, count);
    const { logs, oldestTimeMs } = await searchRanges(batcher, search, ranges);
    if (logs.length > 0) return logs;
    if (oldestTimeMs !== null && oldestTimeMs < search.sinceMs) break;
    to -= rangeBlocks * count;
  }
  return [];
}

function createRanges(to: number, rangeBlocks: number, count: number): Range[] {
  return Array.from({ length: count }, (_, index) => to - index * rangeBlocks)
    .filter((last) => last >= 0)
    .map((last) => ({ from: Math.max(0, last - rangeBlocks + 1), to: last }));
}

function searchRanges(batcher: RpcBatcher, search: LogSearch, ranges: readonly Range[]): Promise<SearchedRanges> {
  const { address, topics, headBlockNumber, deadlineMs } = search;
  const oldest = toQuantity(ranges.at(-1)?.from ?? 0);
  const calls: RpcCall[] = ranges.map(({ from, to }) => ({
    method: 'eth_getLogs',
    params: [{ address, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) }],
  }));
  return batcher.ask({
    calls: [...calls, { method: 'eth_getBlockByNumber', params: [oldest, false] }],
    deadlineMs,
    read: (results, head) => {
      // A node that lags behind the one asked before would miss logs that exist.
      if (head < headBlockNumber) throw behind();
      const block = parseBlock(valueOf(results.at(-1), 'eth_getBlockByNumber'));
      return {
        logs: ranges.flatMap((range, index) => parseLogs(results[index], search, range)),
        oldestTimeMs: block?.timeMs ?? null,
      };
    },
  });
}

function parseLogs(result: RpcResult | undefined, { address, topics }: LogSearch, { from, to }: Range): FoundLog[] {
  const values = valueOf(result, 'eth_getLogs');
  if (!Array.isArray(values)) return malformed('logs that are not a list');
  return values.map((value: unknown) => {
    const fields = parseObject(value, 'log');
    const log = parseLog(fields);
    const blockNumber = parseQuantity(fields.blockNumber, 'log.blockNumber');
    const isWanted = topics.every((wanted, index) => wanted.some((topic) => topic === log.topics[index]));
    if (log.address !== address || !isWanted || blockNumber < from || blockNumber > to || fields.removed === true) {
      return malformed('a log that was not asked for');
    }
    return { ...log, txHash: parseHash(fields.transactionHash, 'log.transactionHash'), blockNumber };
  });
}

function behind(): ChainUnavailableError {
  return new ChainUnavailableError('rpc_inconsistent', 'The RPC server is behind the head that another one reported.');
}

const REMEMBERED_MS = 60_000;
/** A server that lags behind the others finds nothing at first, so the first empty result is kept for less long. */
const FIRST_NOTHING_REMEMBERED_MS = 5_000;
const MAX_REMEMBERED = 4096;

interface RememberedSearch {
  untilMs: number;
  found: Promise<FoundLog[]>;
  /** How often the search has found nothing. */
  inVain: number;
}

/**
 * Log searches for events that happen once and are known to have happened: shared while they run, and cached for a
 * minute; for five seconds if nothing was found the first time. Without the cache, naming a payment of long ago again
 * would cost a client nothing and the RPC server a hundred searches each time.
 */
export class SearchMemory {
  readonly #searches = new Map<string, RememberedSearch>();

  /** @param nowMs a clock that is never set back */
  constructor(private readonly nowMs = () => performance.now()) {}

  /**
   * Returns the cached result or runs the search; a search that failed is not cached.
   * @param event identifies the event where the logs themselves do not
   */
  find(search: LogSearch, event: string, run: (search: LogSearch) => Promise<FoundLog[]>): Promise<FoundLog[]> {
    const name = nameSearch(search, event);
    const known = this.#searches.get(name);
    if (known && known.untilMs > this.nowMs()) return known.found;
    const found = run(search);
    const remembered = { untilMs: this.nowMs() + REMEMBERED_MS, found, inVain: known?.inVain ?? 0 };
    this.#searches.delete(name);
    this.#searches.set(name, remembered);
    const [oldest] = this.#searches.keys();
    if (this.#searches.size > MAX_REMEMBERED && oldest !== undefined) this.#searches.delete(oldest);
    found.then(
      (logs) => {
        if (logs.length > 0) return;
        remembered.inVain++;
        if (remembered.inVain === 1) remembered.untilMs = this.nowMs() + FIRST_NOTHING_REMEMBERED_MS;
      },
      () => this.#searches.delete(name),
    );
    return found;
  }

  foundNothingTwice(search: LogSearch, event: string): boolean {
    return (this.#searches.get(nameSearch(search, event))?.inVain ?? 0) > 1;
  }
}

function nameSearch({ address, topics }: LogSearch, event: string): string {
  return JSON.stringify([address, topics, event]);
}
