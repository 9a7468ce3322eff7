import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED } from '@tollgate/protocol';

import { API_KEY_SECURITY } from '../agent/agent-operation.js';
import { answerWith, describeProblems, parameter, ref } from '../openapi-parts.js';
import { EXAMPLE_REQUEST } from './example-request.js';

export const FACILITATOR_TAG = 'Facilitator';

const REPLAYED = {
  [IDEMPOTENT_REPLAYED]: {
    description: 'An earlier request with this key was answered so.',
    schema: { type: 'string', enum: ['true'] },
  },
};
const EXAMPLES = { devnet: { summary: 'Signed by a payer of npm run dev', value: EXAMPLE_REQUEST } };
const CONTENT = { schema: ref('FacilitatorRequest'), examples: EXAMPLES };
const BODY = { required: true, content: { 'application/json': CONTENT } };
// A key is needed for some payments only; one that is sent has to be good.
const OPTIONAL_KEY = [{}, { [API_KEY_SECURITY]: [] }];
const REFUSALS: Readonly<Record<string, string>> = {
  '400': "The server's own part is malformed: the body, the requirements, the Idempotency-Key.",
  '403': 'The API key has not the scope settle.',
  '413': 'The body is too large.',
  '415': 'The body is not JSON.',
  '429': 'Too many requests with this API key, or from this address.',
};

/** `/facilitator`: signed payments of other servers, in the words of published middlewares. */
export function describeFacilitator(): Record<string, object> {
  return {
    '/facilitator/verify': { post: describeVerify() },
    '/facilitator/settle': { post: describeSettle() },
    '/facilitator/supported': {
      get: describe('What is verified and settled', {
        answers: { '200': answerWith('Kinds of payments, and who sends settlements.', ref('SupportedResponse')) },
      }),
    },
    '/facilitator/discovery/resources': { get: describeListing() },
  };
}

function describeVerify(): object {
  return describe('Whether a signed payment is good for a requirement', {
    description: 'Nothing is claimed and nothing moved. A payment that is not good is no error of HTTP.',
    asks: true,
    answers: { '200': answerWith('The verdict.', ref('VerifyResponse')) },
    problems: {
      '401': 'The API key is unknown or revoked.',
      '503': 'Nobody can tell now: send the same request again.',
    },
  });
}

function describeSettle(): object {
  return describe('Move a signed payment', {
    description:
      'Tells of its success once. `settlement_pending` with a transaction: ask again for the same payment. Of the scheme `upto` as much is moved as `amount` says; 0 is a success without a transaction.',
    asks: true,
    parameters: [
      {
        name: IDEMPOTENCY_KEY,
        in: 'header',
        description: 'The same key with the same request gets the same answer, a success too.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
    answers: { '200': answerWith('What became of it.', ref('SettleResponse'), REPLAYED) },
    problems: {
      '401': 'The API key is unknown or revoked, or this payment is settled with one only.',
      '503':
        'Nothing was sent, or nothing is known to be (then the code is settlement_pending): send the same request again.',
    },
  });
}

function describeListing(): object {
  const count = (least: number, most?: number, fallback = 0): object => ({
    ...{ type: 'integer', minimum: least, default: fallback },
    ...(most !== undefined && { maximum: most }),
  });
  return describe('What the gateway sells', {
    description: 'Under PUBLIC_URL; empty without it. Without the references that challenges are made with.',
    parameters: [
      parameter('query', 'type', '`http` is all there is.'),
      parameter('query', 'payTo', 'Of this recipient.'),
      parameter('query', 'scheme', 'Payable by it.'),
      parameter('query', 'network', 'Payable there.'),
      parameter('query', 'limit', 'How many.', count(1, 100, 20)),
      parameter('query', 'offset', 'Behind how many.', count(0)),
    ],
    answers: { '200': answerWith('In the order of the routes.', ref('DiscoveryResponse')) },
    problems: { '400': 'A parameter is not valid.' },
  });
}

interface Operation {
  readonly description?: string;
  /** It has a body, and takes an API key. */
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
