import type { Address, PublicClient } from 'viem';
import type { z } from 'zod';

import type { PaymentLimits } from '../payments/payment-limits.js';
import type { PlanDraft } from '../plan/plan.js';
import type { ProtocolSet } from '../protocols/protocol.js';
import type { TokenResolver } from '../tokens/resolve-token.js';

/** What operations may look at. Reading only: they cannot sign or send. */
export interface OperationContext {
  account: Address;
  chainId: number;
  /** What the kit calls the chain. */
  chainName: string;
  client: PublicClient;
  tokens: TokenResolver;
  /** The protocols of this chain; asking for one that is not deployed throws `PROTOCOL_UNAVAILABLE`. */
  protocols: ProtocolSet;
  /** The tolerance where the inputs name none, in basis points. */
  slippageBps: number;
  /** Null where the chain has no explorer. */
  explorerUrl: string | null;
  /** For operations that ask an HTTP server. */
  fetch: typeof globalThis.fetch;
  /** What may be paid at HTTP 402 gates; absent where the chain has no token that gates take. */
  payments?: PaymentLimits;
}

type InputSchema = z.ZodObject;

interface OperationBase<Name extends string, Input extends InputSchema> {
  name: Name;
  title: string;
  /** For people and models: what it does, in whole units of which token. */
  description: string;
  input: Input;
}

/** Looks at the chain and changes nothing. */
export interface ReadOperation<
  Name extends string = string,
  Input extends InputSchema = InputSchema,
  Output = unknown,
> extends OperationBase<Name, Input> {
  readOnly: true;
  output: z.ZodType<Output>;
  read(input: z.output<Input>, context: OperationContext): Promise<Output>;
}

/** Turns its inputs into a plan; somebody else simulates, asks, signs and sends. */
export interface WriteOperation<
  Name extends string = string,
  Input extends InputSchema = InputSchema,
> extends OperationBase<Name, Input> {
  readOnly: false;
  plan(input: z.output<Input>, context: OperationContext): Promise<PlanDraft>;
}

export type Operation = ReadOperation | WriteOperation;

/** Keeps the literal name and the types of the inputs. */
export function defineRead<const Name extends string, Input extends InputSchema, Output>(
  operation: Omit<ReadOperation<Name, Input, Output>, 'readOnly'>,
): ReadOperation<Name, Input, Output> {
  return { ...operation, readOnly: true };
}

/** Keeps the literal name and the types of the inputs. */
export function defineWrite<const Name extends string, Input extends InputSchema>(
  operation: Omit<WriteOperation<Name, Input>, 'readOnly'>,
): WriteOperation<Name, Input> {
  return { ...operation, readOnly: false };
}
