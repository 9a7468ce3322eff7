import {
  ChainUnavailableError,
  combineObservers,
  MISSING,
  parseBigQuantity,
  parseData,
  parseHash,
  parseObject,
  parseQuantity,
  readFees,
  RPC_TIMEOUT_MS,
  RpcBatcher,
  RpcEndpoint,
  RpcEndpoints,
  valueOf,
  type RpcCall,
  type RpcResult,
} from '@tollgate/chain';
import { addGasMargin, isDelegated, type FeeView, type Hex } from '@tollgate/protocol';

import type { StepReceipt } from '../jobs/ports.js';
import type { SendReply } from './read-send-answer.js';
import { parseStepReceipt, ReceiptWaiter } from './receipt-waiter.js';

interface ChainOptions {
  chainId: number;
  /** Signed transactions go to all of them; reads go to the first that answers. */
  rpcUrls: readonly string[];
  /** Default RPC_TIMEOUT_MS. */
  timeoutMs?: number;
  /** Calls per request. Default 100; 1 for servers that do not support batches. */
  batchSize?: number;
}

/** The latest block as one RPC server sees it, and the wallet's nonce there. */
export interface Head {
  number: number;
  hash: Hex;
  fees: FeeView;
  /** The number of the wallet's mined transactions. */
  minedNonce: number;
  /** Whether the wallet has delegated code (EIP-7702): nodes then take one transaction at a time from it. */
  isDelegated: boolean;
}

/** A transfer to an account without code needs exactly this on most chains. */
const PLAIN_GAS = 21_000n;
const RECENT_MS = 1000;
const MAX_REQUESTS = 8;
/** The limit of concurrent requests that a server answers only after waiting. */
const MAX_WAITING = 64;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/**
 * The chain, through one or several RPC servers. Reads throw ChainUnavailableError when no server gives a usable
 * answer.
 */
export class Chain {
  readonly chainId: number;
  readonly #servers: RpcEndpoints;
  readonly #reads: RpcBatcher;
  /** One for each server. They ask once: only the lane decides when bytes are sent again. */
  readonly #each: readonly RpcBatcher[];
  readonly #waiters: readonly ReceiptWaiter[];
  readonly #readWithinMs: number;
  /** Whether the last head had no base fee, so that the gas price is asked for with the next one. */
  #isLegacy = false;
  #recent: { address: Hex; head: Promise<Head>; sinceMs: number } | null = null;

  constructor({ chainId, rpcUrls, timeoutMs = RPC_TIMEOUT_MS, batchSize = 100 }: ChainOptions) {
    if (rpcUrls.length === 0) throw new TypeError('At least one RPC URL is needed.');
    this.chainId = chainId;
    const connect = (url: string, connections: number) =>
      new RpcEndpoint({ url, connections, connectTimeoutMs: timeoutMs, callsPerRequest: batchSize }, chainId);
    const endpoints = rpcUrls.map((url) => connect(url, MAX_REQUESTS));
    const among = (some: readonly RpcEndpoint[]) => new RpcEndpoints(some, timeoutMs, combineObservers(), nowMs);
    this.#servers = among(endpoints);
    this.#reads = createBatcher(this.#servers, batchSize);
    this.#each = endpoints.map((endpoint) => createBatcher(among([endpoint]), batchSize, []));
    const limits = { timeoutMs, maxBytes: MAX_RESPONSE_BYTES };
    this.#waiters = rpcUrls.map((url) => new ReceiptWaiter(connect(url, MAX_WAITING), limits));
    this.#readWithinMs = timeoutMs * rpcUrls.length;
  }

  /** Sends the signed bytes to every server; one answer each, which never rejects. */
  send(raw: Hex): Promise<SendReply>[] {
    return this.#each.map((server) => sendOnce(server, raw));
  }

  /**
   * Like `send`, and returns the receipt as soon as there is one if the first server waits for it (EIP-7966). Null: it
   * does not wait, or not long enough; `sent` shows whether it has the bytes.
   */
  sendAndWait(raw: Hex, hash: Hex): { receipt: Promise<StepReceipt | null>; sent: Promise<SendReply>[] } {
    const waiting = this.#servers.next;
    const receipt = this.#awaitReceipt(waiting, raw, hash);
    const sent = this.#each.map(async (server, index): Promise<SendReply> => {
      // Sends the same bytes again without waiting: the server accepts or already knows them, whatever kept it from
      // waiting.
      if (index === waiting && (await receipt) !== null) return { kind: 'result', value: hash };
      return sendOnce(server, raw);
    });
    return { receipt, sent };
  }

  /** A receipt counts only while its block is the one at that height. A sequencer's announcement is not enough. */
  async #awaitReceipt(server: number, raw: Hex, hash: Hex): Promise<StepReceipt | null> {
    const found = (await this.#waiters[server]?.ask(raw, hash)) ?? null;
    if (found === null || found.isInChain) return found && found.receipt;
    const { blockNumber, blockHash } = found.receipt;
    const hashes = await this.readBlockHashes([blockNumber]).catch(() => null);
    return hashes?.get(blockNumber) === blockHash ? found.receipt : null;
  }

  /** A head that was read less than a second ago; fees may be that old. */
  readRecentHead(address: Hex): Promise<Head> {
    const recent = this.#recent;
    if (recent?.address === address && performance.now() - recent.sinceMs < RECENT_MS) return recent.head;
    return this.readHead(address);
  }

  readHead(address: Hex): Promise<Head> {
    const head = this.#askHead(address);
    const asked = { address, head, sinceMs: performance.now() };
    this.#recent = asked;
    head.catch(() => {
      if (this.#recent === asked) this.#recent = null;
    });
    return head;
  }

  async #askHead(address: Hex): Promise<Head> {
    const calls: RpcCall[] = [
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_getTransactionCount', params: [address, 'latest'] },
      { method: 'eth_maxPriorityFeePerGas', params: [] },
      { method: 'eth_getCode', params: [address, 'latest'] },
    ];
    if (this.#isLegacy) calls.push({ method: 'eth_gasPrice', params: [] });
    const head = await this.#ask(calls, ([block, count, tip, code, price]) => {
      const found = parseObject(valueOf(block, 'eth_getBlockByNumber'), 'block');
      const isUnasked = price === undefined && (found.baseFeePerGas ?? null) === null;
      return {
        number: parseQuantity(found.number, 'block number'),
        hash: parseHash(found.hash, 'block hash'),
        fees: isUnasked ? null : readFees(found, tip, price),
        minedNonce: parseQuantity(valueOf(count, 'eth_getTransactionCount'), 'nonce'),
        isDelegated: isDelegated(parseData(valueOf(code, 'eth_getCode'), 'code')),
      };
    });
    const { fees } = head;
    this.#isLegacy = fees === null || fees.baseFeePerGas === null;
    return fees ? { ...head, fees } : this.#askHead(address);
  }

  /** Null where the server has no receipt. */
  readReceipts(hashes: readonly Hex[]): Promise<(StepReceipt | null)[]> {
    if (hashes.length === 0) return Promise.resolve([]);
    return this.#ask(askReceipts(hashes), (results) => readReceipts(hashes, results));
  }

  /**
   * The first receipt that any server has for any of these hashes. All servers are asked, and the one that has it is
   * asked first from now on. Null: those that answered have none.
   */
  async findReceipt(hashes: readonly Hex[]): Promise<StepReceipt | null> {
    const found = await this.#askEach(askReceipts(hashes), (results) =>
      readReceipts(hashes, results).find((receipt) => receipt !== null),
    );
    const [first] = found.filter(({ value }) => value !== undefined);
    if (first) this.#servers.prefer(first.server);
    return first?.value ?? null;
  }

  /** The hashes of these blocks on the current chain; null for a block that the server does not have. */
  async readBlockHashes(numbers: readonly number[]): Promise<Map<number, Hex | null>> {
    if (numbers.length === 0) return new Map();
    const calls = numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
    }));
    return this.#ask(calls, (results) => {
      const hashes = numbers.map((_, index) => {
        const block = valueOf(results[index], 'eth_getBlockByNumber');
        return block === null ? null : parseHash(parseObject(block, 'block').hash, 'block hash');
      });
      return new Map(numbers.map((number, index) => [number, hashes[index] ?? null]));
    });
  }

  /** The wallet's next nonce, transactions in the pool included, from the server with the highest count. */
  async readPendingNonce(address: Hex): Promise<number> {
    const calls = [{ method: 'eth_getTransactionCount', params: [address, 'pending'] }];
    const nonces = await this.#askEach(calls, ([count]) =>
      parseQuantity(valueOf(count, 'eth_getTransactionCount'), 'nonce'),
    );
    return Math.max(...nonces.map(({ value }) => value));
  }

  /** The account's mined and pending transactions, as each server that answers counts them. */
  async readCounts(address: Hex): Promise<{ mined: number; pending: number }[]> {
    const ask = (block: string) => ({ method: 'eth_getTransactionCount', params: [address, block] });
    const counts = await this.#askEach([ask('latest'), ask('pending')], ([mined, pending]) => ({
      mined: parseQuantity(valueOf(mined, 'eth_getTransactionCount'), 'nonce'),
      pending: parseQuantity(valueOf(pending, 'eth_getTransactionCount'), 'nonce'),
    }));
    return counts.map(({ value }) => value);
  }

  /** Wei at the latest block. */
  readBalance(address: Hex): Promise<bigint> {
    return this.#ask([{ method: 'eth_getBalance', params: [address, 'latest'] }], ([balance]) =>
      parseBigQuantity(valueOf(balance, 'eth_getBalance'), 'balance'),
    );
  }

  /** The gas limit for a transfer of nothing from the account to itself. */
  estimateTransfer(address: Hex): Promise<bigint> {
    const calls = [
      { method: 'eth_estimateGas', params: [{ from: address, to: address, value: '0x0' }] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ];
    return this.#ask(calls, ([estimate, block]) => {
      const gas = parseBigQuantity(valueOf(estimate, 'eth_estimateGas'), 'gas');
      const { gasLimit } = parseObject(valueOf(block, 'eth_getBlockByNumber'), 'block');
      return gas === PLAIN_GAS ? gas : addGasMargin(gas, parseBigQuantity(gasLimit, 'gas limit'));
    });
  }

  /** The bytes that the call returns at the latest block. */
  call(to: Hex, data: Hex): Promise<Hex> {
    return this.#ask([{ method: 'eth_call', params: [{ to, data }, 'latest'] }], ([result]) =>
      parseData(valueOf(result, 'eth_call'), 'call result'),
    );
  }

  async close(): Promise<void> {
    for (const batcher of [this.#reads, ...this.#each]) batcher.close();
    await Promise.all([this.#servers, ...this.#waiters].map((connected) => connected.close()));
  }

  #ask<T>(calls: readonly RpcCall[], readAll: (results: readonly RpcResult[]) => T): Promise<T> {
    return this.#reads.ask({ calls, read: readAll, deadlineMs: nowMs() + this.#readWithinMs });
  }

  /** The usable answers of all servers: at least one. */
  async #askEach<T>(
    calls: readonly RpcCall[],
    readAll: (results: readonly RpcResult[]) => T,
  ): Promise<{ value: T; server: number }[]> {
    const asked = await Promise.allSettled(
      this.#each.map((server) => server.ask({ calls, read: readAll, deadlineMs: Infinity })),
    );
    const answered = asked.flatMap((one, server) => (one.status === 'fulfilled' ? [{ value: one.value, server }] : []));
    if (answered.length === 0) throw new ChainUnavailableError('rpc_unreachable', 'No RPC server answers.');
    return answered;
  }
}

const nowMs = () => performance.now();

function createBatcher(endpoints: RpcEndpoints, batchSize: number, retryDelaysMs?: readonly number[]): RpcBatcher {
  return new RpcBatcher({
    endpoints,
    batchSize,
    batchesInFlight: MAX_REQUESTS,
    observer: combineObservers(),
    nowMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    maxReceiptBytes: MAX_RESPONSE_BYTES,
    ...(retryDelaysMs && { retryDelaysMs }),
  });
}

function sendOnce(server: RpcBatcher, raw: Hex): Promise<SendReply> {
  const calls = [{ method: 'eth_sendRawTransaction', params: [raw] }];
  return server
    .ask<SendReply>({ calls, deadlineMs: Infinity, read: ([result = MISSING]) => result })
    .catch((error: Error) => ({ kind: 'unanswered', error }));
}

function askReceipts(hashes: readonly Hex[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
}

function readReceipts(hashes: readonly Hex[], results: readonly RpcResult[]): (StepReceipt | null)[] {
  return hashes.map((hash, index) => parseStepReceipt(valueOf(results[index], 'eth_getTransactionReceipt'), hash));
}
