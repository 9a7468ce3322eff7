import { isAddress, type Hex } from '../../wire/hex.js';
import { isRecord, ownField } from '../../wire/json-record.js';
import { PaymentError } from '../../wire/payment-error.js';
import type { SignedMethod } from '../signed-method.js';
import { createTransferAuthorization, parseAuthorization, type SignedAuthorization } from './authorization.js';
import { createAuthorizationTypedData, type TokenDomain } from './signing.js';

type Terms = Omit<SignedAuthorization, 'signature'>;

export interface AuthorizationForms {
  terms: Terms;
  /** The signature needs the token's EIP-712 domain. */
  toSign: Terms & { token: Omit<TokenDomain, 'chainId'> };
  /** A transfer caused by the authorization is the same payment however it is presented. */
  id: { kind: 'authorization'; chainId: number; asset: Hex; from: Hex; nonce: Hex };
}

/** EIP-3009: the token itself moves the amount, once per nonce of the payer. */
export const eip3009OnWire: SignedMethod<AuthorizationForms> = {
  kind: 'authorization',
  title: 'EIP-3009',
  noun: 'an authorization',
  transferMethod: 'eip3009',
  payloadField: 'authorization',
  spender: null,
  schemes: ['exact'],
  versions: [1, 2],
  id: {
    prefix: 'auth',
    slot: 'auth',
    fields: { asset: 'address', from: 'address', nonce: 'hash' },
    payer: 'from',
    asset: 'asset',
  },
  reasons: {},
  parse: (payload) => ({ kind: 'authorization', authorization: parseAuthorization(payload) }),
  payerOf: ({ authorization }) => authorization.from,
  recipientOf: ({ authorization }) => authorization.to,
  amountOf: ({ authorization }) => authorization.value,
  validityOf: ({ authorization }) => authorization,
  endOf: ({ authorization }) => Number(authorization.validBefore),
  schemeOf: () => 'exact',
  nonceOf: ({ authorization }) => authorization.nonce,
  idOf({ authorization }, { chainId, asset }) {
    return { kind: 'authorization', chainId, asset, from: authorization.from, nonce: authorization.nonce };
  },
  create(terms, { extra }) {
    const { asset } = terms;
    const { name, version } = extra;
    if (typeof name !== 'string' || typeof version !== 'string') throw createDomainMissing(asset);
    const authorization = createTransferAuthorization(terms);
    return { kind: 'authorization', token: { asset, name, version }, authorization };
  },
  parseToSign({ kind, authorization }, stored) {
    const token = ownField(stored, 'token');
    const field = (name: string): unknown => (isRecord(token) ? ownField(token, name) : undefined);
    const [asset, name, version] = [field('asset'), field('name'), field('version')];
    if (!isAddress(asset) || typeof name !== 'string' || typeof version !== 'string') {
      throw new PaymentError('malformed_proof', "The payment to sign lacks its token's EIP-712 domain.");
    }
    return { kind, token: { asset, name, version }, authorization };
  },
  termsOf: ({ kind, authorization }) => ({ kind, authorization }),
  typedDataOf: ({ token, authorization }, chainId) =>
    createAuthorizationTypedData(authorization, { ...token, chainId }),
};

/** Why no payment in this token can be signed. */
export function createDomainMissing(asset: Hex): PaymentError {
  return new PaymentError(
    'cannot_pay',
    `The token ${asset} states no EIP-712 domain, so no payment in it can be signed.`,
    {
      hint: 'Nothing was paid. The server must take another token, or payments by transfer.',
      details: { asset },
    },
  );
}
