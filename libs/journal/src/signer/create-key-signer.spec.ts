import { randomBytes } from 'node:crypto';

import { createAuthorizationTypedData, createPermit2TypedData, type Hex, type TypedData } from '@tollgate/protocol';
import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';

import { samplePayment } from '../../test/sample-jobs.js';
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

  it.each(['authorization', 'permit2'] as const)(
    'signs an %s like a general library, for its own account only',
    async (kind) => {
      const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
      const account = privateKeyToAccount(privateKey);
      const signer = createKeySigner(privateKey);
      const payment = samplePayment(signer.address)[kind];
      const typed: TypedData =
        payment.kind === 'permit2'
          ? createPermit2TypedData(payment, 1328)
          : createAuthorizationTypedData(payment.authorization, { ...payment.token, chainId: 1328 });
      expect(await signer.signPayment(payment, 1328)).toBe(await account.signTypedData(typed));
      const other = samplePayment(`0x${'ab'.repeat(20)}`)[kind];
      await expect(signer.signPayment(other, 1328)).rejects.toThrow('another account');
    },
  );
});
