import type { AgentOperation } from './agent-job.js';

/** The highest leverage for opening a position (specification, section "Limits"). */
export const MAX_LEVERAGE = 20;

/** For operations on a fixed token. */
interface AmountInput {
  amount: string;
}

/** `symbol`: the market's token, as a symbol of the token list or an address. */
interface LendingInput extends AmountInput {
  symbol: string;
}

/**
 * The inputs of each operation. Amounts are decimal text in whole units of the token; a token is `0x0` for the native
 * one, an address, or a symbol of the chain's token list; fractions are basis points (100 is 1 %).
 */
export interface AgentJobInputs {
  transfer: { amount: string; to: string; token?: string };
  approve: { token: string; spender: string; amount: string };
  transferERC721: { contractAddress: string; to: string; tokenId: string };
  mintERC721: { contractAddress: string; tokenId: string; to?: string };
  swap: { amount: string; fromToken: string; toToken: string; slippageBps?: number };
  /** `fee`: the pool's fee, in millionths. */
  addLiquidity: {
    tokenA: string;
    tokenB: string;
    amountA: string;
    amountB: string;
    fee?: number;
    slippageBps?: number;
  };
  removeLiquidity: { positionId: string; percent?: number; slippageBps?: number };
  mintLending: LendingInput;
  /** `amount` may be `MAX`: the whole deposit with its interest. */
  redeemLending: LendingInput;
  borrowLending: LendingInput;
  /** `amount` may be `MAX`: the whole debt. */
  repayLending: LendingInput;
  stake: AmountInput;
  unstake: AmountInput;
  claimUnstaked: Record<never, never>;
  perpsDeposit: AmountInput;
  perpsWithdraw: AmountInput;
  perpsOpenPosition: { product: string; side: 'long' | 'short'; amount: string; leverage?: number };
  /** Closes the whole position unless an `amount` of the base asset is given. */
  perpsClosePosition: { product: string; amount?: string };
  /** `maxAmount`: the most it may cost, in whole units of the payment token. */
  payment: { url: string; maxAmount?: string };
}

/** A job of one operation with that operation's inputs. */
export interface AgentJobOf<Name extends AgentOperation> {
  operation: Name;
  /** The wallet's name. */
  wallet: string;
  input: AgentJobInputs[Name];
}

/** A job of any operation; `operation` tells which inputs it has. */
export type AgentJob = { [Name in AgentOperation]: AgentJobOf<Name> }[AgentOperation];
