import { AgentKitError, type ProtocolPlugin, type Token } from '@tollgate/agent-kit';
import { BaseError, ContractFunctionRevertedError, encodeFunctionData, parseAbi, type Address } from 'viem';

const routerAbi = parseAbi([
  'function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[] amounts)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  'function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  'function swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline) payable',
]);

interface UniswapV2Options {
  router: Address;
  wrappedNative: Address;
  chainIds: readonly number[];
}

/** Swaps through one pool of a Uniswap v2 deployment. */
export function uniswapV2Swap({ router, wrappedNative, chainIds }: UniswapV2Options): ProtocolPlugin<'swap'> {
  const addressOf = (token: Token) => (token.isNative ? wrappedNative : token.address);

  return {
    kind: 'swap',
    name: 'Uniswap v2',
    chainIds,
    // The client can only read: a plugin returns calls, and the kit simulates, signs and sends them.
    create: ({ client }) => ({
      async quote({ from, to, amountIn }) {
        const path = [addressOf(from), addressOf(to)];
        const expectedOut = await client
          .readContract({ address: router, abi: routerAbi, functionName: 'getAmountsOut', args: [amountIn, path] })
          .then((amounts) => amounts.at(-1) ?? 0n)
          .catch((error: unknown) => {
            // Only a revert means that there is no pool; a node that does not answer means nothing.
            if (isRevert(error)) return 0n;
            throw error;
          });
        if (expectedOut === 0n) {
          throw new AgentKitError('INSUFFICIENT_LIQUIDITY', 'Uniswap v2 has no liquidity for this pair and amount.');
        }
        return {
          expectedOut,
          isOneToOne: false,
          route: 'one pool of Uniswap v2',
          fees: [{ label: 'pool fee', text: '0.3 %' }],
          warnings: [],
          async createSwap({ minimumOut, recipient, deadlineSeconds }) {
            const terms = [minimumOut, path, recipient, deadlineSeconds] as const;
            const data = from.isNative
              ? encodeFunctionData({ abi: routerAbi, functionName: 'swapExactETHForTokens', args: terms })
              : encodeFunctionData({
                  abi: routerAbi,
                  functionName: to.isNative ? 'swapExactTokensForETH' : 'swapExactTokensForTokens',
                  args: [amountIn, ...terms],
                });
            return {
              // Exactly the amount of the call; the kit revokes what is left of it.
              approvals: from.isNative ? [] : [{ token: from, spender: router, amountBaseUnits: amountIn }],
              calls: [
                {
                  label: 'Swap in one pool of Uniswap v2',
                  to: router,
                  data,
                  value: from.isNative ? amountIn : 0n,
                  // The meaning of its reverts, so that callers get a code instead of a text.
                  failures: { codes: { INSUFFICIENT_OUTPUT_AMOUNT: 'SLIPPAGE', EXPIRED: 'PLAN_EXPIRED' } },
                },
              ],
            };
          },
        };
      },
    }),
  };
}

function isRevert(error: unknown): boolean {
  return error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError) !== null;
}
