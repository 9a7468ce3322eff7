import { z } from 'zod';

/**
 * Describes a zod schema for an OpenAPI 3.1 document: the `standardSchemaConverter` of Nest. A schema with `.meta({ id })`
 * becomes a component of that name, and every use of it a reference.
 */
export function toOpenApiSchema(schema: unknown): { schema: object; components: Record<string, object> } {
  const described = z.toJSONSchema(schema as z.ZodType, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // zod leaves out the default of a text that becomes a number.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
      // zod says what fits into a number, that names are texts, and that TypeScript must not change a list.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
        delete jsonSchema.minimum;
        delete jsonSchema.maximum;
      }
      if (zodSchema instanceof z.ZodRecord && zodSchema.keyType instanceof z.ZodString) delete jsonSchema.propertyNames;
      delete jsonSchema.readOnly;
    },
  });
  delete described.$schema;
  const { $defs: components = {}, ...own } = described;
  const text = JSON.stringify({ schema: own, components }).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text) as ReturnType<typeof toOpenApiSchema>;
}
