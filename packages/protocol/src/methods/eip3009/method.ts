import { isAddress, isHash, type Hex } from '../../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../../wire/json-record.js';
import { PaymentError } from '../../wire/payment-error.js';
import { parseAddressField, parseHexField, parseObjectField, parseUintField } from '../signed-fields.js';
import type { SignedMethod } from '../signed-method.js';
import {
  createAuthorizationTypedData,
  createDomainMissing,
  createTransferAuthorization,
  type SignedAuthorization,
  type TokenDomain,
  type TransferAuthorization,
} from './authorization.js';

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

function parseAuthorization(payload: JsonRecord): TransferAuthorization {
  const value = parseObjectField(payload, 'authorization');
  return {
    from: parseAddressField(value, 'from'),
    to: parseAddressField(value, 'to'),
    value: parseUintField(value, 'value'),
    validAfter: parseUintField(value, 'validAfter'),
    validBefore: parseUintField(value, 'validBefore'),
    nonce: parseHexField(value, 'nonce', isHash, '32 bytes'),
  };
}
