import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';

const ajv = new AjvJsonSchemaValidator();
const known = new Map<string, JsonSchemaValidator<unknown>>();

/** For MCP clients: each client lists all tools, and a schema takes some 10 ms to compile. */
export const sharedValidators = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema);
    const validator = known.get(text) ?? ajv.getValidator(schema);
    known.set(text, validator);
    return validator as JsonSchemaValidator<T>;
  },
};
