import type { RpcBatcher } from '../rpc/rpc-batcher.js';
import { valueOf, type RpcResult } from '../rpc/rpc-endpoint.js';
import { RPC_TIMEOUT_MS } from '../rpc/rpc-http.js';
import { parseObject, parseQuantity } from '../rpc/rpc-value.js';

/** Wei per gas. */
export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Wei per gas. */
export interface FeeCaps extends Fees {
  /** Offered where the node suggests no priority fee. */
  defaultPriorityFeePerGas: bigint;
}

/** What a node says of the fees of the next block. Wei per gas. */
export interface FeeView {
  baseFeePerGas: bigint;
  /** Null when the node suggests none. */
  suggestedPriorityFee: bigint | null;
}

/** Fees that stay valid through six full blocks in a row, within the caps. */
export function quoteFees({ baseFeePerGas, suggestedPriorityFee }: FeeView, caps: FeeCaps): Fees {
  const tip = least(suggestedPriorityFee ?? caps.defaultPriorityFeePerGas, caps.maxPriorityFeePerGas);
  const maxFeePerGas = least(2n * baseFeePerGas + tip, caps.maxFeePerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(tip, maxFeePerGas) };
}

/**
 * Fees for a replacement with the same nonce: both at least an eighth above the last ones, as node pools demand, and no
 * less than the current quote. Null: the caps leave no room.
 */
export function raiseFees(last: Fees, quote: Fees, caps: FeeCaps): Fees | null {
  const leastTip = raise(last.maxPriorityFeePerGas);
  const leastFee = raise(last.maxFeePerGas);
  if (leastTip > caps.maxPriorityFeePerGas || leastFee > caps.maxFeePerGas) return null;
  const maxPriorityFeePerGas = most(leastTip, quote.maxPriorityFeePerGas);
  return { maxFeePerGas: most(most(leastFee, quote.maxFeePerGas), maxPriorityFeePerGas), maxPriorityFeePerGas };
}

/** 12.5 % more, rounded up; always higher than before. */
function raise(fee: bigint): bigint {
  return fee === 0n ? 1n : (fee * 9n + 7n) / 8n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function most(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export interface FeeQuotesOptions {
  batcher: RpcBatcher;
  caps: FeeCaps;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

interface Quote {
  fees: Fees | null;
  readAtMs: number;
}

/** Shorter than the age of the head from which a relayer takes its own fees. */
const FRESH_MS = 1_000;
/** Up to this age a quote is used while the next one is read, so simulations do not wait for quotes under load. */
const USABLE_MS = 5_000;

/** The fees that a relayer would offer now, for simulations. */
export class FeeQuotes {
  #last: Quote | null = null;
  #reading: Promise<Quote> | null = null;

  constructor(private readonly options: FeeQuotesOptions) {}

  /** Null when the chain asks more than the caps allow, so nothing can be mined now. @throws ChainUnavailableError */
  async read(): Promise<Fees | null> {
    const ageMs = this.#last === null ? Infinity : performance.now() - this.#last.readAtMs;
    if (this.#last !== null && ageMs < FRESH_MS) return this.#last.fees;
    const reading = this.#ask();
    if (this.#last === null || ageMs > USABLE_MS) return (await reading).fees;
    // A lasting failure comes up again, and is thrown, once the last quote is too old.
    reading.catch(() => undefined);
    return this.#last.fees;
  }

  #ask(): Promise<Quote> {
    this.#reading ??= this.#readQuote().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readQuote(): Promise<Quote> {
    const { batcher, nowMs } = this.options;
    const fees = await batcher.ask({
      calls: [
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        { method: 'eth_maxPriorityFeePerGas', params: [] },
      ],
      deadlineMs: nowMs() + RPC_TIMEOUT_MS,
      read: ([block, tip]) => this.#quote(block, tip),
    });
    this.#last = { fees, readAtMs: performance.now() };
    return this.#last;
  }

  #quote(block: RpcResult | undefined, tip: RpcResult | undefined): Fees | null {
    const { baseFeePerGas: fee } = parseObject(valueOf(block, 'eth_getBlockByNumber'), 'block');
    const baseFeePerGas = BigInt(parseQuantity(fee, 'base fee'));
    const suggestedPriorityFee = tip?.kind === 'result' ? BigInt(parseQuantity(tip.value, 'priority fee')) : null;
    const fees = quoteFees({ baseFeePerGas, suggestedPriorityFee }, this.options.caps);
    return fees.maxFeePerGas < baseFeePerGas ? null : fees;
  }
}
