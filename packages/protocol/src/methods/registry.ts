import type { Hex } from '../wire/hex.js';
import { ownField, type JsonRecord } from '../wire/json-record.js';
import { eip3009OnWire, type AuthorizationForms } from './eip3009/method.js';
import { MethodTable } from './method-table.js';
import { permit2OnWire, type PermitForms } from './permit2/method.js';
import type { MethodForms, SignedMethod } from './signed-method.js';

// What is published of one method alone.
export * from './eip3009/authorization.js';
export * from './permit2/permit.js';

/**
 * The methods' forms by kind. A program that registers another method declares its forms:
 * `declare module '@tollgate/protocol' { interface SignedMethods { mine: MyForms } }`.
 */
export interface SignedMethods {
  authorization: AuthorizationForms;
  permit2: PermitForms;
}

type Forms = SignedMethods[keyof SignedMethods];
/** What is signed, of any method. */
export type SignedTerms = Forms['terms'];
/** A payment that the payer signs and another account sends: no money moves before it is settled. */
export type SignedPayment = SignedTerms & { signature: Hex };
/** What a payer signs to pay, before it is signed: every field is text, so it can be stored as JSON. */
export type PaymentToSign = Forms['toSign'];
/** The id under which a signed payment is claimed. */
export type SignedPaymentId = Forms['id'];
export type AnySignedMethod = SignedMethod<Forms>;

/** A payload that shows none of them is read as one of the first. */
const methods = new MethodTable<AnySignedMethod>([eip3009OnWire, permit2OnWire]);

/** Adds a method; its forms must be declared in `SignedMethods`. Returns a function that removes it. */
export function registerSignedMethod<Own extends MethodForms>(method: SignedMethod<Own>): () => void {
  return methods.register(method as unknown as AnySignedMethod);
}

/** The method of a payment, its terms or its id. */
export function signedMethodOf(payment: { readonly kind: keyof SignedMethods }): AnySignedMethod {
  return methods.of(payment);
}

/** All methods, those of the table first. */
export const listSignedMethods = (): readonly AnySignedMethod[] => methods.all();

/** The first method that is paid by a scheme. */
export function methodOfScheme(scheme: string): AnySignedMethod | undefined {
  return methods.all().find(({ schemes }) => schemes.some((known) => known === scheme));
}

/** The schemes by which a payment of an x402 version can be signed. */
export function listSchemes(version: 1 | 2): string[] {
  return methods.all().flatMap(({ schemes, versions }) => (versions.includes(version) ? schemes : []));
}

/**
 * The method that a payload shows by the field of its terms; null where it shows none. Of two, the one that was added
 * later: its parser refuses the other's field.
 */
export function findShownMethod(payload: JsonRecord): AnySignedMethod | null {
  let shown: AnySignedMethod | null = null;
  for (const method of methods.all()) {
    if (ownField(payload, method.payloadField) !== undefined) shown = method;
  }
  return shown;
}
