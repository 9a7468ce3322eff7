import {
  ChainUnavailableError,
  MISSING,
  parseBigQuantity,
  parseObject,
  parseReceipt,
  type BatchLimits,
  type RpcCall,
  type RpcEndpoint,
  type RpcResult,
} from '@tollgate/chain';
import { isHash, lowerHex, type Hex } from '@tollgate/protocol';

import type { StepReceipt } from '../jobs/ports.js';
import { pause } from '../pause.js';
import { readSendAnswer } from './read-send-answer.js';

/**
 * Null when there is none yet.
 * @throws ChainUnavailableError when the value is not a receipt, or belongs to another transaction
 */
export function parseStepReceipt(value: unknown, hash: Hex): StepReceipt | null {
  const receipt = parseReceipt(value, lowerHex(hash));
  if (receipt === null) return null;
  const { txHash: transactionHash, blockHash, blockNumber, status, logs } = receipt;
  const { gasUsed, effectiveGasPrice } = parseObject(value, 'receipt');
  return {
    transactionHash,
    blockHash,
    blockNumber,
    logs,
    status: status === 'success' ? 'success' : 'reverted',
    gasUsed: parseBigQuantity(gasUsed, 'gas used'),
    ...(effectiveGasPrice !== undefined && { effectiveGasPrice: parseBigQuantity(effectiveGasPrice, 'gas price') }),
  };
}

/** A server that did not wait is not asked to wait again for this long. */
const NOT_ASKED_MS = 60_000;
/** The weight of the latest transaction in the moving average. */
const WEIGHT = 0.2;

export interface AwaitedReceipt {
  receipt: StepReceipt;
  /**
   * The newest block, read at the same time, is the receipt's block or its child. A server may process the calls of one
   * request in any order.
   */
  isInChain: boolean;
}

const NEWEST_BLOCK: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', false] };

/** Sends bytes to a server that answers with the receipt (EIP-7966), and remembers if it does not. */
export class ReceiptWaiter {
  readonly #endpoint: RpcEndpoint;
  readonly #limits: BatchLimits;
  #notAskedUntilMs = -Infinity;
  /** From the arrival at the server to the block, without the network round trip; a moving average. */
  #minedMs = 0;
  /** The network round trip. */
  #roadMs = Infinity;

  constructor(endpoint: RpcEndpoint, limits: BatchLimits) {
    this.#endpoint = endpoint;
    this.#limits = limits;
  }

  /** Null: the server did not wait, or not long enough. It may or may not have the bytes: send them again. */
  async ask(raw: Hex, hash: Hex): Promise<AwaitedReceipt | null> {
    if (performance.now() < this.#notAskedUntilMs) return null;
    const answered = new AbortController();
    const looks = this.#look(answered.signal);
    const sentAtMs = performance.now();
    const sending = { method: 'eth_sendRawTransactionSync', params: [raw] };
    const [answer = MISSING, latest = MISSING] = await this.#post([sending, NEWEST_BLOCK]);
    answered.abort();
    const tookMs = performance.now() - sentAtMs;
    try {
      const receipt = answer.kind === 'result' ? parseStepReceipt(answer.value, hash) : null;
      if (receipt !== null) {
        const isInChain = follows(latest, receipt) || (await followsAny(looks, receipt));
        this.#minedMs += WEIGHT * (Math.max(0, tookMs - this.#roadMs) - this.#minedMs);
        return { receipt, isInChain };
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
    }
    // A server that refuses the bytes may still support waiting.
    const isRefused = answer.kind === 'error' && readSendAnswer(answer, hash) !== 'unknown';
    if (!isRefused) this.#notAskedUntilMs = performance.now() + NOT_ASKED_MS;
    return null;
  }

  close(): Promise<void> {
    return this.#endpoint.close();
  }

  /**
   * The newest block, requested while the receipt is on its way: twice, as the first may be too early. Where blocks come
   * faster than answers, that saves a round trip. Null: not requested.
   */
  #look(answered: AbortSignal): Promise<RpcResult | null>[] {
    // Somewhat later than usual, so that the block is mostly there.
    const first = 1.25 * this.#minedMs;
    if (first > this.#roadMs) return [];
    if (this.#roadMs === Infinity) return [this.#readBlockAfter(first, answered)];
    const waits = [Math.max(first, this.#roadMs / 10), Math.max(2 * first, this.#roadMs / 3)];
    return waits.map((waitMs) => this.#readBlockAfter(waitMs, answered));
  }

  async #readBlockAfter(waitMs: number, answered: AbortSignal): Promise<RpcResult | null> {
    await pause(waitMs, answered);
    if (answered.aborted) return null;
    const askedAtMs = performance.now();
    const [block = MISSING] = await this.#post([NEWEST_BLOCK]);
    if (block.kind === 'result') this.#roadMs = performance.now() - askedAtMs;
    return block;
  }

  /** No results where the server gives no valid answer. */
  async #post(calls: readonly RpcCall[]): Promise<RpcResult[]> {
    return this.#endpoint.post(calls, this.#limits).then(
      ({ results }) => results,
      () => [],
    );
  }
}

async function followsAny(looks: readonly Promise<RpcResult | null>[], receipt: StepReceipt): Promise<boolean> {
  for (const look of looks) if (follows(await look, receipt)) return true;
  return false;
}

/** Whether the block is the receipt's block or its child. */
function follows(answer: RpcResult | null, { blockHash }: StepReceipt): boolean {
  if (answer?.kind !== 'result') return false;
  const { hash, parentHash } = parseObject(answer.value, 'block');
  return [hash, parentHash].some((known) => isHash(known) && known.toLowerCase() === blockHash);
}
