import { encodeAbiParameters, encodeEventTopics, erc20Abi, type Address, type Hex, type Log } from 'viem';

import { useChain } from '../../../client/test/set-up.js';
import { createContext } from '../../test/create-context.js';
import { sumArrived } from './sum-arrived.js';

const STRANGER = '0x00000000000000000000000000000000000bad01';

const chain = useChain({ protocols: true });
let context: Awaited<ReturnType<typeof createContext>>;
let account: Address;

beforeAll(async () => {
  account = chain.accounts[0]!.address;
  context = await createContext(chain);
});

function logOf(address: Address, from: Address, to: Address, value: bigint): Log {
  const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from, to } }) as [Hex, ...Hex[]];
  return { address, topics, data: encodeAbiParameters([{ type: 'uint256' }], [value]) } as Log;
}

describe('what has arrived', () => {
  it('is the sum of each token’s transfers to the account, and nothing else', async () => {
    const { USDC, WBTC } = chain.contracts.tokens;
    const logs = [
      logOf(USDC, STRANGER, account, 1_500_000n),
      logOf(WBTC, STRANGER, account, 1n),
      logOf(USDC, account, STRANGER, 9_000_000n),
      logOf(USDC, STRANGER, chain.payTo, 4_000_000n),
      logOf(USDC, STRANGER, account, 25n),
    ];
    expect(await sumArrived({ ...context, account }, logs)).toEqual({
      arrived: [
        { token: { ticker: 'USDC', address: USDC, isListed: true }, amount: '1.500025' },
        { token: { ticker: 'WBTC', address: WBTC, isListed: true }, amount: '0.00000001' },
      ],
    });
    expect(await sumArrived({ ...context, account }, logs.slice(2, 4))).toEqual({});
  });

  it('shows a contract that is no token in base units, without a name', async () => {
    const logs = [logOf(STRANGER, STRANGER, account, 7n)];
    const token = { ticker: null, address: expect.stringMatching(/^0x0+bad01$/i) as string, isListed: false };
    expect(await sumArrived({ ...context, account }, logs)).toEqual({ arrived: [{ token, amountBaseUnits: '7' }] });
  });
});
