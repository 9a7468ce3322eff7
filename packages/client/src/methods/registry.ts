import {
  MethodTable,
  signedMethodOf,
  type PaymentErrorCode,
  type PaymentToSign,
  type SignedMethods,
} from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import { readStateOf } from '../account/payment-state.js';
import { payByEip3009, type AuthorizableRequirement } from './eip3009/method.js';
import type { PayingMethod, SignedRequirement } from './paying-method.js';
import type { AllowanceOptions } from './permit2/allowance.js';
import { payByPermit2, type PermittableRequirement } from './permit2/method.js';

export type { AuthorizableRequirement, PermittableRequirement };
/** What a server of x402 offers that a signature pays. */
export type X402Requirement = AuthorizableRequirement | PermittableRequirement;
/** What of the client's options is for one method alone. */
export type MethodOptions = AllowanceOptions;
export type AnyPayingMethod = PayingMethod<keyof SignedMethods, X402Requirement, MethodOptions>;

/** One line a method, the usual one of a scheme first. */
const methods = new MethodTable<AnyPayingMethod>([payByEip3009, payByPermit2]);

/** Adds a method, which the protocol has to know. Returns a function that removes it. */
export function registerPayingMethod<Kind extends keyof SignedMethods, Requirement extends SignedRequirement>(
  method: PayingMethod<Kind, Requirement>,
): () => void {
  return methods.register(method as unknown as AnyPayingMethod);
}

export const listPayingMethods = (): readonly AnyPayingMethod[] => methods.all();

/** How this client pays by a method. @throws TypeError for a kind that it never offers to pay */
export function payingMethodOf(kind: string): AnyPayingMethod {
  const method = methods.all().find((one) => one.kind === kind);
  if (method === undefined) throw new TypeError(`this client does not pay by ${kind}`);
  return method;
}

/** The options that give each method's contract the same allowance, as decimal text. */
export function createAllowances(amount: string): MethodOptions {
  return Object.fromEntries(methods.all().flatMap(({ allowance }) => (allowance ? [[allowance.option, amount]] : [])));
}

/** Whose allowance is missing where a payment fails so, and the option that gives one; undefined for other failures. */
export function findMissingAllowance(failure: PaymentErrorCode): { title: string; option: string } | undefined {
  const method = methods.all().find(({ allowance }) => allowance?.failure === failure);
  return method?.allowance && { title: signedMethodOf(method).title, option: method.allowance.option };
}

/** What a final block shows of a signed payment, as `readStateOf` says. @throws what the client throws */
export function readPaymentState(client: PublicClient, payment: PaymentToSign): Promise<'open' | 'used' | 'void'> {
  const method = payingMethodOf(payment.kind);
  return readStateOf(client, payment, (blockNumber) => method.isUsed(client, payment, blockNumber));
}
