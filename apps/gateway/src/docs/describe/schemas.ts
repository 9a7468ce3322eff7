import { PROBLEM_CODES } from '@tollgate/http';

import { integer, listOf, record, ref, text } from './openapi-parts.js';

/** Specification, "PaymentRequirement" and "PaymentRequirement.extra". */
const REQUIREMENT_SCHEMA = record({
  scheme: { ...text, enum: ['exact'] },
  network: text,
  maxAmountRequired: { ...text, description: 'decimal integer in base units of the asset' },
  resource: text,
  description: text,
  mimeType: text,
  payTo: text,
  maxTimeoutSeconds: integer,
  asset: text,
  extra: record({ name: text, version: text, reference: text }),
});

/** Specification, "PaymentChallenge". */
export const CHALLENGE_SCHEMA = record(
  {
    x402Version: { ...integer, enum: [1] },
    accepts: { ...listOf(REQUIREMENT_SCHEMA), minItems: 1 },
    error: { ...text, description: 'present when a payment was refused' },
  },
  ['error'],
);

/** RFC 9457. */
export const PROBLEM_SCHEMA = record(
  {
    type: { ...text, description: '`urn:tollgate:error:` and the code' },
    title: text,
    status: integer,
    detail: text,
    code: { ...text, enum: [...PROBLEM_CODES] },
    requestId: text,
    problems: { ...listOf(text), description: 'every mistake in the request' },
    failure: ref('JobFailure'),
    state: { ...text, description: 'state of the job' },
    floorsHash: { ...text, description: 'hash of the current plan' },
  },
  ['problems', 'failure', 'state', 'floorsHash'],
);
