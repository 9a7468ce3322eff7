import { Logger } from '@nestjs/common';

import type { Visit } from '../revisits/visit.js';
import type { ProblemAnswer, ResourceAnswer } from './answer.js';
import { namePayment } from './purchase.js';
import type { Order } from './resource-request.js';

export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly clientAddress: string;
}

/** A payment by the transaction that made it, or by who signed it. */
export interface PaymentFacts {
  readonly txHash?: string;
  readonly payer?: string;
  readonly nonce?: string;
}

/** One line for each proof that was presented, with its outcome; a proof itself is in none of them. */
export class PaywallLog {
  readonly #logger = new Logger('Paywall');

  /** With an explorer, each line about a transaction links to it. */
  constructor(private readonly explorerUrl?: string) {}

  unpaid(facts: RequestFacts): void {
    this.#logger.log({ msg: 'unpaid', ...facts });
  }

  refused(facts: RequestFacts & PaymentFacts & { failure: string; reason?: string }): void {
    this.#logger.log({ msg: 'payment refused', ...facts, ...this.#link(facts.txHash) });
  }

  answered(facts: RequestFacts & PaymentFacts & { durationMs: number }, answer: ResourceAnswer | ProblemAnswer): void {
    if (answer.kind === 'resource') {
      const txHash = answer.txHash ?? facts.txHash;
      this.#logger.log({
        msg: `answered: ${answer.origin}`,
        ...facts,
        ...(txHash === undefined ? {} : { txHash }),
        ...this.#link(txHash),
        ...(answer.amountBaseUnits === undefined ? {} : { amountBaseUnits: answer.amountBaseUnits }),
        status: answer.status,
      });
      return;
    }
    const { status, code } = answer.problem;
    const line = {
      msg: `not answered: ${code}`,
      ...facts,
      ...this.#link(facts.txHash),
      status,
      released: answer.released,
    };
    if (status >= 500) this.#logger.warn(line);
    else this.#logger.log(line);
  }

  unavailable(facts: RequestFacts & PaymentFacts & { reason: string }): void {
    this.#logger.warn({ msg: 'verification unavailable', ...facts });
  }

  failed(error: unknown, { purchase, caller }: Order): void {
    const { requestId } = caller;
    const facts = { requestId, route: purchase.endpoint.route.path, ...namePayment(purchase) };
    this.#logger.error({ msg: 'the resource failed', ...facts, err: error });
  }

  visitFailed(error: unknown, { endpoint, signIn }: Visit, requestId: string): void {
    this.#logger.error({
      ...{ msg: 'a visit failed', requestId, route: endpoint.route.path, payer: signIn.address },
      err: error,
    });
  }

  #link(txHash: string | undefined): { explorer?: string } {
    if (this.explorerUrl === undefined || txHash === undefined) return {};
    return { explorer: `${this.explorerUrl.replace(/\/$/, '')}/tx/${txHash}` };
  }
}
