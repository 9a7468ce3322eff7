import { AgentKitCore, type InputOf, type OutputOf } from './agent-kit-core.js';
import type { ToolResult } from './types/tool-result.js';

/**
 * The operations as methods, with the specification's names and inputs (section "Endpoints"). Amounts are decimal text
 * in whole units; a token is `0x0` (native), an address, or a symbol of the chain's token list. Each throws an
 * `AgentKitError` if nothing was sent, and returns a `ToolResult` once something was.
 */
export class AgentKit extends AgentKitCore {
  /** The address that all operations act for, and its chain. */
  getAccount(): Promise<OutputOf<'getAccount'>> {
    return this.read('getAccount', {});
  }

  /** The outcome of a transaction and what it moved; `status` is `success` only if it was mined and did not fail. */
  getTransaction(hash: string): Promise<OutputOf<'getTransaction'>> {
    return this.read('getTransaction', { hash });
  }

  /** The balance as decimal text; of the native token when no contract is given. */
  async getERC20Balance(contractAddress?: string): Promise<string> {
    const { balance } = await this.read('getERC20Balance', { contractAddress });
    return balance;
  }

  /** The amount that the spender may take, as decimal text. */
  async getERC20Allowance(token: string, spender: string): Promise<string> {
    const { allowance } = await this.read('getERC20Allowance', { token, spender });
    return allowance;
  }

  /** How many tokens of an ERC-721 collection the account has. */
  async getERC721Balance(contractAddress: string): Promise<string> {
    const { balance } = await this.read('getERC721Balance', { contractAddress });
    return balance;
  }

  /** The token behind a listed symbol; ambiguous and unknown symbols are errors, never guesses. */
  resolveToken(symbol: string): Promise<OutputOf<'resolveToken'>> {
    return this.read('resolveToken', { symbol });
  }

  listTokens(): Promise<OutputOf<'listTokens'>> {
    return this.read('listTokens', {});
  }

  /** Sends the native token, or an ERC-20 token. */
  transfer(amount: string, to: string, token?: string): Promise<ToolResult> {
    return this.run('transfer', { amount, to, token });
  }

  /** Sets an allowance to exactly the amount; 0 revokes it. */
  approve(token: string, spender: string, amount: string): Promise<ToolResult> {
    return this.run('approve', { token, spender, amount });
  }

  transferERC721(contractAddress: string, to: string, tokenId: string): Promise<ToolResult> {
    return this.run('transferERC721', { contractAddress, to, tokenId });
  }

  /** Calls `mint(address,uint256)`; for the account itself unless `to` is given. */
  mintERC721(contractAddress: string, tokenId: string, to?: string): Promise<ToolResult> {
    return this.run('mintERC721', { contractAddress, tokenId, to });
  }

  getSwapQuote(amount: string, fromToken: string, toToken: string): Promise<OutputOf<'getSwapQuote'>> {
    return this.read('getSwapQuote', { amount, fromToken, toToken });
  }

  /** Swaps exactly `amount` of a token for at least the quoted amount minus the slippage tolerance. */
  swap(amount: string, fromToken: string, toToken: string, slippageBps?: number): Promise<ToolResult> {
    return this.run('swap', { amount, fromToken, toToken, slippageBps });
  }

  /**
   * Opens a position with at most the two amounts, in the pool with this fee tier (millionths), or the deepest pool.
   */
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

  /** Removes a position, or `percent` of it, and collects its fees. */
  removeLiquidity(positionId: string, percent?: number, slippageBps?: number): Promise<ToolResult> {
    return this.run('removeLiquidity', { positionId, percent, slippageBps });
  }

  getLiquidityPositions(): Promise<OutputOf<'getLiquidityPositions'>> {
    return this.read('getLiquidityPositions', {});
  }

  /** Supplies to a lending market; a later borrow makes it collateral if needed. */
  mintLending(symbol: string, amount: string): Promise<ToolResult> {
    return this.run('mintLending', { symbol, amount });
  }

  /** Withdraws supplied tokens; `MAX` for all of them. */
  redeemLending(symbol: string, amount: string): Promise<ToolResult> {
    return this.run('redeemLending', { symbol, amount });
  }

  /** Borrows against what was supplied. */
  borrowLending(symbol: string, amount: string): Promise<ToolResult> {
    return this.run('borrowLending', { symbol, amount });
  }

  /** Repays a debt; `MAX` for all of it, to the last unit. */
  repayLending(symbol: string, amount: string): Promise<ToolResult> {
    return this.run('repayLending', { symbol, amount });
  }

  getLendingMarkets(): Promise<OutputOf<'getLendingMarkets'>> {
    return this.read('getLendingMarkets', {});
  }

  /** The supplied and borrowed amounts, and the distance from liquidation. */
  getLendingPosition(): Promise<OutputOf<'getLendingPosition'>> {
    return this.read('getLendingPosition', {});
  }

  /** Stakes the native token for the liquid staking token, whose rewards compound by themselves. */
  stake(amount: string): Promise<ToolResult> {
    return this.run('stake', { amount });
  }

  /** Queues staked tokens for withdrawal; `claimUnstaked` claims them once they have matured. */
  unstake(amount: string): Promise<ToolResult> {
    return this.run('unstake', { amount });
  }

  claimUnstaked(): Promise<ToolResult> {
    return this.run('claimUnstaked', {});
  }

  getStakeQuote(amount: string): Promise<OutputOf<'getStakeQuote'>> {
    return this.read('getStakeQuote', { amount });
  }

  getStakingPosition(): Promise<OutputOf<'getStakingPosition'>> {
    return this.read('getStakingPosition', {});
  }

  /** Deposits margin. */
  perpsDeposit(amount: string): Promise<ToolResult> {
    return this.run('perpsDeposit', { amount });
  }

  /** Withdraws margin that no position needs. */
  perpsWithdraw(amount: string): Promise<ToolResult> {
    return this.run('perpsWithdraw', { amount });
  }

  perpsGetProducts(): Promise<OutputOf<'perpsGetProducts'>> {
    return this.read('perpsGetProducts', {});
  }

  perpsGetPositions(): Promise<OutputOf<'perpsGetPositions'>> {
    return this.read('perpsGetPositions', {});
  }

  /** Opens a position of `amount` of the base asset, with at most 20x leverage. */
  perpsOpenPosition(product: string, side: 'long' | 'short', amount: string, leverage?: number): Promise<ToolResult> {
    return this.run('perpsOpenPosition', { product, side, amount, leverage });
  }

  /** Closes a position, or `amount` of it. */
  perpsClosePosition(product: string, amount?: string): Promise<ToolResult> {
    return this.run('perpsClosePosition', { product, amount });
  }

  /** What a host says that it sells; nothing of it is checked. */
  listPaidResources(host: string): Promise<OutputOf<'listPaidResources'>> {
    return this.read('listPaidResources', { host });
  }

  /**
   * Buys the answer of a server that requires a payment (HTTP 402) for at most `maxAmount` of the token of its price.
   * @param request the method (GET), the body as text, and headers without credentials
   */
  payForResource(
    url: string,
    maxAmount?: string,
    request: Partial<Pick<InputOf<'payForResource'>, 'method' | 'body' | 'headers'>> = {},
  ): Promise<ToolResult> {
    return this.run('payForResource', { ...request, url, maxAmount });
  }
}
