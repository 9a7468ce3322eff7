import { isAddress, lowerHex, type Hex } from '../../wire/hex.js';
import { ownField } from '../../wire/json-record.js';
import { PaymentError } from '../../wire/payment-error.js';
import { parseObjectField, refuseSignedField } from '../signed-fields.js';
import type { SignableOffer, SignedMethod } from '../signed-method.js';
import { createPermit2Transfer, parsePermit2Authorization, PERMIT2_ADDRESS, type Permit2Transfer } from './permit.js';
import { PERMIT_REASONS } from './reasons.js';
import { createPermit2TypedData } from './signing.js';

type Terms = { kind: 'permit2' } & Permit2Transfer;

export interface PermitForms {
  terms: Terms;
  toSign: Terms;
  /** One nonce of a payer, as decimal text; it is used once, whatever the token and amount. */
  id: { kind: 'permit2'; chainId: number; owner: Hex; nonce: string };
}

/** Permit2: a contract that the payer has approved moves the amount, or what was used of it. */
export const permit2OnWire: SignedMethod<PermitForms> = {
  kind: 'permit2',
  title: 'Permit2',
  noun: 'a permit',
  transferMethod: 'permit2',
  payloadField: 'permit2Authorization',
  spender: PERMIT2_ADDRESS,
  schemes: ['exact', 'upto'],
  versions: [2],
  id: { prefix: 'permit', slot: 'permit', fields: { owner: 'address', nonce: 'decimal' }, payer: 'owner', asset: null },
  reasons: PERMIT_REASONS,
  parse(payload) {
    const transfer = parsePermit2Authorization(parseObjectField(payload, 'permit2Authorization'));
    const scheme = ownField(payload, 'scheme');
    if (scheme !== undefined && scheme !== transfer.scheme) return refuseSignedField('scheme', `"${transfer.scheme}"`);
    return { kind: 'permit2', ...transfer };
  },
  payerOf: ({ permit2Authorization }) => permit2Authorization.from,
  recipientOf: ({ permit2Authorization }) => permit2Authorization.witness.to,
  amountOf: ({ permit2Authorization }) => permit2Authorization.permitted.amount,
  validityOf: ({ permit2Authorization: { witness, deadline } }) => ({
    validAfter: witness.validAfter,
    validBefore: deadline,
  }),
  // Permit2 accepts it in a block of exactly its last second.
  endOf: ({ permit2Authorization }) => Number(permit2Authorization.deadline) + 1,
  schemeOf: ({ scheme }) => scheme,
  nonceOf: ({ permit2Authorization }) => permit2Authorization.nonce,
  idOf({ permit2Authorization: { from: owner, nonce } }, { chainId }) {
    return { kind: 'permit2', chainId, owner, nonce };
  },
  create: (terms, offer) => ({ kind: 'permit2', ...createPermit2Transfer(terms, readFacilitator(offer)) }),
  parseToSign: (terms) => terms,
  termsOf: (toSign) => toSign,
  typedDataOf: createPermit2TypedData,
};

/** The account that alone may settle a metered payment; null for scheme `exact`. */
function readFacilitator({ scheme, extra }: SignableOffer): Hex | null {
  if (scheme !== 'upto') return null;
  const { facilitatorAddress } = extra;
  if (isAddress(facilitatorAddress)) return lowerHex(facilitatorAddress);
  throw new PaymentError('cannot_pay', 'The offer names no facilitator that may settle the payment.');
}
