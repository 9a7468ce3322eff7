import { Logger } from '@nestjs/common';
import { SampledLogger } from '@tollgate/common';
import { clientNetwork } from '@tollgate/http';
import type { FastifyRequest } from 'fastify';

import type { ProblemAnswer, ResourceAnswer } from './answer/answer.js';
import type { MadePayment } from './answer/settlement-headers.js';
import { paymentFactsOf, type Order } from './present/purchase.js';
import type { Visit } from './revisits/visits.js';

export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly clientAddress: string;
}

/** The facts that are logged of any request. */
export function factsOf(request: FastifyRequest, path: string): RequestFacts {
  return { requestId: request.id, method: request.method, path, clientAddress: request.ip };
}

/** Identifies a payment by its transaction, or by its payer and nonce. */
export interface PaymentFacts {
  readonly txHash?: string;
  readonly payer?: string;
  readonly nonce?: string;
  /** Where people look at its transactions; not printed. */
  readonly explorerUrl?: string | null;
}

/**
 * Logs one line for each presented payment with its outcome, never the payment header itself. Refused payments, which
 * any client can fabricate, are sampled per client.
 */
export class PaywallLog {
  readonly #logger = new Logger('Paywall');
  readonly #refunds = new Logger('Refunds');
  readonly #unbought = new SampledLogger('Paywall');

  unpaid(facts: RequestFacts): void {
    this.#logger.log({ msg: 'unpaid', ...facts });
  }

  refused(facts: RequestFacts & PaymentFacts & { failure: string; reason?: string }): void {
    const line = { msg: 'payment refused', ...withLink(facts, facts.txHash) };
    this.#unbought.log(about(facts, facts.failure), line);
  }

  answered(facts: RequestFacts & PaymentFacts & { durationMs: number }, answer: ResourceAnswer | ProblemAnswer): void {
    if (answer.kind === 'resource') {
      const txHash = answer.txHash ?? facts.txHash;
      this.#logger.log({
        msg: `answered: ${answer.origin}`,
        ...withLink(facts, txHash),
        ...(txHash === undefined ? {} : { txHash }),
        ...(answer.amountBaseUnits === undefined ? {} : { amountBaseUnits: answer.amountBaseUnits }),
        status: answer.status,
      });
      return;
    }
    const line = this.#describe(facts, answer);
    if (answer.problem.status >= 500) this.#logger.warn(line);
    else this.#logger.log(line);
  }

  /** A payment that was not claimed for this request, or could not be verified. */
  turnedAway(
    facts: RequestFacts & PaymentFacts & { durationMs: number; reason?: string },
    answer: ProblemAnswer,
  ): void {
    const { status, code } = answer.problem;
    const line = this.#describe(facts, answer);
    const like = about(facts, facts.reason ?? code);
    if (status >= 500) this.#unbought.warn(like, line);
    else this.#unbought.log(like, line);
  }

  failed(error: unknown, { purchase, caller }: Order): void {
    const { requestId } = caller;
    const facts = { requestId, route: purchase.endpoint.route.path, ...paymentFactsOf(purchase) };
    this.#logger.error({ msg: 'the resource failed', ...facts, err: error });
  }

  /** Each, since without a bookkeeper nothing else names the payment and why it is owed. */
  owed(payment: string, { payer, txHash, amountBaseUnits }: MadePayment, { purchase, caller }: Order): void {
    const facts = { requestId: caller.requestId, route: purchase.endpoint.route.path, path: purchase.sent.path };
    const money = { payment, payer, ...(txHash !== null && { txHash }), ...(amountBaseUnits && { amountBaseUnits }) };
    const msg = 'payment to refund: a redirect released it, and its target has a price of its own';
    const { explorer: explorerUrl } = purchase.sold.judged.option.chain;
    this.#refunds.warn({ msg, ...withLink({ ...facts, explorerUrl }, txHash ?? undefined), ...money });
  }

  visitFailed(error: unknown, { endpoint, signIn }: Visit, requestId: string): void {
    this.#logger.error({
      msg: 'a revisit failed',
      requestId,
      route: endpoint.route.path,
      payer: signIn.address,
      err: error,
    });
  }

  /** Called at the end of the process. */
  flush(): void {
    this.#unbought.flush();
  }

  #describe(facts: RequestFacts & PaymentFacts & { durationMs: number }, { problem, released }: ProblemAnswer): object {
    const { status, code } = problem;
    return { msg: `not answered: ${code}`, ...withLink(facts, facts.txHash), status, released };
  }
}

/** The facts as they are printed: a line about a transaction links to the explorer of its chain. */
function withLink({ explorerUrl, ...facts }: Pick<PaymentFacts, 'explorerUrl'>, txHash: string | undefined): object {
  if (explorerUrl == null || txHash === undefined) return facts;
  return { ...facts, explorer: `${explorerUrl.replace(/\/$/, '')}/tx/${txHash}` };
}

function about({ clientAddress }: RequestFacts, reason: string): { client: string; reason: string } {
  return { client: clientNetwork(clientAddress), reason };
}
