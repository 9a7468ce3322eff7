import { z } from 'zod';

export interface FieldFacts {
  /** Completes `<field> must …`. */
  must?: string;
  /** The input names a token. */
  isToken?: true;
  /** For an amount: the input that names its token; if that is null or omitted, it is the native token. */
  amountOf?: string | null;
  /** For API documents, in addition to the JSON schema that models get. */
  document?: Readonly<Record<string, unknown>>;
}

/** Facts about inputs that their JSON schemas do not contain. */
export const fieldFacts = z.registry<FieldFacts>();

/** The facts of an input: also of one with a description of its own, or one that may be left out. */
export function readFieldFacts(schema: z.core.$ZodType): FieldFacts {
  // Unlike `has`, it looks up the schemas that this one was derived from too.
  const own = fieldFacts.get(schema);
  if (own !== undefined) return own;
  if (schema instanceof z.ZodOptional) return readFieldFacts(schema.unwrap());
  return schema instanceof z.ZodPipe ? readFieldFacts(schema.out) : {};
}
