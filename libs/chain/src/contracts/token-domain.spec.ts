import { hashTokenDomain, type Hex } from '@tollgate/protocol';
import { encodeFunctionResult, parseAbi, zeroHash } from 'viem';

import type { RpcResult } from '../rpc/rpc-endpoint.js';
import { readDomain } from './token-domain.js';

const abi = parseAbi([
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
]);
const asset = '0x4fcf1784b31630811181f670aea7a7bef803eaed';
const separatorOf = (name: string, version: string): Hex => hashTokenDomain({ name, version, chainId: 1328, asset });

const state = (value: Hex): RpcResult => ({ kind: 'result', value });

function encodeDescription(fields: Hex, name = 'USD Coin', version = '2'): Hex {
  const result = [fields, name, version, 1328n, asset, zeroHash, []] as const;
  return encodeFunctionResult({ abi, result });
}

const describeDomain = (...described: Parameters<typeof encodeDescription>): RpcResult =>
  state(encodeDescription(...described));

const none: RpcResult = { kind: 'error', code: 3, message: 'execution reverted' };

describe('the EIP-712 domain that a token states', () => {
  const own = separatorOf('USD Coin', '2');
  const named = { name: 'USD Coin', version: '2' };

  it.each([
    ['its separator', state(own), none, { separator: own, named: null }],
    ['its parts', none, describeDomain('0x0f'), { separator: own, named }],
    ['both', state(own), describeDomain('0x0f'), { separator: own, named }],
    ['parts that contradict its separator', state(own), describeDomain('0x0f', 'USDC'), { separator: own }],
    ['nothing', none, none, null],
    ['nothing, from an account', state('0x'), state('0x'), null],
    ['half a description', none, state(encodeDescription('0x0f').slice(0, 300) as Hex), null],
    ['a description without end', none, describeDomain('0x0f', 'x'.repeat(100_000)), null],
  ])('is read from %s', (_, separator, domain, stated) => {
    const read = readDomain([separator, domain]);
    if (stated === null) expect(read).toBeNull();
    else expect(read).toMatchObject(stated);
  });

  it('is another one without a version, or with a salt', () => {
    for (const fields of ['0x0d', '0x1f', '0x00'] as const)
      expect(readDomain([none, describeDomain(fields)])?.separator).not.toBe(own);
  });
});
