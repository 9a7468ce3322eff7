import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '@tollgate/protocol';

import { API_KEY_SECURITY } from '../agent/agent-operation.js';
import { answerWith, describeProblems, parameter, ref } from '../openapi-parts.js';
import { EXAMPLE_REQUEST } from './example-request.js';

export const FACILITATOR_TAG = 'Facilitator';

const REPLAYED = {
  [IDEMPOTENT_REPLAYED]: {
    description: 'The response is a replay of an earlier one with this key.',
    schema: { type: 'string', enum: ['true'] },
  },
};
const EXAMPLES = { devnet: { summary: 'Signed by a payer of npm run dev', value: EXAMPLE_REQUEST } };
const CONTENT = { schema: ref('FacilitatorRequest'), examples: EXAMPLES };
const BODY = { required: true, content: { 'application/json': CONTENT } };
// Only some payments need a key, but a key that is sent must be valid.
const OPTIONAL_KEY = [{}, { [API_KEY_SECURITY]: [] }];
const REFUSALS: Readonly<Record<string, string>> = {
  '400': "The calling server's part is malformed: the body, the requirements or the Idempotency-Key.",
  '403': 'The API key lacks the scope settle.',
  '413': 'The body is too large.',
  '415': 'The body is not JSON.',
  '429': 'Too many requests with this API key, or from this address.',
};

/** `/facilitator`: the x402 facilitator API for other servers. */
export function describeFacilitator(): Record<string, object> {
  return {
    '/facilitator/verify': { post: describeVerify() },
    '/facilitator/settle': { post: describeSettle() },
    '/facilitator/supported': {
      get: describe('The supported kinds of payments', {
        answers: {
          '200': answerWith(
            'The supported kinds of payments, and the accounts that send settlements.',
            ref('SupportedResponse'),
          ),
        },
      }),
    },
    '/facilitator/discovery/resources': { get: describeListing() },
  };
}

function describeVerify(): object {
  return describe('Verify a signed payment against payment requirements', {
    description: 'Nothing is claimed or settled. An invalid payment is a 200 with `isValid: false`.',
    asks: true,
    answers: { '200': answerWith('The verdict.', ref('VerifyResponse')) },
    problems: {
      '401': 'The API key is unknown or revoked.',
      '503': 'The payment cannot be verified now: send the same request again.',
    },
  });
}

function describeSettle(): object {
  return describe('Settle a signed payment', {
    description:
      'Each payment is reported as settled only once. After `settlement_pending`, repeat the request to learn the result. With the scheme `upto`, the `amount` of the requirements is settled; 0 succeeds without a transaction.',
    asks: true,
    parameters: [
      {
        name: IDEMPOTENCY_KEY,
        in: 'header',
        description: 'A repeat with the same key and request gets the same response, including a success.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
    answers: { '200': answerWith('The settlement result.', ref('SettleResponse'), REPLAYED) },
    problems: {
      '401': 'The API key is unknown or revoked, or this payment is only settled with an API key.',
      '503': 'Nothing was submitted, or that is unknown (code settlement_pending): send the same request again.',
    },
  });
}

function describeListing(): object {
  const count = (least: number, most?: number, fallback = 0): object => ({
    ...{ type: 'integer', minimum: least, default: fallback },
    ...(most !== undefined && { maximum: most }),
  });
  return describe('The paid resources of the gateway', {
    description:
      'URLs begin with PUBLIC_URL; the list is empty without it. The payment requirements lack the references that challenges have.',
    parameters: [
      parameter('query', 'type', 'Only `http` is supported.'),
      parameter('query', 'payTo', 'Only resources that pay this recipient.'),
      parameter('query', 'scheme', 'Only resources payable by this scheme.'),
      parameter('query', 'network', 'Only resources payable on this network.'),
      parameter('query', 'limit', 'Maximum number of resources.', count(1, 100, 20)),
      parameter('query', 'offset', 'Number of resources to skip.', count(0)),
    ],
    answers: { '200': answerWith('In the order of the routes.', ref('DiscoveryResponse')) },
    problems: { '400': 'A parameter is not valid.' },
  });
}

interface Operation {
  readonly description?: string;
  /** Whether the operation has a body and accepts an API key. */
  readonly asks?: boolean;
  readonly parameters?: readonly object[];
  readonly answers: Readonly<Record<string, object>>;
  readonly problems?: Readonly<Record<string, string>>;
}

function describe(summary: string, operation: Operation): object {
  const { description, asks = false, parameters = [], answers, problems = {} } = operation;
  return {
    tags: [FACILITATOR_TAG],
    summary,
    ...(description !== undefined && { description }),
    parameters,
    ...(asks && { security: OPTIONAL_KEY, requestBody: BODY }),
    responses: { ...answers, ...describeProblems(asks ? { ...REFUSALS, ...problems } : problems) },
  };
}
