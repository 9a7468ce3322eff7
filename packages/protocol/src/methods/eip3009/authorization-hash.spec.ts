import fc from 'fast-check';
import { domainSeparator, hashTypedData } from 'viem';

import type { Hex } from '../../wire/hex.js';
import { hashTokenDomain, hashTransferAuthorization, type TransferAuthorization } from './authorization.js';

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const bytes = (length: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((data): Hex => `0x${Buffer.from(data).toString('hex')}`);
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const authorizations: fc.Arbitrary<TransferAuthorization> = fc.record({
  from: bytes(20),
  to: bytes(20),
  value: uint,
  validAfter: uint,
  validBefore: uint,
  nonce: bytes(32),
});
// Not empty, because the other implementation omits empty fields from the domain's type.
const domains = fc.record({
  name: fc.string({ unit: 'grapheme', minLength: 1 }),
  version: fc.string({ minLength: 1 }),
  chainId: fc.nat().map((number) => number + 1),
  asset: bytes(20),
});

describe('the hash of an authorization', () => {
  it('is the EIP-712 hash that another implementation computes', () => {
    fc.assert(
      fc.property(authorizations, domains, (authorization, domain) => {
        const { name, version, chainId, asset: verifyingContract } = domain;
        const { value, validAfter, validBefore, ...addresses } = authorization;
        const separator = hashTokenDomain(domain);
        expect(separator).toBe(domainSeparator({ domain: { name, version, chainId, verifyingContract } }));
        expect(hashTransferAuthorization(authorization, separator)).toBe(
          hashTypedData({
            domain: { name, version, chainId, verifyingContract },
            types: TYPES,
            primaryType: 'TransferWithAuthorization',
            message: {
              ...addresses,
              value: BigInt(value),
              validAfter: BigInt(validAfter),
              validBefore: BigInt(validBefore),
            },
          }),
        );
      }),
    );
  });
});
