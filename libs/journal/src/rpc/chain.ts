import {
  ChainUnavailableError,
  parseBigQuantity,
  parseData,
  parseHash,
  parseObject,
  parseQuantity,
  RPC_TIMEOUT_MS,
  type RpcCall,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import type { StepReceipt } from '../ports.js';
import { parseReceipt } from './parse-receipt.js';
import { ReceiptWaiter } from './receipt-waiter.js';
import { RpcConnection, type RpcAnswer } from './rpc-connection.js';

export interface ChainOptions {
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
  /** Wei. */
  baseFeePerGas: bigint;
  /** The priority fee that the server suggests, in wei; null when it suggests none. */
  suggestedPriorityFee: bigint | null;
  /** The number of the wallet's mined transactions. */
  minedNonce: number;
}

const RECENT_MS = 1000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/**
 * The chain, through one or several RPC servers. Reads throw ChainUnavailableError when no server gives a usable
 * answer.
 */
export class Chain {
  readonly chainId: number;
  readonly #connections: readonly RpcConnection[];
  #preferred = 0;
  readonly #receipts = new ReceiptWaiter();
  #recent: { address: Hex; head: Promise<Head>; sinceMs: number } | null = null;

  constructor({ chainId, rpcUrls, timeoutMs = RPC_TIMEOUT_MS, batchSize = 100 }: ChainOptions) {
    if (rpcUrls.length === 0) throw new TypeError('At least one RPC URL is needed.');
    this.chainId = chainId;
    this.#connections = rpcUrls.map(
      (url) => new RpcConnection({ url, timeoutMs, batchSize, maxResponseBytes: MAX_RESPONSE_BYTES }),
    );
  }

  /** Sends the signed bytes to every server; one answer each, which never rejects. */
  send(raw: Hex): Promise<RpcAnswer>[] {
    return this.#connections.map((connection) => connection.call('eth_sendRawTransaction', [raw]));
  }

  /**
   * Like `send`, and returns the receipt as soon as there is one if the first server waits for it (EIP-7966). Null: it
   * does not wait, or not long enough; `sent` shows whether it has the bytes.
   */
  sendAndWait(raw: Hex, hash: Hex): { receipt: Promise<StepReceipt | null>; sent: Promise<RpcAnswer>[] } {
    const waiting = this.#connections[this.#preferred % this.#connections.length];
    const receipt = waiting ? this.#awaitReceipt(waiting, raw, hash) : Promise.resolve(null);
    const sent = this.#connections.map(async (connection): Promise<RpcAnswer> => {
      // Sends the same bytes again without waiting: the server accepts or already knows them, whatever kept it from
      // waiting.
      if (connection === waiting && (await receipt) !== null) return { kind: 'result', value: hash };
      return connection.call('eth_sendRawTransaction', [raw]);
    });
    return { receipt, sent };
  }

  /** A receipt counts only while its block is the one at that height. A sequencer's announcement is not enough. */
  async #awaitReceipt(connection: RpcConnection, raw: Hex, hash: Hex): Promise<StepReceipt | null> {
    const found = await this.#receipts.ask(connection, raw, hash);
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

  #askHead(address: Hex): Promise<Head> {
    return this.#ask(
      [
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_getTransactionCount', params: [address, 'latest'] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ],
      ([chainId, block, count, tip]) => {
        this.#assertChain(resultOf(chainId));
        const { number, hash, baseFeePerGas } = parseObject(resultOf(block), 'block');
        return {
          number: parseQuantity(number, 'block number'),
          hash: parseHash(hash, 'block hash'),
          baseFeePerGas: parseBigQuantity(baseFeePerGas, 'base fee'),
          suggestedPriorityFee: tip?.kind === 'result' ? parseBigQuantity(tip.value, 'priority fee') : null,
          minedNonce: parseQuantity(resultOf(count), 'nonce'),
        };
      },
    );
  }

  /** Null where the server has no receipt. */
  readReceipts(hashes: readonly Hex[]): Promise<(StepReceipt | null)[]> {
    if (hashes.length === 0) return Promise.resolve([]);
    return this.#ask(askReceipts(hashes), (answers) => readReceiptAnswers(hashes, answers));
  }

  /**
   * The first receipt that any server has for any of these hashes. All servers are asked, and the one that has it is
   * asked first from now on. Null: those that answered have none.
   */
  async findReceipt(hashes: readonly Hex[]): Promise<StepReceipt | null> {
    const calls = [...askReceipts(hashes), { method: 'eth_chainId', params: [] }];
    const asked = await this.#askEvery(calls, (answers, index) => {
      this.#assertChain(resultOf(answers.at(-1)));
      const receipt = readReceiptAnswers(hashes, answers).find((found) => found !== null) ?? null;
      return { receipt, index };
    });
    const found = asked.find(({ receipt }) => receipt !== null);
    if (found) this.#preferred = found.index;
    return found?.receipt ?? null;
  }

  /** The hashes of these blocks on the current chain; null for a block that the server does not have. */
  async readBlockHashes(numbers: readonly number[]): Promise<Map<number, Hex | null>> {
    if (numbers.length === 0) return new Map();
    const calls = numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
    }));
    return this.#ask(calls, (answers) => {
      const hashes = answers.map((answer) => {
        const block = resultOf(answer);
        return block === null ? null : parseHash(parseObject(block, 'block').hash, 'block hash');
      });
      return new Map(numbers.map((number, index) => [number, hashes[index] ?? null]));
    });
  }

  /** The wallet's next nonce, transactions in the pool included, from the server with the highest count. */
  async readPendingNonce(address: Hex): Promise<number> {
    const calls = [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getTransactionCount', params: [address, 'pending'] },
    ];
    const nonces = await this.#askEvery(calls, ([chainId, count]) => {
      this.#assertChain(resultOf(chainId));
      return parseQuantity(resultOf(count), 'nonce');
    });
    return Math.max(...nonces);
  }

  /** Wei at the latest block. */
  readBalance(address: Hex): Promise<bigint> {
    return this.#ask([{ method: 'eth_getBalance', params: [address, 'latest'] }], ([answer]) =>
      parseBigQuantity(resultOf(answer), 'balance'),
    );
  }

  /** The bytes that the call returns at the latest block. */
  call(to: Hex, data: Hex): Promise<Hex> {
    return this.#ask([{ method: 'eth_call', params: [{ to, data }, 'latest'] }], ([answer]) =>
      parseData(resultOf(answer), 'call result'),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  #assertChain(value: unknown): void {
    const chainId = parseQuantity(value, 'chain id');
    if (chainId !== this.chainId) {
      throw new ChainUnavailableError(
        'rpc_wrong_chain',
        `An RPC server is on chain ${chainId}, not on ${this.chainId}.`,
      );
    }
  }

  /** The usable answers of all servers: at least one. */
  async #askEvery<T>(
    calls: readonly RpcCall[],
    read: (answers: readonly RpcAnswer[], index: number) => T,
  ): Promise<T[]> {
    const asked = await Promise.allSettled(
      this.#connections.map((connection, index) => askOne(connection, calls, (answers) => read(answers, index))),
    );
    const answered = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    if (answered.length === 0) throw new ChainUnavailableError('rpc_unreachable', 'No RPC server answers.');
    return answered;
  }

  /** Stays with the server that answered last, so that the reads of one pass mostly see one state of the chain. */
  async #ask<T>(calls: readonly RpcCall[], read: (answers: readonly RpcAnswer[]) => T): Promise<T> {
    let trouble: unknown;
    for (let tried = 0; tried < this.#connections.length; tried++) {
      const index = this.#preferred % this.#connections.length;
      const connection = this.#connections[index];
      if (!connection) break;
      try {
        return await askOne(connection, calls, read);
      } catch (error) {
        trouble = error;
        if (this.#preferred === index) this.#preferred = (index + 1) % this.#connections.length;
      }
    }
    if (trouble instanceof ChainUnavailableError) throw trouble;
    throw new ChainUnavailableError('rpc_unreachable', 'No RPC server answers.', { cause: trouble });
  }
}

async function askOne<T>(
  connection: RpcConnection,
  calls: readonly RpcCall[],
  read: (answers: readonly RpcAnswer[]) => T,
): Promise<T> {
  return read(await Promise.all(calls.map(({ method, params }) => connection.call(method, params))));
}

function askReceipts(hashes: readonly Hex[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
}

function readReceiptAnswers(hashes: readonly Hex[], answers: readonly RpcAnswer[]): (StepReceipt | null)[] {
  return hashes.map((hash, index) => {
    const value = resultOf(answers[index]);
    return value === null ? null : parseReceipt(value, hash);
  });
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer?.kind === 'result') return answer.value;
  if (answer?.kind === 'error')
    throw new ChainUnavailableError('rpc_error', `The RPC server refused a request with code ${answer.code}.`);
  throw new ChainUnavailableError('rpc_unreachable', answer?.why ?? 'The RPC server left an answer out.');
}
