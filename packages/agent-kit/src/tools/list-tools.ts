import type { z } from 'zod';

import { toolsetOf } from '../operations/catalog.js';
import { EXECUTE_PLAN, namePlanTool, type Operation } from '../operations/define/operation.js';
import { EXECUTE_PLAN_INPUT, executeKeptPlan, keepPlan } from './plan-tools.js';
import {
  runOperation,
  type OperationResult,
  type OperationRunner,
  type RunOptions,
  type ToolOptions,
} from './run-operation.js';

/** A tool in the form that every framework can offer. */
export interface OfferedTool {
  name: string;
  title: string;
  description: string;
  /** As strict as the kit: a framework would drop unknown fields, and a misspelt `slippageBps` would go unnoticed. */
  input: z.ZodObject;
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
  const { readOnly = false, plans = 'none', toolsets } = options;
  const operations = kit
    .operations()
    .filter((operation) => toolsets?.includes(toolsetOf(operation.name)) ?? true)
    // What the policy refuses is not worth a model's attention.
    .filter((operation) => operation.readOnly || (kit.allows?.(operation.name) ?? true));
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
    name,
    title,
    description,
    input: input.strict(),
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
    kind: 'execute',
    run: (given, options) => executeKeptPlan(kit, given, options),
  };
}
