import { Body, Delete, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import {
  addPaymentTarget,
  enablePaymentTarget,
  listDeadDeliveries,
  listPaymentTargets,
  OUTGOING_EVENT_TYPES,
  removePaymentTarget,
  resendDead,
  type DeadDelivery,
  type PaymentTarget,
} from '@tollgate/book';
import { ApiKeyStore, findUrlFault, limitParameter, onlyFields, ProblemError, type ApiKey } from '@tollgate/common';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { WebhookSecrets } from '../delivery/webhook-secrets.js';
import { BookkeeperConnections } from '../drain/connections.js';
import { ForOperators, OperatorController, OperatorKey } from './operator-controller.js';

const TARGETS_PER_KEY = 10;
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

/** The webhook targets of the caller's key: they receive what the key may read. */
@OperatorController('webhooks')
export class PaymentWebhooksController {
  readonly #apiKeys: ApiKeyStore;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(WebhookSecrets) private readonly secrets: WebhookSecrets,
    @Inject(BookkeeperEnvironment) private readonly environment: BookkeeperEnvironment,
    @Inject(BookkeeperConnections) { commands }: BookkeeperConnections,
  ) {
    this.#apiKeys = new ApiKeyStore(commands);
  }

  @Post()
  @ForOperators('operator:read', 'Registers a webhook target; its secret is in this answer alone', 'add_webhook')
  async register(
    @OperatorKey() { id: keyId }: ApiKey,
    @Body({ schema: registrationBody }) { url, events }: z.output<typeof registrationBody>,
  ): Promise<PaymentTarget & { secret: string }> {
    const { writer } = this.book;
    const fault = await findUrlFault(url, { allowPrivateTargets: this.environment.targets.allowPrivateTargets });
    if (fault !== null) throw new ProblemError({ status: 422, code: 'webhook_target_refused', detail: fault });
    const id = await addPaymentTarget(writer, { keyId, url, events }, TARGETS_PER_KEY);
    if (id === null) {
      const detail = `This API key has reached its limit of ${TARGETS_PER_KEY} webhook targets. Remove one first.`;
      throw new ProblemError({ status: 409, code: 'too_many_webhooks', detail });
    }
    return { ...(await this.#find(keyId, id)), secret: this.secrets.of(id) };
  }

  @Get()
  @ForOperators('operator:read', 'The webhook targets of this key, oldest first')
  async list(@OperatorKey() { id: keyId }: ApiKey): Promise<{ webhooks: PaymentTarget[] }> {
    return { webhooks: await listPaymentTargets(this.book.writer.database, keyId) };
  }

  @Get('dead-letters')
  @ForOperators('operator:read', 'Deliveries to the targets of this key that were given up, newest first')
  async listDeadDeliveries(
    @OperatorKey() { id: keyId }: ApiKey,
    @Query({ schema: deadQuery }) { limit }: z.output<typeof deadQuery>,
  ): Promise<{ deadLetters: DeadDelivery[] }> {
    return { deadLetters: await listDeadDeliveries(this.book.writer.database, keyId, limit) };
  }

  @Post(':id/resend')
  @HttpCode(202)
  @ForOperators(
    'operator:read',
    'Delivers again what was given up for this target, with all attempts',
    'resend_webhook',
  )
  async resend(@OperatorKey() { id: keyId }: ApiKey, @Param('id') id: string): Promise<{ resent: number }> {
    await this.#find(keyId, id);
    return { resent: await resendDead(this.book.writer, keyId, id) };
  }

  @Post(':id/enable')
  @HttpCode(200)
  @ForOperators(
    'operator:read',
    'Enables a disabled webhook target; it receives the events from now on',
    'enable_webhook',
  )
  async enable(@OperatorKey() { id: keyId }: ApiKey, @Param('id') id: string): Promise<PaymentTarget> {
    await this.#find(keyId, id);
    await enablePaymentTarget(this.book.writer, keyId, id);
    return this.#find(keyId, id);
  }

  @Delete(':id')
  @HttpCode(204)
  @ForOperators(
    'operator:read',
    'Removes a webhook target, of this key or of one that Redis has lost; what waits for it is dropped',
    'remove_webhook',
  )
  async remove(@OperatorKey() caller: ApiKey, @Param('id') id: string): Promise<void> {
    const { writer } = this.book;
    const target = (await listPaymentTargets(writer.database, null)).find((one) => one.id === id);
    // No request can come from a key that Redis has lost.
    const isLost = target !== undefined && (await this.#apiKeys.read(target.keyId)) === null;
    const { keyId } = isLost ? target : await this.#find(caller.id, id);
    await removePaymentTarget(writer, keyId, id);
  }

  /** @throws ProblemError for a target that the key does not have */
  async #find(keyId: string, id: string): Promise<PaymentTarget> {
    const found = (await listPaymentTargets(this.book.writer.database, keyId)).find((target) => target.id === id);
    if (found) return found;
    const detail = 'This API key has no such webhook target.';
    throw new ProblemError({ status: 404, code: 'webhook_not_found', detail });
  }
}
