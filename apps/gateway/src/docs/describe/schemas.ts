import { PROBLEM_CODES } from '@tollgate/common';

const string = { type: 'string' };
const integer = { type: 'integer' };

/** Specification, "PaymentRequirement" and "PaymentRequirement.extra". */
const REQUIREMENT_SCHEMA = {
  type: 'object',
  properties: {
    scheme: { ...string, enum: ['exact'] },
    network: string,
    maxAmountRequired: { ...string, description: 'decimal integer in base units of the asset' },
    resource: string,
    description: string,
    mimeType: string,
    payTo: string,
    maxTimeoutSeconds: integer,
    asset: string,
    extra: {
      type: 'object',
      properties: { name: string, version: string, reference: string },
      required: ['name', 'version', 'reference'],
    },
  },
  required: [
    'scheme',
    'network',
    'maxAmountRequired',
    'resource',
    'description',
    'mimeType',
    'payTo',
    'maxTimeoutSeconds',
    'asset',
    'extra',
  ],
};

/** Specification, "PaymentChallenge". */
export const CHALLENGE_SCHEMA = {
  type: 'object',
  properties: {
    x402Version: { ...integer, enum: [1] },
    accepts: { type: 'array', items: REQUIREMENT_SCHEMA, minItems: 1 },
    error: { ...string, description: 'present when a payment was refused' },
  },
  required: ['x402Version', 'accepts'],
};

/** RFC 9457. */
export const PROBLEM_SCHEMA = {
  type: 'object',
  properties: {
    type: { ...string, description: '`urn:tollgate:error:` and the code' },
    title: string,
    status: integer,
    detail: string,
    code: { ...string, enum: [...PROBLEM_CODES] },
    requestId: string,
    problems: { type: 'array', items: string, description: 'every mistake in the request' },
    failure: { $ref: '#/components/schemas/JobFailure' },
    state: { ...string, description: 'state of the job' },
    floorsHash: { ...string, description: 'hash of the current plan' },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
};
