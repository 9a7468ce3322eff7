import fc from 'fast-check';
import { domainSeparator, hashTypedData, type TypedDataDomain } from 'viem';

import type { Hex } from '../../wire/hex.js';
import { permit2OnWire } from './method.js';
import { hashPermit2Domain, hashPermit2Transfer, PERMIT2_ADDRESS } from './permit.js';

const PERMIT = [
  { name: 'permitted', type: 'TokenPermissions' },
  { name: 'spender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
  { name: 'witness', type: 'Witness' },
] as const;
const TokenPermissions = [
  { name: 'token', type: 'address' },
  { name: 'amount', type: 'uint256' },
] as const;
const [to, facilitator, validAfter] = [
  { name: 'to', type: 'address' },
  { name: 'facilitator', type: 'address' },
  { name: 'validAfter', type: 'uint256' },
] as const;

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((data): Hex => `0x${Buffer.from(data).toString('hex')}`);
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const chainIds = fc.nat().map((number) => number + 1);
const permits = fc.record({
  from: address,
  permitted: fc.record({ token: address, amount: uint }),
  spender: address,
  nonce: uint,
  deadline: uint,
});
const domainOf = (chainId: number): TypedDataDomain => ({
  name: 'Permit2',
  chainId,
  verifyingContract: PERMIT2_ADDRESS,
});

/** The numbers as text, as payers send them. */
const sent = (permit: object): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(permit, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ) as Record<string, unknown>;

describe('the hash of a Permit2 transfer', () => {
  it.each([
    ['exact', fc.record({ to: address, validAfter: uint }), [to, validAfter]],
    ['upto', fc.record({ to: address, facilitator: address, validAfter: uint }), [to, facilitator, validAfter]],
  ] as const)(
    'is the EIP-712 hash that another implementation computes, under scheme %s',
    (scheme, witnesses, Witness) => {
      fc.assert(
        fc.property(permits, witnesses, chainIds, (permit, witness, chainId) => {
          const separator = hashPermit2Domain(chainId);
          expect(separator).toBe(domainSeparator({ domain: domainOf(chainId) }));
          const transfer = permit2OnWire.parse({ permit2Authorization: sent({ ...permit, witness }) });
          expect(transfer.scheme).toBe(scheme);
          expect(hashPermit2Transfer(transfer, separator)).toBe(
            hashTypedData({
              domain: domainOf(chainId),
              types: { PermitWitnessTransferFrom: PERMIT, TokenPermissions, Witness },
              primaryType: 'PermitWitnessTransferFrom',
              message: { ...permit, witness } as never,
            }),
          );
        }),
      );
    },
  );
});
