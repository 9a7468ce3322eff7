import { jobFailure } from '@tollgate/agent-jobs';
import { PROBLEM_CODES } from '@tollgate/http';
import { z } from 'zod';

/** Specification, "PaymentRequirement" and "PaymentRequirement.extra". */
const requirement = z.object({
  scheme: z.enum(['exact']),
  network: z.string(),
  maxAmountRequired: z.string().describe('decimal integer in base units of the asset'),
  resource: z.string(),
  description: z.string(),
  mimeType: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.int(),
  asset: z.string(),
  extra: z.object({ name: z.string(), version: z.string(), reference: z.string() }),
});

/** Specification, "PaymentChallenge". */
export const challengeSchema = z
  .object({
    x402Version: z.int().meta({ enum: [1] }),
    accepts: z.array(requirement).min(1),
    error: z.string().exactOptional().describe('present when a payment was refused'),
  })
  .meta({ id: 'PaymentChallenge' });

/** RFC 9457. */
export const problemSchema = z
  .object({
    type: z.string().describe('`urn:tollgate:error:` and the code'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(PROBLEM_CODES),
    requestId: z.string(),
    problems: z.array(z.string()).exactOptional().describe('every mistake in the request'),
    failure: jobFailure.exactOptional(),
    state: z.string().exactOptional().describe('state of the job'),
    floorsHash: z.string().exactOptional().describe('hash of the current plan'),
  })
  .meta({ id: 'Problem' });
