import { z } from 'zod';

import type { Operation } from '../operations/define/operation.js';
import { nameListField } from './run-operation.js';

const status = z.string().describe('`success`; anything else is a failure');
const failure = {
  error: z.string().optional().describe('Error message'),
  code: z.string().optional().describe('Stable error code'),
  suggestion: z.string().optional().describe('Suggested next step'),
};

/** The output of `executePlan`, and of every write operation. */
export const EXECUTION_OUTPUT = z.looseObject({
  status,
  result: z.string().optional().describe('Transaction hash of the main step'),
  transactions: z
    .array(z.looseObject({ label: z.string(), hash: z.string() }))
    .optional()
    .describe('All sent transactions, in order'),
  ...failure,
});

/** The output of `plan<Operation>`. */
export const PLAN_OUTPUT = z.looseObject({
  status: z.string().describe('`planned`: nothing was sent; anything else is a failure'),
  planId: z.string().optional().describe('For executePlan, in this process only'),
  summary: z.string().optional().describe('The plan on one line, for executePlan, character for character'),
  expiresAt: z.string().optional().describe('Until when it can be executed'),
  preview: z.array(z.string()).optional().describe('The plan in full, line by line'),
  ...failure,
});

/**
 * The output of `runOperation` for an operation. Only `status` is always there, because failures have this form too.
 */
export function createOutputSchema(operation: Operation): z.ZodObject {
  if (!operation.readOnly) return EXECUTION_OUTPUT;
  const { output, name } = operation;
  // Values that JSON cannot hold become text, and are not described.
  if (!isRepresentable(output)) return z.looseObject({ status, ...failure });
  if (output instanceof z.ZodArray)
    return z.looseObject({ [nameListField(name)]: output.optional(), status, ...failure });
  if (output instanceof z.ZodObject) return z.looseObject({ ...output.partial().shape, status, ...failure });
  return z.looseObject({ status, ...failure });
}

function isRepresentable(schema: z.ZodType): boolean {
  try {
    z.toJSONSchema(schema, { io: 'output' });
    return true;
  } catch {
    return false;
  }
}
