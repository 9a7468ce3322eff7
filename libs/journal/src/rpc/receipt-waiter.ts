import { ChainUnavailableError, parseObject } from '@tollgate/chain';
import { isHash, type Hex } from '@tollgate/protocol';

import { pause } from '../pause.js';
import type { StepReceipt } from '../ports.js';
import { readSendAnswer } from '../read-send-answer.js';
import { parseReceipt } from './parse-receipt.js';
import type { RpcAnswer, RpcConnection } from './rpc-connection.js';

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

/** What was measured of a server that waits. */
interface Pace {
  /** From the arrival at the server to the block, without the network round trip. */
  minedMs: number;
  /** The network round trip. */
  roadMs: number;
}

/** Sends bytes to servers that answer with the receipt (EIP-7966), and remembers which servers do not. */
export class ReceiptWaiter {
  readonly #notAskedUntilMs = new Map<RpcConnection, number>();
  readonly #paces = new Map<RpcConnection, Pace>();

  /** Null: the server did not wait, or not long enough. It may or may not have the bytes: send them again. */
  async ask(connection: RpcConnection, raw: Hex, hash: Hex): Promise<AwaitedReceipt | null> {
    if (performance.now() < (this.#notAskedUntilMs.get(connection) ?? -Infinity)) return null;
    const answered = new AbortController();
    const looking = this.#look(connection, answered.signal);
    const sentAtMs = performance.now();
    const [answer, latest] = await connection.callWaiting(
      { method: 'eth_sendRawTransactionSync', params: [raw] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    );
    answered.abort();
    const tookMs = performance.now() - sentAtMs;
    try {
      if (answer.kind === 'result') {
        const receipt = parseReceipt(answer.value, hash);
        const isInChain = follows(latest, receipt) || follows(await looking, receipt);
        this.#learn(connection, tookMs);
        return { receipt, isInChain };
      }
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
    }
    // A server that refuses the bytes may still support waiting.
    const isRefused = answer.kind === 'error' && readSendAnswer(answer, hash) !== 'unknown';
    if (!isRefused) this.#notAskedUntilMs.set(connection, performance.now() + NOT_ASKED_MS);
    return null;
  }

  /**
   * The newest block, requested while the receipt is on its way. Where blocks come much faster than answers, that saves
   * a round trip. Null: not requested.
   */
  async #look(connection: RpcConnection, answered: AbortSignal): Promise<RpcAnswer | null> {
    const { minedMs, roadMs } = this.#paces.get(connection) ?? { minedMs: 0, roadMs: Infinity };
    // Twice the usual time, so that the block is mostly there.
    const waitMs = 2 * minedMs;
    if (waitMs > roadMs / 2) return null;
    await pause(waitMs, answered);
    if (answered.aborted) return null;
    const askedAtMs = performance.now();
    const block = await connection.call('eth_getBlockByNumber', ['latest', false]);
    if (block.kind === 'result') this.#paces.set(connection, { minedMs, roadMs: performance.now() - askedAtMs });
    return block;
  }

  #learn(connection: RpcConnection, tookMs: number): void {
    const pace = this.#paces.get(connection);
    if (pace) pace.minedMs += WEIGHT * (Math.max(0, tookMs - pace.roadMs) - pace.minedMs);
  }
}

/** Whether the block is the receipt's block or its child. */
function follows(answer: RpcAnswer | null, { blockHash }: StepReceipt): boolean {
  if (answer?.kind !== 'result') return false;
  const { hash, parentHash } = parseObject(answer.value, 'block');
  return [hash, parentHash].some((known) => isHash(known) && known.toLowerCase() === blockHash);
}
