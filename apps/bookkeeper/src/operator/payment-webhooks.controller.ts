import { Body, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { OUTGOING_EVENT_TYPES, readNewestNumber } from '@tollgate/book';
import { ApiKeyStore, limitParameter, onlyFields, ProblemError, type ApiKey, type Problem } from '@tollgate/http';
import {
  describeLetter,
  describeTarget,
  type CountedTargetView,
  type LetterView,
  type WebhookTarget,
} from '@tollgate/webhooks';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { PaymentWebhooks } from '../delivery/payment-webhooks.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { ForOperators, OperatorController, OperatorKey } from './operator-controller.js';

const TYPES_WRONG = `must be a list of ${OUTGOING_EVENT_TYPES.join(', ')}; it may be left out`;
const URL_MISSING = 'must be the URL to which events are posted';

const registrationBody = onlyFields({
  url: z.string(URL_MISSING).min(1, URL_MISSING).describe('An HTTPS URL on the public internet.'),
  events: z
    .array(z.enum(OUTGOING_EVENT_TYPES, TYPES_WRONG), TYPES_WRONG)
    .max(OUTGOING_EVENT_TYPES.length, TYPES_WRONG)
    .default([])
    .describe('All if left out.'),
});
const deadQuery = onlyFields({ limit: limitParameter });

const NOT_FOUND: Problem = {
  status: 404,
  code: 'webhook_not_found',
  detail: 'This API key has no such webhook target.',
};

/** The webhook targets of the caller's key: they receive what the key may read. */
@OperatorController('webhooks')
export class PaymentWebhooksController {
  readonly #apiKeys: ApiKeyStore;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(PaymentWebhooks) private readonly payments: PaymentWebhooks,
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
  ) {
    this.#apiKeys = new ApiKeyStore(commands);
  }

  @Post()
  @ForOperators('operator:read', 'Registers a webhook target; its secret is in this answer alone', 'add_webhook')
  async register(
    @OperatorKey() { id: keyId }: ApiKey,
    @Body({ schema: registrationBody }) { url, events }: z.output<typeof registrationBody>,
  ): Promise<CountedTargetView & { secret: string }> {
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

  @Get()
  @ForOperators('operator:read', 'The webhook targets of this key, oldest first')
  async list(@OperatorKey() { id: keyId }: ApiKey): Promise<{ webhooks: CountedTargetView[] }> {
    const { targets } = await this.payments.webhooks.targets.list(keyId);
    return { webhooks: await Promise.all(targets.map((target) => this.#describe(target))) };
  }

  @Get('dead-letters')
  @ForOperators('operator:read', 'Deliveries to the targets of this key that were given up, newest first')
  async listDeadDeliveries(
    @OperatorKey() { id: keyId }: ApiKey,
    @Query({ schema: deadQuery }) { limit }: z.output<typeof deadQuery>,
  ): Promise<{ deadLetters: LetterView[] }> {
    const { targets, deliveries } = this.payments.webhooks;
    const letters = await deliveries.listDead((await targets.list(keyId)).targets, limit);
    return { deadLetters: letters.map(describeLetter) };
  }

  @Post(':id/resend')
  @HttpCode(202)
  @ForOperators(
    'operator:read',
    'Delivers again what was given up for this target, with all attempts',
    'resend_webhook',
  )
  async resend(@OperatorKey() { id: keyId }: ApiKey, @Param('id') id: string): Promise<{ resent: number }> {
    const target = await this.#find(keyId, id);
    return { resent: target.disabled === null ? await this.payments.webhooks.deliveries.resendAll(target) : 0 };
  }

  @Post(':id/enable')
  @HttpCode(200)
  @ForOperators(
    'operator:read',
    'Enables a disabled webhook target; it receives the events from now on',
    'enable_webhook',
  )
  async enable(@OperatorKey() { id: keyId }: ApiKey, @Param('id') id: string): Promise<CountedTargetView> {
    const enabled = await this.payments.webhooks.targets.enable(await this.#find(keyId, id));
    if (enabled === null) throw new ProblemError(NOT_FOUND);
    return this.#describe(enabled);
  }

  @Delete(':id')
  @HttpCode(204)
  @ForOperators(
    'operator:read',
    'Removes a webhook target, of this key or of one that Redis has lost; what waits for it is dropped',
    'remove_webhook',
  )
  async remove(@OperatorKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
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

  async #describe(target: WebhookTarget): Promise<CountedTargetView> {
    const { waiting, crowdedOut } = await this.payments.webhooks.deliveries.count(target);
    return { ...describeTarget(target), waiting, crowdedOut };
  }
}
