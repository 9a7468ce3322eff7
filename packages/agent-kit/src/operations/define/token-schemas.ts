import { z } from 'zod';

/** Marks the schemas of inputs that name a token, without a trace in their JSON schemas. */
export const tokenSchemas = z.registry<{ isToken: true }>();

/** Whether an input names a token: a marked schema, also with a description of its own, or optional. */
export function isTokenSchema(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodOptional) return isTokenSchema(schema.unwrap());
  // Unlike `has`, it looks up the schemas that this one was derived from too.
  return tokenSchemas.get(schema) !== undefined;
}
