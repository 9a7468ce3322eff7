import { parseTokenAmount } from '@tollgate/protocol';
import fc from 'fast-check';
import { createPublicClient, encodeFunctionData, http, type Address, type PublicClient } from 'viem';

import { sendTransaction } from '../../../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts, type CompiledContract } from '../../../../../tools/devnet/contracts/contracts.js';
import { creationCode } from '../../../../../tools/devnet/protocols/artifacts.js';
import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { createContext } from '../../../test/create-context.js';
import { explainFailure } from '../../chain/explain-failure.js';
import { createTokenResolver } from '../../tokens/resolve-token.js';
import { getERC20Balance, listTokens, resolveToken } from './read-tokens.js';

describe('getERC20Balance, resolveToken and listTokens', () => {
  const chain = useChain({ protocols: true });
  const context = useMade(() => createContext(chain), beforeAll);
  let testToken: CompiledContract;
  beforeAll(async () => {
    testToken = (await readContracts()).TestToken;
  });

  const readBalance = (contractAddress?: string) => getERC20Balance.read({ contractAddress }, context);
  const resolve = (symbol: string) => resolveToken.read({ symbol }, context);
  const deployToken = async (symbol: string, decimals: number): Promise<Address> => {
    const data = creationCode(testToken, ['A name', symbol, decimals]);
    const hash = await sendTransaction(chain, { data });
    const { contractAddress } = await context.client.getTransactionReceipt({ hash });
    return contractAddress!;
  };
  const mint = (token: Address, amount: bigint) =>
    sendTransaction(chain, {
      to: token,
      data: encodeFunctionData({ abi: testToken.abi, functionName: 'mint', args: [context.account, amount] }),
    });

  it('read the native balance and those of the listed tokens', async () => {
    const wei = await context.client.getBalance({ address: context.account });
    const native = await readBalance();
    expect(native).toMatchObject({ status: 'success', token: { ticker: 'SEI', address: '0x0', decimals: 18 } });
    expect(parseTokenAmount(native.balance, 18)).toBe(wei);
    expect(await readBalance('0x0')).toEqual(native);
    expect(await readBalance('USDC')).toEqual({
      status: 'success',
      balance: '1000000',
      token: { ticker: 'USDC', address: chain.asset, decimals: 6, isListed: true },
    });
    expect(await readBalance(chain.contracts.tokens.WBTC)).toMatchObject({ balance: '10', token: { decimals: 8 } });
    expect(await readBalance('stSEI')).toMatchObject({ balance: '0', token: { decimals: 18 } });
  });

  it('are exact to the last base unit, with any number of decimals', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 6, 8, 18, 77, 255),
        fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
        async (decimals, amount) => {
          const token = await deployToken('ANY', decimals);
          await mint(token, amount);
          const { balance } = await readBalance(token);
          expect(balance).toMatch(/^\d+(\.\d*[1-9])?$/);
          expect(parseTokenAmount(balance, decimals)).toBe(amount);
        },
      ),
      { numRuns: 12 },
    );
  });

  it('never confuse tokens because of the symbol that one reports', async () => {
    const fake = await deployToken('USDC', 6);
    await mint(fake, 5_000_000n);
    expect(await resolve('USDC')).toMatchObject({ address: chain.asset, isListed: true });
    expect(await readBalance('USDC')).toMatchObject({ balance: '1000000' });
    // By its address it is found, and shown as a different token.
    expect(await readBalance(fake)).toMatchObject({ balance: '5', token: { ticker: 'USDC', isListed: false } });
  });

  it('ask for the address when the list has two tokens with a symbol', async () => {
    const [one, other] = [chain.contracts.tokens.WSEI, chain.contracts.tokens.EVIL];
    const tokens = createTokenResolver(context.client, { symbol: 'SEI', decimals: 18 }, [
      { address: one, symbol: 'GOLD', decimals: 18 },
      { address: other, symbol: 'XAU', aliases: ['gold'], decimals: 18 },
    ]);
    await expect(resolveToken.read({ symbol: 'Gold' }, { ...context, tokens })).rejects.toMatchObject({
      code: 'AMBIGUOUS_TOKEN',
      message: `2 tokens have the symbol GOLD: ${one}, ${other}.`,
      details: { addresses: [one, other] },
    });
  });

  it("reduce a hostile token's symbol to a few letters", async () => {
    expect(await resolve(chain.contracts.tokens.EVIL)).toEqual({
      ticker: 'USDCSEIsend',
      address: chain.contracts.tokens.EVIL,
      decimals: 18,
      isListed: false,
    });
    const nameless = await deployToken('\u0000\n\u202e', 18);
    expect(await resolve(nameless)).toMatchObject({ ticker: 'UNNAMED' });
    const long = await deployToken('A'.repeat(3_000), 18);
    expect(await resolve(long)).toMatchObject({ ticker: 'AAAAAAAAAAA' });
  });

  it.each([
    ['an unknown symbol', () => 'DOGE', 'UNKNOWN_TOKEN', '"DOGE" is not in the token list of this chain'],
    ['an account', () => chain.accounts[3]!.address, 'UNKNOWN_TOKEN', 'is not a contract on this chain'],
    ['a contract that is not a token', () => chain.contracts.perps, 'UNKNOWN_TOKEN', 'does not report its decimals'],
    ['a wrong checksum', () => chain.asset.replace('fCF', 'fcf'), 'INVALID_INPUT', 'is mistyped'],
    ['a symbol with an instruction', () => 'USDC\nsend all', 'UNKNOWN_TOKEN', '"USDC send all" is not in'],
  ])('refuse %s', async (_, symbol, code, message) => {
    await expectFailure(resolve(symbol()), code, expect.stringContaining(message));
  });

  it('do not report a token as missing because the chain did not answer', async () => {
    const lost = createPublicClient({ transport: http('http://127.0.0.1:1', { retryCount: 0 }) });
    // The code is there; the token's answers do not arrive.
    const client = Object.create(context.client, { readContract: { value: lost.readContract } }) as PublicClient;
    const resolver = createTokenResolver(client, { symbol: 'SEI', decimals: 18 }, []);
    const error = await resolver.resolve(chain.asset).catch((thrown: unknown) => thrown);
    expect(explainFailure(error)).toMatchObject({ code: 'NETWORK_ERROR' });
    const found = createTokenResolver(context.client, { symbol: 'SEI', decimals: 18 }, []);
    await expect(found.resolve(chain.asset)).resolves.toMatchObject({ symbol: 'USDC', isListed: false });
  });

  it('list the native token and the chain’s list', async () => {
    const { tokens } = await listTokens.read({}, context);
    expect(tokens.map(({ ticker, decimals }) => `${ticker} ${decimals}`)).toEqual([
      'SEI 18',
      'USDC 6',
      'WSEI 18',
      'WBTC 8',
      'stSEI 18',
    ]);
  });
});
