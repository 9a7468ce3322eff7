import type { Hex } from '../wire/hex.js';
import type { JsonRecord } from '../wire/json-record.js';
import type { PaymentFailure } from '../wire/payment-error.js';
import type { SignedTransferTerms } from './transfer-terms.js';
import type { TypedData } from './typed-data.js';

/** The schemes of x402: the signed amount is moved, or what was used of it. */
export type SignedScheme = 'exact' | 'upto';

/** The part of an offer that says how its payment is signed. */
export interface SignableOffer {
  readonly scheme: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The forms that a payment of one method has. All three have the method's `kind`. */
export interface MethodForms {
  /** What is signed. With the payer's `signature` it is the payment as it is sent, stored and settled. */
  readonly terms: { readonly kind: string };
  /** What a payer signs to pay: the terms, and what else their signature needs. Every field can be stored as JSON. */
  readonly toSign: MethodForms['terms'];
  /** What the ledger claims: a payment that can move money once, whichever account sends it. */
  readonly id: { readonly kind: string; readonly chainId: number };
}

/** The published protocol's words for a failure, by x402 version. */
export interface FacilitatorReason {
  readonly v1: string;
  readonly v2: string;
}

/** What a method says of its failures. A text is that of version 2 alone. */
export type MethodReasons = Readonly<Partial<Record<PaymentFailure, string | FacilitatorReason>>>;

/** What a field of a payment's id is: 20 bytes, 32 bytes, or a natural number as decimal text. */
export type IdField = 'address' | 'hash' | 'decimal';

/** The text of a payment's id: `<prefix>:<chainId>:<field>:…` is its entry in the ledger, `slot` its place there. */
export interface SignedIdForm {
  readonly prefix: string;
  readonly slot: string;
  /** The id's fields after the chain, in the order of the text. */
  readonly fields: Readonly<Record<string, IdField>>;
  /** The field that holds the payer, and the one that holds the token if the id determines it. */
  readonly payer: string;
  readonly asset: string | null;
}

/**
 * One method of signed payments on the wire: the payer signs a transfer, and another account sends it. Amounts are base
 * units and times Unix seconds, both as decimal text.
 */
export interface SignedMethod<Forms extends MethodForms> {
  readonly kind: Forms['terms']['kind'];
  /** By which people know it. */
  readonly title: string;
  /** A payment of it, in a sentence. */
  readonly noun: string;
  /** Its name in an offer of x402, `extra.assetTransferMethod`. */
  readonly transferMethod: string;
  /** The field of x402's payload that holds the terms, and so shows the method. */
  readonly payloadField: string;
  /** What else `extra` of its offer has, for a payer to sign; absent: no more. */
  readonly offered?: Readonly<Record<string, string>>;
  /** The contract that moves the token by the payer's allowance; null: the token moves it itself. */
  readonly spender: Hex | null;
  /** The schemes and the versions of x402 in which it is paid. */
  readonly schemes: readonly SignedScheme[];
  readonly versions: readonly (1 | 2)[];
  readonly id: SignedIdForm;
  /** What x402 calls its failures, by scheme, where that differs from the words for the usual method. */
  readonly reasons: Readonly<Partial<Record<SignedScheme, MethodReasons>>>;
  /**
   * Parses the payload's terms to one spelling: known own fields, hexadecimal text in lower case, numbers without
   * leading zeros.
   * @throws PaymentError `malformed_proof` naming the first invalid field
   */
  parse(payload: JsonRecord): Forms['terms'];
  payerOf(terms: Forms['terms']): Hex;
  recipientOf(terms: Forms['terms']): Hex;
  /** The most that may be moved where the scheme is `upto`. */
  amountOf(terms: Forms['terms']): string;
  /** As it is signed: whether the last second still counts is the method's own rule, which `endOf` knows. */
  validityOf(terms: Forms['terms']): { validAfter: string; validBefore: string };
  /** The Unix second from which on it cannot move tokens. */
  endOf(terms: Forms['terms']): number;
  schemeOf(terms: Forms['terms']): SignedScheme;
  /** What can be used once per payer. */
  nonceOf(terms: Forms['terms']): string;
  idOf(terms: Forms['terms'], token: { chainId: number; asset: Hex }): Forms['id'];
  /**
   * A payment for the payer to sign, valid from now on.
   * @throws PaymentError `cannot_pay` if the offer lacks what the signature needs
   */
  create(terms: SignedTransferTerms, offer: SignableOffer): Forms['toSign'];
  /** Parses the stored form of `create`, whose terms are parsed. @throws PaymentError `malformed_proof` */
  parseToSign(terms: Forms['terms'], stored: JsonRecord): Forms['toSign'];
  /** Without what only the signature needs. */
  termsOf(toSign: Forms['toSign']): Forms['terms'];
  /** What the payer's wallet signs. */
  typedDataOf(toSign: Forms['toSign'], chainId: number): TypedData;
}
