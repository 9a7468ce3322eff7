import { z } from 'zod';

import { askPrice, parseResourceUrl } from '../../payments/ask-price.js';
import { draftPayment, requirePaymentLimits } from '../../payments/draft-payment.js';
import { PRICE_TIMEOUT_MS } from '../../payments/payment-limits.js';
import { amountSchema } from '../define/input-schemas.js';
import { defineWrite } from '../define/operation.js';
import { parseInput } from '../define/parse-input.js';

export const payForResource = defineWrite({
  name: 'payForResource',
  title: 'Pay for a resource',
  description:
    'Buys the answer to an HTTP GET that requires a payment (402 Payment Required): reads the price, pays it in a listed token, ' +
    'and shows the answer. Refuses prices above maxAmount.',
  input: z.object({
    url: z.string().min(1).max(2_048).describe('https URL of the resource'),
    maxAmount: amountSchema.optional().describe('Maximum price, in whole units of the token; default 0.01'),
  }),
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
