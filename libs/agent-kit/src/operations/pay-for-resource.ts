import { chooseRequirement } from '@tollgate/client';
import { formatTokenAmount } from '@tollgate/protocol';
import { getAddress, isAddressEqual } from 'viem';
import { z } from 'zod';

import { AgentKitError } from '../agent-kit-error.js';
import { askPrice, parseResourceUrl } from '../payments/ask-price.js';
import { explainUnpaid } from '../payments/explain-payment-error.js';
import { PRICE_TIMEOUT_MS } from '../payments/payment-limits.js';
import { assertBalance } from '../tokens/assert-balance.js';
import { quoteUntrusted } from '../tokens/untrusted-text.js';
import { amountSchema } from './input-schemas.js';
import { defineWrite } from './operation.js';

export const payForResource = defineWrite({
  name: 'payForResource',
  title: 'Pay for a resource',
  description:
    'Buys the answer of an HTTP GET that costs something (402 Payment Required): asks for the price, pays it in a token of ' +
    'the list, and shows the answer. Refuses prices above maxAmount.',
  input: z.object({
    url: z.string().min(1).max(2_048).describe('Where the resource is: an https URL'),
    maxAmount: amountSchema.optional().describe('The most it may cost, in whole units of the token; default 0.01'),
  }),
  async plan({ url: text, maxAmount }, context) {
    const { payments, chainId } = context;
    if (!payments || payments.tokens.length === 0) {
      throw new AgentKitError(
        'PROTOCOL_UNAVAILABLE',
        `Chain ${chainId} has no token that is paid with at HTTP 402 gates.`,
      );
    }
    const url = parseResourceUrl(text, payments.allowInsecureHttp ?? false);
    const challenge = await askPrice(context.fetch, url, payments.priceTimeoutMs ?? PRICE_TIMEOUT_MS);
    const { network } = payments;
    const assets = payments.tokens.map(({ address, decimals }) => ({ network, chainId, address, decimals }));
    const { requirement, asset, amountBaseUnits } = choose(challenge, {
      assets,
      maxAmount: maxAmount ?? payments.maxAmount,
      chainId,
    });
    const token = payments.tokens.find(({ address }) => isAddressEqual(address, asset.address));
    if (!token) throw new AgentKitError('UNKNOWN_TOKEN', `${asset.address} is not in the token list.`);
    const amount = { token, amountBaseUnits };
    await assertBalance(context, amount);
    const payTo = getAddress(requirement.payTo);
    const price = `${formatTokenAmount(amountBaseUnits, token.decimals)} ${token.symbol}`;
    return {
      summary: `Pay ${price} to ${payTo} for ${url}, which the server calls ${quoteUntrusted(requirement.description)}`,
      steps: [],
      spends: [amount],
      receives: [],
      recipients: [payTo],
      report: { url, amount: formatTokenAmount(amountBaseUnits, token.decimals), token: token.symbol, payTo },
      payment: { url, payTo, amount, network },
    };
  },
});

function choose(...choice: Parameters<typeof chooseRequirement>): ReturnType<typeof chooseRequirement> {
  try {
    return chooseRequirement(...choice);
  } catch (error) {
    throw explainUnpaid(error);
  }
}
