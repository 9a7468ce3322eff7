import type { Hex, TransferAuthorization } from '@tollgate/protocol';
import fc from 'fast-check';
import { encodeFunctionData, encodeFunctionResult, parseAbi } from 'viem';

import { bundleCalls, readBundle } from '../../contracts/multicall3/bundle-calls.js';
import { planTransfer } from './plan-transfer.js';

const withParts = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
const withBytes = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const multicall3 = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] results)',
]);

const bytes = (minLength: number, maxLength = minLength): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength, maxLength }).map((array) => `0x${Buffer.from(array).toString('hex')}` as const);
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const authorizations: fc.Arbitrary<TransferAuthorization> = fc.record({
  from: bytes(20),
  to: bytes(20),
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: bytes(32),
});
const ASSET: Hex = `0x${'a5'.repeat(20)}`;
const MULTICALL3: Hex = `0x${'ca'.repeat(20)}`;
const DEPLOYED = { asset: ASSET, multicall3: MULTICALL3, isDeployed: true };

function argumentsOf({ from, to, value, validAfter, validBefore, nonce }: TransferAuthorization) {
  return [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce] as const;
}

describe('the calls of a settlement', () => {
  const functionName = 'transferWithAuthorization';

  it('are encoded as the ABI says for accounts', () => {
    fc.assert(
      fc.property(authorizations, bytes(32), bytes(32), fc.constantFrom(27, 28), (authorization, r, s, v) => {
        const args = [...argumentsOf(authorization), v, r, s] as const;
        const data = encodeFunctionData({ abi: withParts, functionName, args });
        expect(planTransfer(authorization, { kind: 'account', v, r, s }, DEPLOYED)).toEqual({ to: ASSET, data });
      }),
    );
  });

  it('are encoded as the ABI says for contracts, whatever the length of the signature', () => {
    fc.assert(
      fc.property(authorizations, bytes(1, 200), (authorization, signature) => {
        const args = [...argumentsOf(authorization), signature] as const;
        const data = encodeFunctionData({ abi: withBytes, functionName, args });
        const own = { kind: 'contract', bytes: signature, isWrapped: false, deployment: null } as const;
        const planned = planTransfer(authorization, own, DEPLOYED);
        expect(planned).toEqual({ to: ASSET, data });
      }),
    );
  });

  it('are bundled in the encoding of Multicall3', () => {
    const calls = fc.array(fc.record({ to: bytes(20), data: bytes(0, 100), mayFail: fc.boolean() }), { maxLength: 5 });
    fc.assert(
      fc.property(calls, (bundled) => {
        const args = bundled.map(({ to, data, mayFail }) => ({ target: to, allowFailure: mayFail, callData: data }));
        const data = encodeFunctionData({ abi: multicall3, functionName: 'aggregate3', args: [args] });
        expect(bundleCalls(MULTICALL3, bundled)).toEqual({ to: MULTICALL3, data });
      }),
    );
  });

  it('are read back as succeeded or failed, each by itself', () => {
    const results = fc.array(fc.record({ success: fc.boolean(), returnData: bytes(0, 100) }), { maxLength: 5 });
    fc.assert(
      fc.property(results, (result) => {
        const data = encodeFunctionResult({ abi: multicall3, functionName: 'aggregate3', result });
        expect(readBundle(data, result.length)).toEqual(result.map(({ success }) => success));
        expect(readBundle(data, result.length + 1)).toBeNull();
      }),
    );
    expect(readBundle('0x', 0)).toBeNull();
  });
});
