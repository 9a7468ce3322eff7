import { chooseRequirement, createPaymentCall, type ChosenRequirement } from '@tollgate/client';
import { formatTokenAmount, type PaymentChallenge, type PaymentRequirement } from '@tollgate/protocol';
import { getAddress, isAddressEqual, zeroAddress, type Address } from 'viem';
import type { z } from 'zod';

import { askPrice, parseResourceUrl } from '../payments/ask-price.js';
import { explainUnpaid } from '../payments/explain-payment-error.js';
import { PRICE_TIMEOUT_MS, type PaymentLimits } from '../payments/payment-limits.js';
import { assertBalance } from '../tokens/balance.js';
import { showAmount } from '../tokens/show-token.js';
import { ERC20_FAILURES } from '../tokens/token-failures.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { PlanDraft, Step } from '../types/plan.js';
import type { TokenAmount } from '../types/token.js';
import { quoteUntrusted } from '../types/untrusted-text.js';
import { defineWrite, parseInput, type OperationContext } from './define/operation.js';
import { WRITE_OPERATIONS } from './define/write-operations.js';

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

export type PaymentDraftContext = Pick<OperationContext, 'account' | 'chainId' | 'client' | 'payments'>;

/** The offer for a URL, and the maximum price as decimal text in whole units of the token. */
interface PaymentOffer {
  url: string;
  challenge: PaymentChallenge;
  maxAmount?: string | undefined;
}

/** @throws AgentKitError `PROTOCOL_UNAVAILABLE` on chains without a token that gates accept */
function requirePaymentLimits({ payments, chainId }: PaymentDraftContext): PaymentLimits {
  if (payments && payments.tokens.length > 0) return payments;
  throw new AgentKitError('PROTOCOL_UNAVAILABLE', `Chain ${chainId} has no token that HTTP 402 gates accept.`);
}

/**
 * The draft of accepting an offer, without the call that pays.
 * @returns the draft, and the requirement of the challenge that it pays
 * @throws AgentKitError when no offer is within the limits, or the balance is too low
 */
export async function draftPayment(
  { url, challenge, maxAmount }: PaymentOffer,
  context: PaymentDraftContext,
): Promise<{ draft: PlanDraft; requirement: PaymentRequirement }> {
  const { network, tokens, maxAmount: most } = requirePaymentLimits(context);
  const { chainId } = context;
  const assets = tokens.map(({ address, decimals }) => ({ network, chainId, address, decimals }));
  const { requirement, asset, amountBaseUnits } = choose(challenge, { assets, maxAmount: maxAmount ?? most, chainId });
  const token = tokens.find(({ address }) => isAddressEqual(address, asset.address));
  if (!token) throw new AgentKitError('UNKNOWN_TOKEN', `${asset.address} is not in the token list.`);
  const payTo = parseReceiver(requirement.payTo, token.address);
  const amount = { token, amountBaseUnits };
  await assertBalance(context, amount);
  const price = formatTokenAmount(amountBaseUnits, token.decimals);
  const draft: PlanDraft = {
    summary: `Pay ${price} ${token.symbol} to ${payTo} for ${url}, which the server calls ${quoteUntrusted(requirement.description)}`,
    steps: [],
    spends: [amount],
    receives: [],
    recipients: [payTo],
    report: { url, amount: price, token: token.symbol, payTo },
    payment: { url, payTo, amount, network },
  };
  return { draft, requirement };
}

/** The transfer that pays a requirement, with its hash lock: only its payer can redeem it at the gate. */
export function createPaymentStep(requirement: PaymentRequirement, amount: TokenAmount): Step {
  const { to, data } = createPaymentCall(requirement);
  const label = `Pay ${showAmount(amount)} to ${getAddress(requirement.payTo.toLowerCase())}`;
  return { label, to, data, value: 0n, failures: ERC20_FAILURES };
}

function choose(...choice: Parameters<typeof chooseRequirement<PaymentRequirement>>): ChosenRequirement {
  try {
    return chooseRequirement(...choice);
  } catch (error) {
    throw explainUnpaid(error);
  }
}

function parseReceiver(payTo: Address, token: Address): Address {
  // In lower case, because the server's spelling may have an invalid mixed-case checksum.
  const receiver = getAddress(payTo.toLowerCase());
  if (!isAddressEqual(receiver, token) && !isAddressEqual(receiver, zeroAddress)) return receiver;
  throw new AgentKitError('PAYMENT_FAILED', `The server's recipient address is ${receiver}, where tokens are lost.`, {
    details: { payTo: receiver },
    suggestion: 'Nothing was paid. Do not buy from this server.',
  });
}
