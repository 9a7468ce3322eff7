import type { Address, PublicClient } from 'viem';
import type { z } from 'zod';

import type { PaymentLimits } from '../../payments/payment-limits.js';
import type { ProtocolKind, ProtocolPlugin, ProtocolSet } from '../../protocols/protocol.js';
import type { TokenResolver } from '../../tokens/resolve-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { PlanDraft } from '../../types/plan.js';
import { cleanUntrusted } from '../../types/untrusted-text.js';
import { WRITE_OPERATIONS } from './write-operations.js';

/** What operations may access. Reading only: they cannot sign or send. */
export interface OperationContext {
  account: Address;
  chainId: number;
  /** The kit's name for the chain. */
  chainName: string;
  client: PublicClient;
  tokens: TokenResolver;
  /** The protocols of this chain; requesting one that is not deployed throws `PROTOCOL_UNAVAILABLE`. */
  protocols: ProtocolSet;
  /** The slippage tolerance if the inputs contain none, in basis points. */
  slippageBps: number;
  /** Null if the chain has no explorer. */
  explorerUrl: string | null;
  /** For operations that send HTTP requests. */
  fetch: typeof globalThis.fetch;
  /** The limits of payments at servers that answer 402. */
  payments?: PaymentLimits;
  /** The account on the further chains that payments may be made on. */
  elsewhere?: () => Promise<FurtherChains>;
  /** Asserts before a draft is chosen what is asserted of every plan. @throws AgentKitError `POLICY_VIOLATION` */
  assertAllowed?: (operation: string, draft: PlanDraft) => void;
}

/** What a payment is drafted with. */
export type PaymentDraftContext = Pick<
  OperationContext,
  'account' | 'chainId' | 'client' | 'payments' | 'tokens' | 'elsewhere' | 'assertAllowed'
>;

/** The account on the further chains that answer, and why the others are left out. */
export interface FurtherChains {
  contexts: readonly PaymentDraftContext[];
  problems: readonly string[];
}

type InputSchema = z.ZodObject;

interface OperationBase<Name extends string, Input extends InputSchema> {
  name: Name;
  title: string;
  /** For people and models: what it does, and the units of its amounts. */
  description: string;
  input: Input;
}

/** Reads the chain and changes nothing. */
export interface ReadOperation<
  Name extends string = string,
  Input extends InputSchema = InputSchema,
  Output = unknown,
> extends OperationBase<Name, Input> {
  readOnly: true;
  output: z.ZodType<Output>;
  read(input: z.output<Input>, context: OperationContext): Promise<Output>;
}

/** Turns its inputs into a draft; other components simulate, confirm, sign and send it. */
export interface WriteOperation<
  Name extends string = string,
  Input extends InputSchema = InputSchema,
> extends OperationBase<Name, Input> {
  readOnly: false;
  plan(input: z.output<Input>, context: OperationContext): Promise<PlanDraft>;
}

export type Operation = ReadOperation | WriteOperation;

/** Returns the operation unchanged; keeps its literal name and input types. */
export function defineRead<const Name extends string, Input extends InputSchema, Output>(
  operation: Omit<ReadOperation<Name, Input, Output>, 'readOnly'>,
): ReadOperation<Name, Input, Output> {
  return { ...operation, readOnly: true };
}

/** Returns the operation unchanged; keeps its literal name and input types. */
export function defineWrite<const Name extends string, Input extends InputSchema>(
  operation: Omit<WriteOperation<Name, Input>, 'readOnly'>,
): WriteOperation<Name, Input> {
  return { ...operation, readOnly: false };
}

type ListedName = Exclude<keyof typeof WRITE_OPERATIONS, 'payment'>;
type ListedInput<Name extends ListedName> = (typeof WRITE_OPERATIONS)[Name]['input'];

/** An operation of the kit's own list, by how it is planned. */
export function defineListed<const Name extends ListedName>(
  name: Name,
  plan: WriteOperation<Name, ListedInput<Name>>['plan'],
): WriteOperation<Name, ListedInput<Name>> {
  const { title, description, input } = WRITE_OPERATIONS[name];
  return defineWrite({ name, title, description, input, plan });
}

/** For drafts: an operation names what it moves, and nothing else. */
export const MOVES_NOTHING = { spends: [], receives: [], recipients: [] } as const;

/**
 * Parses the inputs of an operation with its schema; unknown fields are refused.
 * @throws AgentKitError `INVALID_INPUT` with every problem.
 */
export function parseInput(operation: Pick<Operation, 'name' | 'input'>, input: unknown): Record<string, unknown> {
  const result = operation.input.strict().safeParse(input);
  if (result.success) return Object.fromEntries(Object.entries(result.data).filter(([, value]) => value !== undefined));
  const problems = result.error.issues.map(({ path, message }) =>
    cleanUntrusted(path.length === 0 ? message : `${path.join('.')}: ${message}`),
  );
  throw new AgentKitError('INVALID_INPUT', `The inputs of ${operation.name} are invalid: ${problems.join('; ')}.`, {
    details: { problems },
  });
}

/** Additional operations, for protocols that fit none of the kit's kinds. */
export interface OperationPlugin {
  kind: 'operations';
  name: string;
  chainIds: readonly number[] | 'any';
  operations: readonly Operation[];
}

/** A third-party extension of the kit, in one file. See `docs/write-a-plugin.md`. */
export type Plugin = { [Kind in ProtocolKind]: ProtocolPlugin<Kind> }[ProtocolKind] | OperationPlugin;

/** The name of the tool that executes a plan of the other tools. */
export const EXECUTE_PLAN = 'executePlan';

/** The name of the tool that plans a write operation: `swap` -> `planSwap`. */
export function namePlanTool(operationName: string): string {
  return `plan${operationName.charAt(0).toUpperCase()}${operationName.slice(1)}`;
}
