import { fieldFacts, readFieldFacts, WRITE_OPERATIONS, type FieldFacts } from '@tollgate/agent-kit/operations';
import { AGENT_OPERATIONS, type AgentOperation } from '@tollgate/protocol';
import { z } from 'zod';

export type InputField = FieldFacts & { readonly name: string; readonly isOptional: boolean };
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The inputs of an operation, in the order of their declaration. */
export function listFields(operation: AgentOperation): InputField[] {
  const shape: Readonly<Record<string, z.core.$ZodType>> = WRITE_OPERATIONS[operation].input.shape;
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    isOptional: schema instanceof z.ZodOptional,
    ...readFieldFacts(schema),
  }));
}

/** The inputs of every operation as JSON schemas, generated from the schemas that they are parsed with. */
export function describeInputs(): Record<AgentOperation, JsonSchema> {
  const described = AGENT_OPERATIONS.map((operation) => [operation, describe(operation)]);
  return Object.fromEntries(described) as Record<AgentOperation, JsonSchema>;
}

function describe(operation: AgentOperation): JsonSchema {
  const { description, input } = WRITE_OPERATIONS[operation];
  const title = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Input`;
  // As output: a number that may also be written as text is described as a number.
  const schema = z.toJSONSchema(input, {
    io: 'output',
    override: ({ zodSchema, jsonSchema }) => Object.assign(jsonSchema, fieldFacts.get(zodSchema)?.document),
  });
  delete schema.$schema;
  return { title, description, ...schema };
}
