import type { Address, PublicClient } from 'viem';
import type { z } from 'zod';

import type { Probe } from '../chain/probe.js';
import type { TokenResolver } from '../tokens/resolve-token.js';
import type { Fee, ProtocolAction } from '../types/plan.js';
import type { Token, TokenAmount } from '../types/token.js';
import type { positionSchema, productSchema } from './perps-schemas.js';

/** What an adapter may access. Reading only: an adapter returns calls, it never sends. */
export interface ProtocolEnvironment {
  chainId: number;
  client: PublicClient;
  tokens: TokenResolver;
  fetch: typeof globalThis.fetch;
}

export interface SwapRequest {
  from: Token;
  to: Token;
  amountIn: bigint;
  account: Address;
}

export interface SwapTerms {
  minimumOut: bigint;
  slippageBps: number;
  recipient: Address;
  /** On the chain's clock. */
  deadlineSeconds: bigint;
}

export interface SwapQuote {
  expectedOut: bigint;
  /** Wrapping and unwrapping: one to one, so there is no price risk. */
  isOneToOne: boolean;
  /** The path through the pools, for display. */
  route: string;
  fees: readonly Fee[];
  warnings: readonly string[];
  /** The calls that swap along this route for at least `minimumOut`, or revert. */
  createSwap(terms: SwapTerms): Promise<ProtocolAction>;
}

export interface SwapProtocol {
  /** @throws AgentKitError `INSUFFICIENT_LIQUIDITY` when no pool has a price for the amount. */
  quote(request: SwapRequest): Promise<SwapQuote>;
}

export interface LiquidityPosition {
  positionId: string;
  tokenA: Token;
  tokenB: Token;
  /** Fee tier in millionths. */
  fee: number;
  amountA: bigint;
  amountB: bigint;
  /** Fees earned and not collected. */
  owedA: bigint;
  owedB: bigint;
}

export interface LiquidityProtocol {
  /**
   * The calls that open a position with at most the two amounts, in the pool's current proportion.
   * @returns with the calls: `deposits`, the amounts that the pool takes at its current price, and `minimums`, below
   * which the call reverts, both in the order of the request.
   * @throws AgentKitError `INSUFFICIENT_LIQUIDITY` when the pair has no pool; `INVALID_INPUT` for a fee tier whose price
   * is not that of the pair.
   */
  createAdd(request: {
    amounts: readonly [TokenAmount, TokenAmount];
    /** In millionths; null selects the pair's pool that holds most. */
    fee: number | null;
    slippageBps: number;
    recipient: Address;
    deadlineSeconds: bigint;
  }): Promise<
    ProtocolAction & {
      fee: number;
      deposits: readonly [TokenAmount, TokenAmount];
      minimums: readonly [TokenAmount, TokenAmount];
      warnings: readonly string[];
    }
  >;
  /**
   * The calls that remove a part of a position, with all its fees, and burn it when nothing is left.
   * @returns with the calls: `minimums`, the least that arrives of each token, without fees.
   * @throws AgentKitError `INVALID_INPUT` for a position of another owner.
   */
  createRemove(request: {
    positionId: bigint;
    percent: number;
    slippageBps: number;
    recipient: Address;
    deadlineSeconds: bigint;
  }): Promise<ProtocolAction & { minimums: readonly [TokenAmount, TokenAmount] }>;
  readPositions(account: Address): Promise<readonly LiquidityPosition[]>;
}

export interface LendingMarket {
  token: Token;
  /** The address of the market's contract. */
  market: Address;
  /** The part of the collateral's value that may be borrowed: decimal text, `0.8`. */
  collateralFactor: string;
  /** Per year without compounding, as decimal text in percent. */
  supplyRatePercent: string;
  borrowRatePercent: string;
  /** The amount available to borrow or withdraw, in base units. */
  cash: bigint;
}

export interface LendingPosition {
  /** With interest. Only collateral can be liquidated; a borrow makes a supply collateral if needed. */
  supplied: readonly (TokenAmount & { isCollateral: boolean })[];
  borrowed: readonly TokenAmount[];
  /** The remaining borrowing power against all supplies, in the unit of the protocol's prices (decimal text). */
  available: string;
  /** By how much the debt is too high, in the same unit. */
  shortfall: string;
  /**
   * Value of the collateral that counts, divided by debt, as decimal text; null without a debt. Below 1 the position
   * can be liquidated.
   */
  health: string | null;
}

export interface LendingProtocol {
  readonly name: string;
  readMarkets(): Promise<readonly LendingMarket[]>;
  readPosition(account: Address): Promise<LendingPosition>;
  /** The market's token for a symbol or an address. @throws AgentKitError `UNKNOWN_TOKEN` with the list of markets. */
  resolveMarket(symbol: string): Promise<Token>;
  createSupply(amount: TokenAmount): Promise<ProtocolAction>;
  /**
   * @throws AgentKitError `INSUFFICIENT_BALANCE`, `INSUFFICIENT_COLLATERAL`, `INSUFFICIENT_LIQUIDITY`, with the
   * figures.
   */
  createRedeem(
    token: Token,
    amountBaseUnits: bigint | 'MAX',
    account: Address,
  ): Promise<ProtocolAction & { atLeast: TokenAmount }>;
  /**
   * Makes supplied tokens collateral if the borrow needs it, each market in a call of its own.
   * @throws AgentKitError `INSUFFICIENT_COLLATERAL`, `INSUFFICIENT_LIQUIDITY`, with the figures.
   */
  createBorrow(amount: TokenAmount, account: Address): Promise<ProtocolAction & { warnings: readonly string[] }>;
  /**
   * `MAX` leaves no debt. It may take up to `atMost`, because interest accrues until it is mined; `atLeast` is the
   * current debt. @throws AgentKitError `INVALID_INPUT` for more than is owed.
   */
  createRepay(
    token: Token,
    amountBaseUnits: bigint | 'MAX',
    account: Address,
  ): Promise<ProtocolAction & { atLeast: TokenAmount; atMost: TokenAmount; warnings: readonly string[] }>;
}

export interface StakingPosition {
  staked: TokenAmount;
  /** The current value of the staked tokens. */
  worthWei: bigint;
  queued: readonly { ticketId: string; amountWei: bigint; claimableAtMs: number }[];
  /** The part of the queue that can be claimed now. */
  claimableWei: bigint;
}

export interface StakingProtocol {
  /** The receipt token. */
  readStakedToken(): Promise<Token>;
  readMinimumStakeWei(): Promise<bigint>;
  /**
   * The current result of staking this amount. It decreases slowly, because a receipt token gains value with the
   * rewards.
   */
  quoteStake(amountWei: bigint): Promise<TokenAmount>;
  quoteUnstake(shares: bigint): Promise<{ amountWei: bigint; unbondingSeconds: number }>;
  /** @throws AgentKitError `BELOW_MINIMUM` with the figure. */
  createStake(amountWei: bigint): Promise<ProtocolAction>;
  createUnstake(shares: bigint): Promise<ProtocolAction>;
  /** @throws AgentKitError `PROTOCOL_FAILED` while nothing can be claimed, with the time of the next claim. */
  createClaim(account: Address): Promise<ProtocolAction & { amountWei: bigint }>;
  readPosition(account: Address): Promise<StakingPosition>;
}

export type PerpsProduct = z.output<typeof productSchema>;
export type PerpsPosition = z.output<typeof positionSchema>;

/** The worst acceptable price, as decimal text, and the cost of the trade at the current price. */
export interface PerpsTerms {
  /** The product's symbol. */
  product: string;
  side: 'long' | 'short';
  /** In the base asset. */
  quantity: string;
  baseAsset: string;
  limitPrice: string;
  fees: readonly Fee[];
}

export interface PerpsProtocol {
  readonly name: string;
  readMarginToken(): Promise<Token>;
  readProducts(): Promise<readonly PerpsProduct[]>;
  readAccount(account: Address): Promise<{ freeMargin: TokenAmount; positions: readonly PerpsPosition[] }>;
  createDeposit(amount: TokenAmount): Promise<ProtocolAction>;
  /** @throws AgentKitError `INSUFFICIENT_MARGIN` when less is free. */
  createWithdraw(amount: TokenAmount, account: Address): Promise<ProtocolAction>;
  /**
   * @param request.product symbol, number, or base asset of a product.
   * @returns with the calls: `locks`, the margin and the fee at the current price.
   * @throws AgentKitError `LEVERAGE_TOO_HIGH`, `INSUFFICIENT_MARGIN`, `BELOW_MINIMUM`, `PROTOCOL_FAILED` for a product
   * that is not traded, `INVALID_INPUT` for an unknown product or an invalid quantity.
   */
  createOpen(request: {
    product: string;
    side: 'long' | 'short';
    quantity: string;
    leverage: number;
    slippageBps: number;
    account: Address;
  }): Promise<ProtocolAction & PerpsTerms & { locks: TokenAmount }>;
  /** @throws AgentKitError `INVALID_INPUT` without a position of that quantity. */
  createClose(request: {
    product: string;
    /** Null: all of it. */
    quantity: string | null;
    slippageBps: number;
    account: Address;
  }): Promise<ProtocolAction & PerpsTerms>;
}

/** One protocol of each kind that operations can use. */
export interface ProtocolKinds {
  swap: SwapProtocol;
  liquidity: LiquidityProtocol;
  lending: LendingProtocol;
  staking: StakingProtocol;
  perps: PerpsProtocol;
}

export type ProtocolKind = keyof ProtocolKinds;

export interface ProtocolSet {
  /**
   * Runs the protocol's probes before its first use.
   * @throws AgentKitError `PROTOCOL_UNAVAILABLE` when the chain has none of this kind, or its contracts are not what they
   * are said to be.
   */
  require<Kind extends ProtocolKind>(kind: Kind): Promise<ProtocolKinds[Kind]>;
}

/** A protocol for one of the kit's kinds, on the listed chains. The first one of a kind is used. */
export interface ProtocolPlugin<Kind extends ProtocolKind = ProtocolKind> {
  kind: Kind;
  name: string;
  /** The chains it is deployed on; `any` if it uses an external service. */
  chainIds: readonly number[] | 'any';
  /** What shows that its contracts are what it says: read once, before its first use. */
  probes?: readonly Probe[];
  create(environment: ProtocolEnvironment): ProtocolKinds[Kind];
}
