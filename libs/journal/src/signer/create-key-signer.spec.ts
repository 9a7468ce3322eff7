import { randomBytes } from 'node:crypto';

import type { Hex } from '@tollgate/protocol';
import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';

import { createKeySigner } from './create-key-signer.js';

const bytes = (minLength: number, maxLength = minLength): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength, maxLength }).map((array) => `0x${Buffer.from(array).toString('hex')}` as const);
const upTo = (bits: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: 2n ** bits - 1n });

describe('the signer of a private key', () => {
  it('produces the same bytes as a general library', async () => {
    const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
    const account = privateKeyToAccount(privateKey);
    const signer = createKeySigner(privateKey);
    expect(signer.address).toBe(account.address.toLowerCase());
    const transactions = fc.record({
      chainId: fc.integer({ min: 1, max: 2 ** 40 }),
      nonce: fc.nat(),
      to: bytes(20),
      data: fc.oneof(bytes(0, 2), bytes(50, 60), bytes(250, 300), bytes(70_000)),
      value: upTo(128n),
      gas: upTo(40n),
      maxFeePerGas: upTo(80n),
      // Within the limits of the library.
      maxPriorityFeePerGas: fc.constant(0n),
    });
    await fc.assert(
      fc.asyncProperty(transactions, async (transaction) => {
        const expected = await account.signTransaction({ type: 'eip1559', ...transaction });
        expect(await signer.sign(transaction)).toBe(expected);
        const { chainId, nonce, to, data, value, gas, maxFeePerGas: gasPrice } = transaction;
        const legacy = { ...transaction, maxPriorityFeePerGas: gasPrice, isLegacy: true } as const;
        expect(await signer.sign(legacy)).toBe(
          await account.signTransaction({ type: 'legacy', chainId, nonce, to, data, value, gas, gasPrice }),
        );
      }),
      { numRuns: 60 },
    );
  });
});
