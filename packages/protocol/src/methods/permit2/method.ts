import { isAddress, lowerHex, type Hex } from '../../wire/hex.js';
import { ownField, type JsonRecord } from '../../wire/json-record.js';
import { PaymentError } from '../../wire/payment-error.js';
import { parseAddressField, parseObjectField, parseUintField, refuseSignedField } from '../signed-fields.js';
import type { MethodReasons, SignableOffer, SignedMethod } from '../signed-method.js';
import {
  createPermit2Transfer,
  createPermit2TypedData,
  PERMIT2_ADDRESS,
  type Permit2Authorization,
  type Permit2Transfer,
} from './permit.js';

type Terms = { kind: 'permit2' } & Permit2Transfer;

export interface PermitForms {
  terms: Terms;
  toSign: Terms;
  /** One nonce of a payer, as decimal text; it is used once, whatever the token and amount. */
  id: { kind: 'permit2'; chainId: number; owner: Hex; nonce: string };
}

const EXACT: MethodReasons = {
  amount_too_low: 'permit2_amount_mismatch',
  amount_mismatch: 'permit2_amount_mismatch',
  signature_invalid: 'invalid_permit2_signature',
  payment_used: 'permit2_invalid_nonce',
  recipient_mismatch: 'invalid_permit2_recipient_mismatch',
  authorization_not_yet_valid: 'permit2_not_yet_valid',
  authorization_expired: 'permit2_deadline_expired',
  balance_too_low: 'permit2_insufficient_balance',
  simulation_failed: 'permit2_simulation_failed',
  asset_mismatch: 'permit2_token_mismatch',
  spender_mismatch: 'invalid_permit2_spender',
  facilitator_mismatch: 'upto_facilitator_mismatch',
  permit2_allowance_missing: { v1: 'insufficient_funds', v2: 'permit2_allowance_required' },
  permit2_missing: { v1: 'invalid_payment_requirements', v2: 'permit2_proxy_not_deployed' },
};

/** The reasons of published x402 for a permit, by scheme, where they differ from those for an authorization. */
const REASONS = {
  exact: EXACT,
  upto: {
    ...EXACT,
    wrong_scheme: 'invalid_upto_evm_scheme',
    wrong_network: 'invalid_upto_evm_network_mismatch',
    transaction_failed: 'invalid_upto_evm_transaction_failed',
    settlement_failed: 'invalid_upto_evm_transaction_failed',
  },
};

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
  reasons: REASONS,
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

/**
 * Parses a `permit2Authorization`. Only a witness of scheme `upto` names a facilitator, so the witness determines the
 * scheme.
 * @throws PaymentError `malformed_proof` naming the first invalid field.
 */
function parsePermit2Authorization(value: JsonRecord): Permit2Transfer {
  const permitted = parseObjectField(value, 'permitted');
  const witness = parseObjectField(value, 'witness');
  const permit2Authorization: Permit2Authorization = {
    from: parseAddressField(value, 'from'),
    permitted: { token: parseAddressField(permitted, 'token'), amount: parseUintField(permitted, 'amount') },
    spender: parseAddressField(value, 'spender'),
    // Clients use both notations.
    nonce: parseUintField(value, 'nonce', { orHex: true }),
    deadline: parseUintField(value, 'deadline'),
    witness: { to: parseAddressField(witness, 'to'), validAfter: parseUintField(witness, 'validAfter') },
  };
  if (ownField(witness, 'facilitator') === undefined) return { scheme: 'exact', permit2Authorization };
  const facilitator = parseAddressField(witness, 'facilitator');
  const metered = { ...permit2Authorization, witness: { ...permit2Authorization.witness, facilitator } };
  return { scheme: 'upto', permit2Authorization: metered };
}
