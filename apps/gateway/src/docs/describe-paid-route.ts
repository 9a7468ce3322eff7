import type { PaymentEnvironment } from '@tollgate/common';
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

import type { PaidRoute } from '../paywall/paid-route.js';
import { answerWith, describeProblem, ref, RETRY_AFTER } from './openapi-parts.js';

export const PAID_TAG = 'Paid resources';

const text = { schema: { type: 'string' } };
const flag = { schema: { type: 'string', enum: ['true'] } };
const RELEASED = { [X_PAYMENT_RELEASED]: { description: 'The payment was not taken: send the same again.', ...flag } };

const OFFERS = {
  [PAYMENT_REQUIRED]: { description: 'base64 of the offer of version 2, where signed payments are taken.', ...text },
  'WWW-Authenticate': { description: 'The same offer to clients of MPP.', ...text },
};
const SETTLED = {
  [X_PAYMENT_RESPONSE]: { description: 'What became of a signed payment of version 1.', ...text },
  [PAYMENT_RESPONSE]: { description: 'The same of version 2.', ...text },
  [PAYMENT_RECEIPT]: { description: 'The same by MPP.', ...text },
};

const NOT_SIGNED_IN = {
  [X_SIGN_IN_FAILURE]: {
    description: 'Why a sign-in was not taken.',
    schema: { type: 'string', enum: [...SIGN_IN_FAILURES] },
  },
};

const PARAMETERS = [
  {
    name: X_PAYMENT,
    in: 'header',
    description: `base64 of a PaymentProof, at most ${MAX_PROOF_HEADER_BYTES} bytes. Without it: 402 and the challenge.`,
    ...text,
  },
  {
    name: PAYMENT_SIGNATURE,
    in: 'header',
    description:
      'base64 of a payment of version 2, where signed payments are taken; `Authorization: Payment` pays by MPP.',
    ...text,
  },
  {
    name: IDEMPOTENCY_KEY,
    in: 'header',
    description: 'Names the purchase: a repeat with the same key and proof gets the same answer.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
];

const SIGN_IN = {
  name: SIGN_IN_WITH_X,
  in: 'header',
  description: 'base64 of what the account has signed that paid before: it may come back without paying.',
  ...text,
};

/** Answers besides 200 and 402, in the order of their statuses. */
const PROBLEMS: readonly (readonly [status: string, description: string, headers?: object])[] = [
  ['400', 'The Idempotency-Key, the payment identifier or the path is not valid, or there are several payments.'],
  ['409', 'The payment is being answered (then with Retry-After), or was made for another request.', RETRY_AFTER],
  ['410', 'The payment was spent and its answer was not kept.'],
  ['413', 'The body of the request is too large.'],
  ['429', 'Too many requests from this address.', RETRY_AFTER],
  ['500', 'The resource could not be produced.', RELEASED],
  ['502', 'The resource could not be reached, or gave no complete answer.', RELEASED],
  ['503', 'The payment cannot be checked now, or is being settled. Do not pay again.', RETRY_AFTER],
  ['504', 'The resource did not answer in time.', { ...RETRY_AFTER, ...RELEASED }],
];

/** `/v1/quotes/:symbol` as OpenAPI writes it: `/v1/quotes/{symbol}`. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');
}

/** The OpenAPI operation of one method of a paid route. */
export function describePaidRoute(
  route: PaidRoute,
  method: string,
  { assetDecimals, assetSymbol }: Pick<PaymentEnvironment, 'assetDecimals' | 'assetSymbol'>,
): object {
  const most = route.isMetered === true ? 'at most ' : '';
  const price = `${most}${formatTokenAmount(route.priceBaseUnits, assetDecimals)} ${assetSymbol}`;
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
    'x-payment': { priceBaseUnits: route.priceBaseUnits.toString(), assetSymbol },
  };
}

function describePaidAnswer({ mimeType, answerSchema }: PaidRoute): object {
  const schema = answerSchema === undefined ? {} : { schema: ref(answerSchema.name) };
  return {
    description: 'What was paid for.',
    headers: {
      [IDEMPOTENT_REPLAYED]: { description: 'The answer of an earlier request, given again.', ...flag },
      ...SETTLED,
    },
    content: { [mimeType]: schema },
  };
}

function describeChallenge(price: string, isRevisited: boolean): object {
  const failure = { description: 'Why a proof was refused.', schema: { type: 'string', enum: [...PAYMENT_FAILURES] } };
  const headers = { [X_PAYMENT_FAILURE]: failure, ...(isRevisited ? NOT_SIGNED_IN : {}), ...RETRY_AFTER, ...OFFERS };
  const description = `The challenge to pay ${price}; with \`error\` where a proof was refused.`;
  return answerWith(description, ref('PaymentChallenge'), headers);
}
