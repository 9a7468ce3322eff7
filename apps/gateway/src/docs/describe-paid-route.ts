import type { PaymentOption } from '@tollgate/config';
import {
  formatTokenAmount,
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  MAX_PROOF_HEADER_BYTES,
  PAYMENT_FAILURES,
  PAYMENT_RECEIPT,
  PAYMENT_REQUIRED,
  PAYMENT_RESPONSE,
  PAYMENT_SIGNATURE,
  SIGN_IN_FAILURES,
  SIGN_IN_WITH_X,
  X_PAYMENT,
  X_PAYMENT_FAILURE,
  X_PAYMENT_RELEASED,
  X_PAYMENT_RESPONSE,
  X_SIGN_IN_FAILURE,
} from '@tollgate/protocol';

import { acceptsOption } from '../paywall/route/options-of-route.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { priceOf } from '../paywall/route/price-of.js';
import { describeProblem, ref, RETRY_AFTER } from './describe/openapi-parts.js';

export const PAID_TAG = 'Paid resources';

const text = { schema: { type: 'string' } };
const flag = { schema: { type: 'string', enum: ['true'] } };
const RELEASED = {
  [X_PAYMENT_RELEASED]: { description: 'The payment was not charged: send the same request again.', ...flag },
};

const OFFERS = {
  [PAYMENT_REQUIRED]: {
    description: 'base64 of the x402 v2 payment requirements, where signed payments are accepted.',
    ...text,
  },
  'WWW-Authenticate': { description: 'The same offer for MPP clients.', ...text },
};
const SETTLED = {
  [X_PAYMENT_RESPONSE]: { description: 'The settlement result of a signed payment (x402 v1).', ...text },
  [PAYMENT_RESPONSE]: { description: 'The same for x402 v2.', ...text },
  [PAYMENT_RECEIPT]: {
    description: 'The same for MPP. It names the challenge, with which anyone can fetch the stored response.',
    ...text,
  },
};

const NOT_SIGNED_IN = {
  [X_SIGN_IN_FAILURE]: {
    description: 'Why a sign-in was refused.',
    schema: { type: 'string', enum: [...SIGN_IN_FAILURES] },
  },
};

const PARAMETERS = [
  {
    name: X_PAYMENT,
    in: 'header',
    description: `base64 of a PaymentProof, at most ${MAX_PROOF_HEADER_BYTES} bytes. Without a payment the response is 402 with the challenge.`,
    ...text,
  },
  {
    name: PAYMENT_SIGNATURE,
    in: 'header',
    description:
      'base64 of an x402 v2 payment, where signed payments are accepted; MPP has `Authorization` or `Payment-Authorization`.',
    ...text,
  },
  {
    name: IDEMPOTENCY_KEY,
    in: 'header',
    description: 'Identifies the purchase: a repeat with the same key and payment gets the same response.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
];

const SIGN_IN = {
  name: SIGN_IN_WITH_X,
  in: 'header',
  description: 'base64 of a sign-in signed by an account that paid before: it gets the resource again without paying.',
  ...text,
};

/** Responses besides 200 and 402, in the order of their statuses. */
const PROBLEMS: readonly (readonly [status: string, description: string, headers?: object])[] = [
  ['400', 'The Idempotency-Key, the payment identifier or the path is not valid, or the request has several payments.'],
  ['403', 'The transaction is not bound to its challenge, and an MPP credential has no signature. Do not pay again.'],
  [
    '409',
    'Another request with this payment is in progress (with Retry-After), or the payment belongs to a different request.',
    RETRY_AFTER,
  ],
  [
    '410',
    'The payment was spent and its response was not stored.',
    { [IDEMPOTENT_REPLAYED]: { description: 'The payment has bought a response.', ...flag } },
  ],
  ['413', 'The request body is too large.'],
  ['429', 'Too many requests from this address.', RETRY_AFTER],
  ['500', 'The resource could not be produced.', RELEASED],
  ['502', 'The resource could not be reached, or did not return a complete response.', RELEASED],
  [
    '503',
    'The payment cannot be verified now, is not confirmed yet, or is being settled. Do not pay again.',
    RETRY_AFTER,
  ],
  ['504', 'The resource did not respond in time.', { ...RETRY_AFTER, ...RELEASED }],
];

/** The path in OpenAPI form: `/v1/quotes/:symbol` becomes `/v1/quotes/{symbol}`. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');
}

/** The OpenAPI operation of one method of a paid route. */
export function describePaidRoute(route: PaidRoute, method: string, all: readonly PaymentOption[]): object {
  const most = route.isMetered === true ? 'at most ' : '';
  const options = all.filter((option) => acceptsOption(route, option));
  const prices = options.map((option) => describePrice(route, option));
  const price =
    most + prices.map(({ text, network }) => (prices.length === 1 ? text : `${text} on ${network}`)).join(' or ');
  const isRevisited = (route.revisitSeconds ?? 0) > 0;
  const inPath = [...documentPath(route.path).matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    ...text,
  }));
  return {
    tags: [PAID_TAG],
    summary: `${route.description} (${price})`,
    parameters: [...inPath, ...PARAMETERS, ...(isRevisited ? [SIGN_IN] : [])],
    ...(method === 'GET' ? {} : { requestBody: { content: { '*/*': {} } } }),
    responses: {
      '200': describePaidAnswer(route),
      '402': describeChallenge(price, isRevisited),
      ...Object.fromEntries(
        PROBLEMS.map(([status, description, headers = {}]) => [status, describeProblem(description, headers)]),
      ),
    },
    'x-payment':
      prices.length === 1 ? prices[0]?.facts : { options: prices.map(({ network, facts }) => ({ network, ...facts })) },
  };
}

function describePrice(route: PaidRoute, option: PaymentOption) {
  const { decimals, symbol: assetSymbol, chain } = option;
  const priceBaseUnits = priceOf(route, option);
  return {
    network: chain.network,
    text: `${formatTokenAmount(priceBaseUnits, decimals)} ${assetSymbol}`,
    facts: { priceBaseUnits: priceBaseUnits.toString(), assetSymbol },
  };
}

function describePaidAnswer({ mimeType, answerSchema }: PaidRoute): object {
  const schema = answerSchema === undefined ? {} : { schema: ref(answerSchema.name) };
  return {
    description: 'The paid resource.',
    headers: {
      [IDEMPOTENT_REPLAYED]: { description: 'The response is a replay of an earlier one.', ...flag },
      ...SETTLED,
    },
    content: { [mimeType]: schema },
  };
}

function describeChallenge(price: string, isRevisited: boolean): object {
  const failure = {
    description: 'Why a payment was refused.',
    schema: { type: 'string', enum: [...PAYMENT_FAILURES] },
  };
  const headers = { [X_PAYMENT_FAILURE]: failure, ...(isRevisited ? NOT_SIGNED_IN : {}), ...RETRY_AFTER, ...OFFERS };
  const description = `The challenge to pay ${price}; with \`error\` where a payment was refused.`;
  return { description, headers, content: { 'application/json': { schema: ref('PaymentChallenge') } } };
}
