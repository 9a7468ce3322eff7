import {
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeFunctionResult,
  parseAbi,
  RpcRequestError,
  toFunctionSelector,
  type Hex,
} from 'viem';

import { readTokenDomain } from './read-token-domain.js';

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value]);
/** As Circle's contract on Base states it. */
const SEPARATOR = '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f';
const CIRCLE = { 'name()': text('USD Coin'), 'version()': text('2'), 'DOMAIN_SEPARATOR()': SEPARATOR } as const;

/** A token by the answers of its functions; every other one is refused. */
function read(
  answers: Readonly<Record<string, Hex>>,
  chainId = 8453,
  refusal = { code: 3, message: 'execution reverted' },
) {
  const request = async ({ params: [{ data }] }: { params: [{ data: Hex }] }): Promise<Hex> => {
    const found = Object.entries(answers).find(([signature]) => toFunctionSelector(signature) === data);
    if (!found) throw new RpcRequestError({ body: {}, url: 'http://node', error: refusal });
    return found[1];
  };
  return readTokenDomain(createPublicClient({ transport: custom({ request } as never) }), chainId, USDC);
}

const abi = parseAbi([
  'function eip712Domain() view returns (bytes1, string name, string version, uint256 chainId, address verifyingContract, bytes32, uint256[])',
]);
const stating = (fields: Hex, chainId: bigint, contract: Hex): Record<string, Hex> => ({
  ...CIRCLE,
  'eip712Domain()': encodeFunctionResult({
    abi,
    result: [fields, 'Coin', '1', chainId, contract, `0x${'00'.repeat(32)}`, []],
  }),
});

describe('the EIP-712 domain of a token', () => {
  it.each<[string, Readonly<Record<string, Hex>>, object | null]>([
    ['its name and version, if its separator is their hash', CIRCLE, { name: 'USD Coin', version: '2' }],
    ['unknown where its separator is another', { ...CIRCLE, 'version()': text('1') }, null],
    ['unknown where it states no separator', { 'name()': text('USD Coin'), 'version()': text('2') }, null],
    ['unknown where it states nothing', {}, null],
    ['what it states itself (EIP-5267)', stating('0x0f', 8453n, USDC), { name: 'Coin', version: '1' }],
    ['unknown where it states a salt', stating('0x1f', 8453n, USDC), null],
    ['unknown where it states another chain', stating('0x0f', 1n, USDC), null],
    ['unknown where it states another contract', stating('0x0f', 8453n, `0x${'11'.repeat(20)}`), null],
  ])('is %s', async (_name, answers, domain) => {
    expect(await read(answers)).toEqual(domain);
  });

  // Prevents: money is sent before the server has seen the payment, because a node lags.
  it.each(['header not found', 'missing trie node 0xab'])('is an error where the node says: %s', async (message) => {
    await expect(read(CIRCLE, 8453, { code: -32000, message })).rejects.toThrow();
  });

  it('is that of the chain that is asked', async () => {
    expect(await read(CIRCLE, 1)).toBeNull();
  });
});
