import { quoteFees, type FeeCaps, type FeeView, type QuotedFees } from '@tollgate/protocol';

import type { RpcBatcher } from '../rpc/rpc-batcher.js';
import { valueOf, type RpcResult } from '../rpc/rpc-endpoint.js';
import { RPC_TIMEOUT_MS } from '../rpc/rpc-http.js';
import { parseBigQuantity, parseObject } from '../rpc/rpc-value.js';

export interface FeeQuotesOptions {
  batcher: RpcBatcher;
  caps: FeeCaps;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

interface Quote {
  fees: QuotedFees | null;
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
  async read(): Promise<QuotedFees | null> {
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
        { method: 'eth_gasPrice', params: [] },
      ],
      deadlineMs: nowMs() + RPC_TIMEOUT_MS,
      read: ([block, tip, price]) =>
        this.#quote(readFees(parseObject(valueOf(block, 'eth_getBlockByNumber'), 'block'), tip, price)),
    });
    this.#last = { fees, readAtMs: performance.now() };
    return this.#last;
  }

  #quote(view: FeeView): QuotedFees | null {
    const fees = quoteFees(view, this.options.caps);
    return fees.maxFeePerGas < (view.baseFeePerGas ?? view.gasPrice) ? null : fees;
  }
}

/**
 * The fees that a block asks for.
 * @param price the answer about the gas price, which is read only where the chain has no base fee
 */
export function readFees(
  { baseFeePerGas: fee }: Record<string, unknown>,
  tip: RpcResult | undefined,
  price: RpcResult | undefined,
): FeeView {
  if (fee === undefined || fee === null) {
    return { baseFeePerGas: null, gasPrice: parseBigQuantity(valueOf(price, 'eth_gasPrice'), 'gas price') };
  }
  const suggestedPriorityFee = tip?.kind === 'result' ? parseBigQuantity(tip.value, 'priority fee') : null;
  return { baseFeePerGas: parseBigQuantity(fee, 'base fee'), suggestedPriorityFee };
}
