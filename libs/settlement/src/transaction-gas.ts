import { parseBigQuantity, parseObject, RPC_TIMEOUT_MS, type RpcBatcher, valueOf } from '@tollgate/chain';

/** Chains with EIP-7825 accept no transaction with more gas. */
const TRANSACTION_CAP = 1n << 24n;
/** The share of a block: a transaction that needs a whole one waits for a block without others. */
const PER_BLOCK = 2n;
const FRESH_MS = 60_000;

interface TransactionGasOptions {
  batcher: RpcBatcher;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/** The most gas that a transaction of several payments may have on this chain. */
export class TransactionGas {
  #last: Promise<bigint> | null = null;
  #readAtMs = -Infinity;

  constructor(private readonly options: TransactionGasOptions) {}

  /** Waits for the chain the first time only; later the last value is used while it is read again. @throws ChainUnavailableError */
  read(): Promise<bigint> {
    const last = this.#last;
    if (last !== null && performance.now() - this.#readAtMs < FRESH_MS) return last;
    this.#readAtMs = performance.now();
    const asked = this.#ask();
    // A value that is known stays until there is a newer one.
    asked.then(
      () => (this.#last = asked),
      () => (this.#last = last),
    );
    this.#last ??= asked;
    return this.#last;
  }

  #ask(): Promise<bigint> {
    const { batcher, nowMs } = this.options;
    return batcher.ask({
      calls: [{ method: 'eth_getBlockByNumber', params: ['latest', false] }],
      deadlineMs: nowMs() + RPC_TIMEOUT_MS,
      read: ([block]) => {
        const { gasLimit } = parseObject(valueOf(block, 'eth_getBlockByNumber'), 'block');
        const share = parseBigQuantity(gasLimit, 'gas limit') / PER_BLOCK;
        return share < TRANSACTION_CAP ? share : TRANSACTION_CAP;
      },
    });
  }
}
