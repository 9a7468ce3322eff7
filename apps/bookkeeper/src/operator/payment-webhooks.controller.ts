import { Inject } from '@nestjs/common';
import { readNewestNumber } from '@tollgate/book';
import { ApiKeyStore, ProblemError, type Problem } from '@tollgate/http';
import { describeLetter, describeTarget, type WebhookTarget } from '@tollgate/webhooks';

import { BookHolder } from '../book/book-holder.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

const NOT_FOUND: Problem = {
  status: 404,
  code: 'webhook_not_found',
  detail: 'This API key has no such webhook target.',
};

/** The webhook targets of the caller's key: they receive what the key may read. */
@OperatorController()
export class PaymentWebhooksController {
  readonly #apiKeys: ApiKeyStore;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(PaymentWebhooks) private readonly payments: PaymentWebhooks,
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
  ) {
    this.#apiKeys = new ApiKeyStore(commands);
  }

  @Serve('POST /operator/webhooks')
  async register({ caller: { id: keyId }, body: { url, events } }: Operator<'POST /operator/webhooks'>) {
    const { webhooks } = this.payments;
    const from = (await readNewestNumber(this.book.writer.database)) + 1;
    const result = await webhooks.targets.register({ keyId, url, events, hearsAll: true, from });
    switch (result.outcome) {
      case 'registered':
        return { ...(await this.#describe(result.target)), secret: webhooks.secretOf(result.target.id) };
      case 'refused':
        throw new ProblemError({ status: 422, code: 'webhook_target_refused', detail: result.reason });
      case 'full': {
        const detail = `This API key has reached its limit of ${result.limit} webhook targets. Remove one first.`;
        throw new ProblemError({ status: 409, code: 'too_many_webhooks', detail });
      }
    }
  }

  @Serve('GET /operator/webhooks')
  async list({ caller }: Operator<'GET /operator/webhooks'>) {
    const { targets } = await this.payments.webhooks.targets.list(caller.id);
    return { webhooks: await Promise.all(targets.map((target) => this.#describe(target))) };
  }

  @Serve('GET /operator/webhooks/dead-letters')
  async listDeadDeliveries({ caller, query: { limit } }: Operator<'GET /operator/webhooks/dead-letters'>) {
    const { targets, deliveries } = this.payments.webhooks;
    const letters = await deliveries.listDead((await targets.list(caller.id)).targets, limit);
    return { deadLetters: letters.map(describeLetter) };
  }

  @Serve('POST /operator/webhooks/:id/resend')
  async resend({ caller, id }: Operator<'POST /operator/webhooks/:id/resend'>) {
    const target = await this.#find(caller.id, id);
    return { resent: target.disabled === null ? await this.payments.webhooks.deliveries.resendAll(target) : 0 };
  }

  @Serve('POST /operator/webhooks/:id/enable')
  async enable({ caller, id }: Operator<'POST /operator/webhooks/:id/enable'>) {
    const enabled = await this.payments.webhooks.targets.enable(await this.#find(caller.id, id));
    if (enabled === null) throw new ProblemError(NOT_FOUND);
    return this.#describe(enabled);
  }

  @Serve('DELETE /operator/webhooks/:id')
  async remove({ caller, id }: Operator<'DELETE /operator/webhooks/:id'>): Promise<void> {
    const { targets } = this.payments.webhooks;
    const { targets: readable, unreadable } = await targets.list();
    const target = [...readable, ...unreadable].find((one) => one.id === id);
    // No request can come from a key that Redis has lost.
    const isAllowed = target?.keyId === caller.id || (target && (await this.#apiKeys.read(target.keyId)) === null);
    if (target === undefined || isAllowed !== true || !(await targets.remove(target)))
      throw new ProblemError(NOT_FOUND);
  }

  /** @throws ProblemError for a target that the key does not have */
  async #find(keyId: string, id: string): Promise<WebhookTarget> {
    const { targets } = await this.payments.webhooks.targets.list(keyId);
    const target = targets.find((one) => one.id === id);
    if (target === undefined) throw new ProblemError(NOT_FOUND);
    return target;
  }

  async #describe(target: WebhookTarget) {
    const { waiting, crowdedOut } = await this.payments.webhooks.deliveries.count(target);
    return { ...describeTarget(target), waiting, crowdedOut };
  }
}
