import { AgentKitCore, type OutputOf } from './agent-kit-core.js';
import type { ToolResult } from './tool-result.js';

/**
 * The operations as methods, with the specification's names and inputs (section "Endpoints"). Amounts are decimal text in
 * whole units; a token is `0x0` (native), an address, or a symbol of the chain's token list. Each throws an `AgentKitError`
 * while nothing was sent, and returns a `ToolResult` once something was.
 */
export class AgentKit extends AgentKitCore {
  /** Sells `amount` of `fromToken` for `toToken`, at least for what the slippage tolerance leaves of the present price. */
  swap(amount: string, fromToken: string, toToken: string, slippageBps?: number): Promise<ToolResult> {
    return this.run('swap', { amount, fromToken, toToken, slippageBps });
  }

  getSwapQuote(amount: string, fromToken: string, toToken: string): Promise<OutputOf<'getSwapQuote'>> {
    return this.read('getSwapQuote', { amount, fromToken, toToken });
  }

  /** Opens a position with at most the two amounts, in the pool of the fee tier (millionths), or the deepest there is. */
  addLiquidity(
    tokenA: string,
    tokenB: string,
    amountA: string,
    amountB: string,
    fee?: number,
    slippageBps?: number,
  ): Promise<ToolResult> {
    return this.run('addLiquidity', { tokenA, tokenB, amountA, amountB, fee, slippageBps });
  }

  /** Takes `percent` of a position out, all of it unless given, and the fees it earned. */
  removeLiquidity(positionId: string, percent?: number, slippageBps?: number): Promise<ToolResult> {
    return this.run('removeLiquidity', { positionId, percent, slippageBps });
  }

  getLiquidityPositions(): Promise<OutputOf<'getLiquidityPositions'>> {
    return this.read('getLiquidityPositions', {});
  }

  /** Buys the answer of an HTTP 402 gate for at most `maxAmount` of the token it is priced in. */
  payForResource(url: string, maxAmount?: string): Promise<ToolResult> {
    return this.run('payForResource', { url, maxAmount });
  }
}
