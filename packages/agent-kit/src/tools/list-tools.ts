import { z } from 'zod';

import { EXECUTE_PLAN, namePlanTool, type Operation } from '../operations/define/operation.js';
import { EXECUTE_PLAN_INPUT, executeKeptPlan, keepPlan } from './plan-tools.js';
import {
  nameListField,
  runOperation,
  type OperationResult,
  type OperationRunner,
  type RunOptions,
  type ToolOptions,
} from './run-operation.js';

const status = z.string().describe('`success`; anything else is a failure');
const failure = {
  error: z.string().optional().describe('Error message'),
  code: z.string().optional().describe('Stable error code'),
  suggestion: z.string().optional().describe('Suggested next step'),
};

/** The output of `executePlan`, and of every write operation. */
const EXECUTION_OUTPUT = z.looseObject({
  status,
  result: z.string().optional().describe('Transaction hash of the main step'),
  transactions: z
    .array(z.looseObject({ label: z.string(), hash: z.string() }))
    .optional()
    .describe('All sent transactions, in order'),
  ...failure,
});

/** The output of `plan<Operation>`. */
const PLAN_OUTPUT = z.looseObject({
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
function createOutputSchema(operation: Operation): z.ZodObject {
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

/** A tool in the form that every framework can offer. */
export interface OfferedTool {
  name: string;
  title: string;
  description: string;
  /** As strict as the kit: a framework would drop unknown fields, and a misspelt `slippageBps` would go unnoticed. */
  input: z.ZodObject;
  output: z.ZodObject;
  /**
   * `write` plans and sends in one call; `execute` sends a plan that an earlier call returned. Only `read` changes
   * nothing.
   */
  kind: 'read' | 'write' | 'execute';
  /** Never throws. */
  run: (input: unknown, options: RunOptions) => Promise<OperationResult>;
}

/** The operations, a tool that plans each write, and `executePlan` if requested. */
export function listTools(kit: OperationRunner, options: ToolOptions): readonly OfferedTool[] {
  const { readOnly = false, plans = 'show' } = options;
  const operations = kit.operations();
  if (readOnly) return operations.filter((operation) => operation.readOnly).map((read) => offerOperation(kit, read));
  const offered = operations.map((operation) => offerOperation(kit, operation));
  if (plans === 'none') return offered;
  const writes = operations.filter((operation) => !operation.readOnly);
  const planTools = writes.map((write) => offerPlan(kit, write, plans === 'execute'));
  return [...offered, ...planTools, ...(plans === 'execute' ? [offerExecution(kit)] : [])];
}

function offerOperation(kit: OperationRunner, operation: Operation): OfferedTool {
  const { name, title, description, input, readOnly } = operation;
  return {
    ...{ name, title, description, input: input.strict(), output: createOutputSchema(operation) },
    kind: readOnly ? 'read' : 'write',
    run: (given, options) => runOperation(kit, name, given, options),
  };
}

function offerPlan(
  kit: OperationRunner,
  { name, title, description, input }: Operation,
  isExecutable: boolean,
): OfferedTool {
  const suggestion = isExecutable
    ? `To send it, call ${EXECUTE_PLAN} with this planId and exactly this summary, which the person approves there.`
    : `Nothing was sent, and ${EXECUTE_PLAN} is not offered here: this shows what ${name} would do now.`;
  return {
    name: namePlanTool(name),
    title: `Plan: ${title}`,
    description: `Plans this and simulates it, sends nothing, and returns the plan's id and summary. ${description}`,
    input: input.strict(),
    output: PLAN_OUTPUT,
    kind: 'read',
    run: (given, options) => keepPlan(kit, name, given, { ...options, suggestion }),
  };
}

function offerExecution(kit: OperationRunner): OfferedTool {
  return {
    name: EXECUTE_PLAN,
    title: 'Sign and send a plan',
    description:
      'Signs and sends the transactions of a plan that a plan tool made, once, within five minutes. The summary must be ' +
      'the plan tool’s, character for character: it is what the person reads and approves.',
    input: EXECUTE_PLAN_INPUT.strict(),
    output: EXECUTION_OUTPUT,
    kind: 'execute',
    run: (given, options) => executeKeptPlan(kit, given, options),
  };
}
