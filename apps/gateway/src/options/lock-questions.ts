import { clientNetwork } from '@tollgate/http';
import { lowerHex, type Hex } from '@tollgate/protocol';
import { VERIFY_LOCK } from '@tollgate/transport';

import type { JudgedOption } from './judged-options.js';

export interface LockQuestionsParts {
  readonly options: readonly JudgedOption[];
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  /** The clock of the ledger's Redis. */
  readonly nowMs: () => number;
}

/** The transaction that a phone reports, and the ticket that it reports it for. */
export interface LockQuestion {
  readonly txHash: Hex;
  readonly lock: Hex;
  /** The name of the option that the ticket is for. */
  readonly option: string;
  readonly priceBaseUnits: bigint;
  readonly requestId: string;
  readonly clientAddress: string;
}

/** By this gateway, on one chain; payers' own questions go through the same queue. */
const MOST_AT_ONCE = 4;

/** Asks the verifiers whether transactions have paid under locks. */
export class LockQuestions {
  /** By chain. */
  readonly #asked = new Map<number, number>();

  constructor(private readonly parts: LockQuestionsParts) {}

  /** False also where it is not known now, and while too many questions are asked. */
  async isPaid({ priceBaseUnits, txHash, option: name, ...question }: LockQuestion): Promise<boolean> {
    const judged = this.parts.options.find(({ option }) => option.name === name);
    if (judged === undefined) return false;
    const { verifier, option } = judged;
    const chainId = option.chain.id;
    const asked = this.#asked.get(chainId) ?? 0;
    if (asked >= MOST_AT_ONCE) return false;
    this.#asked.set(chainId, asked + 1);
    const { verifyDeadlineMs: timeoutMs, verifyRetryMs: retryAfterMs, nowMs } = this.parts;
    const request = {
      ...question,
      chainId,
      asset: option.asset,
      payTo: option.payTo,
      deadlineMs: nowMs() + timeoutMs,
      priceBaseUnits: priceBaseUnits.toString(),
      txHash: lowerHex(txHash),
      clientAddress: clientNetwork(question.clientAddress),
    };
    try {
      const options = { timeoutMs, retryAfterMs, requestId: question.requestId };
      return (await verifier.ask(VERIFY_LOCK, request, options)).outcome === 'paid';
    } catch {
      return false;
    } finally {
      this.#asked.set(chainId, (this.#asked.get(chainId) ?? 1) - 1);
    }
  }
}
