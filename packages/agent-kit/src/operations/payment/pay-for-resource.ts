import type { z } from 'zod';

import { askPrice, parseResourceUrl } from '../../payments/ask-price.js';
import { PRICE_TIMEOUT_MS } from '../../payments/payment-limits.js';
import { defineWrite } from '../define/operation.js';
import { parseInput } from '../define/parse-input.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';
import { draftPayment, requirePaymentLimits } from './draft-payment.js';

export const payForResource = defineWrite({
  name: 'payForResource',
  ...WRITE_OPERATIONS.payment,
  async plan({ url: text, maxAmount }, context) {
    const { allowInsecureHttp = false, priceTimeoutMs = PRICE_TIMEOUT_MS } = requirePaymentLimits(context);
    const url = parseResourceUrl(text, allowInsecureHttp);
    const challenge = await askPrice(context.fetch, url, priceTimeoutMs);
    // The paying client makes the transfer itself, so there is no step here.
    const { draft } = await draftPayment({ url, challenge, maxAmount }, context);
    return draft;
  },
});

/** @throws AgentKitError `INVALID_INPUT` with every problem */
export function parsePaymentInput(input: unknown): z.output<typeof payForResource.input> {
  return parseInput(payForResource, input) as z.output<typeof payForResource.input>;
}
