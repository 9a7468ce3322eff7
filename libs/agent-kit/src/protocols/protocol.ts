import type { Address, PublicClient } from 'viem';

import type { Approval, Fee, Step } from '../plan/plan.js';
import type { TokenResolver } from '../tokens/resolve-token.js';
import type { Token, TokenAmount } from '../tokens/token.js';

/** What an adapter may use. Reading only: an adapter returns calls, it never sends. */
export interface ProtocolEnvironment {
  chainId: number;
  client: PublicClient;
  tokens: TokenResolver;
  fetch: typeof globalThis.fetch;
}

/** What an adapter wants done: allowances first, then its own calls. */
export interface ProtocolAction {
  approvals: readonly Approval[];
  calls: readonly Step[];
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
  /** Wrapping and unwrapping: one to one, so that no price can move. */
  isOneToOne: boolean;
  /** The way through the pools, for people. */
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
  /** Earned and not collected. */
  owedA: bigint;
  owedB: bigint;
}

export interface LiquidityProtocol {
  /**
   * The calls that open a position with at most the two amounts, in the proportion that the pool has now.
   * @returns with the calls: `deposits`, what the pool takes at its present price, and `minimums`, the least of it at which
   * the call still goes through, both in the order of the request.
   * @throws AgentKitError `INSUFFICIENT_LIQUIDITY` when the pair has no pool.
   */
  createAdd(request: {
    amounts: readonly [TokenAmount, TokenAmount];
    /** In millionths; null takes the pair's deepest pool. */
    fee: number | null;
    slippageBps: number;
    recipient: Address;
    deadlineSeconds: bigint;
  }): Promise<
    ProtocolAction & {
      fee: number;
      deposits: readonly [TokenAmount, TokenAmount];
      minimums: readonly [TokenAmount, TokenAmount];
    }
  >;
  /**
   * The calls that take a part of a position out, with all the fees it earned, and burn it when nothing is left.
   * @returns with the calls: `minimums`, the least that arrives of each token, fees not counted.
   * @throws AgentKitError `INVALID_INPUT` for a position that is not the recipient's.
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
  /** The contract that takes and lends it. */
  market: Address;
  /** Of the collateral's value, the part that may be borrowed: decimal text, `0.8`. */
  collateralFactor: string;
  /** Per year without compounding, as decimal text in percent. */
  supplyRatePercent: string;
  borrowRatePercent: string;
  /** What is there to be borrowed or withdrawn, in base units. */
  cash: bigint;
}

export interface LendingPosition {
  /** With interest. Only what is collateral can be liquidated; borrowing makes it collateral where it has to. */
  supplied: readonly (TokenAmount & { isCollateral: boolean })[];
  borrowed: readonly TokenAmount[];
  /** What may still be borrowed against all that is supplied, in the unit of the protocol's prices (decimal text). */
  available: string;
  /** By how much the debt is too high, in the same unit. */
  shortfall: string;
  /** Collateral that counts, divided by debt, as decimal text; null without a debt. Below 1 the position can be liquidated. */
  health: string | null;
}

export interface LendingProtocol {
  readonly name: string;
  readMarkets(): Promise<readonly LendingMarket[]>;
  readPosition(account: Address): Promise<LendingPosition>;
  /** The market's token for a symbol or an address. @throws AgentKitError `UNKNOWN_TOKEN` naming the markets there are. */
  resolveMarket(symbol: string): Promise<Token>;
  createSupply(amount: TokenAmount): Promise<ProtocolAction>;
  /** @throws AgentKitError `INSUFFICIENT_BALANCE`, `INSUFFICIENT_COLLATERAL`, `INSUFFICIENT_LIQUIDITY`, with the figures. */
  createRedeem(
    token: Token,
    amountBaseUnits: bigint | 'MAX',
    account: Address,
  ): Promise<ProtocolAction & { atLeast: TokenAmount }>;
  /**
   * Uses supplied tokens as collateral where the borrow needs it, each market in a call of its own.
   * @throws AgentKitError `INSUFFICIENT_COLLATERAL`, `INSUFFICIENT_LIQUIDITY`, with the figures.
   */
  createBorrow(amount: TokenAmount, account: Address): Promise<ProtocolAction & { warnings: readonly string[] }>;
  /**
   * `MAX` leaves no debt. It may take up to `atMost`, for the interest that runs up until it is mined; `atLeast` is the
   * debt of now. @throws AgentKitError `INVALID_INPUT` for more than is owed.
   */
  createRepay(
    token: Token,
    amountBaseUnits: bigint | 'MAX',
    account: Address,
  ): Promise<ProtocolAction & { atLeast: TokenAmount; atMost: TokenAmount; warnings: readonly string[] }>;
}

export interface StakingPosition {
  staked: TokenAmount;
  /** What the staked tokens are worth now. */
  worthWei: bigint;
  queued: readonly { ticketId: string; amountWei: bigint; claimableAtMs: number }[];
  /** The part of the queue that can be claimed now. */
  claimableWei: bigint;
}

export interface StakingProtocol {
  /** The receipt token. */
  readStakedToken(): Promise<Token>;
  readMinimumStakeWei(): Promise<bigint>;
  /** What staking so much gives now: a little less each moment, as a receipt token's worth grows with the rewards. */
  quoteStake(amountWei: bigint): Promise<TokenAmount>;
  quoteUnstake(shares: bigint): Promise<{ amountWei: bigint; unbondingSeconds: number }>;
  /** @throws AgentKitError `BELOW_MINIMUM` with the figure. */
  createStake(amountWei: bigint): Promise<ProtocolAction>;
  createUnstake(shares: bigint): Promise<ProtocolAction>;
  /** @throws AgentKitError `PROTOCOL_FAILED` while nothing can be claimed, saying when. */
  createClaim(account: Address): Promise<ProtocolAction & { amountWei: bigint }>;
  readPosition(account: Address): Promise<StakingPosition>;
}

/** All numbers as decimal text: prices in the quote asset, quantities in the base asset, fees and weights as parts of 1. */
export interface PerpsProduct {
  id: string;
  symbol: string;
  baseAsset: string;
  quoteAsset: string;
  active: boolean;
  markPrice: string;
  increment: string;
  minQuantity: string;
  maxQuantity: string;
  makerFee: string;
  takerFee: string;
  initialWeight: string;
  maintenanceWeight: string;
}

/** Money in whole units of the margin token. */
export interface PerpsPosition {
  product: string;
  side: 'long' | 'short';
  quantity: string;
  entryPrice: string;
  margin: string;
  /** With a minus sign for a loss. */
  unrealizedPnl: string;
  /** Null where no price can end it. */
  liquidationPrice: string | null;
}

/** Worst price that is accepted, as decimal text, and what the trade costs at the price of now. */
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
   * @returns with the calls: `locks`, the margin and the fee at the price of now.
   * @throws AgentKitError `LEVERAGE_TOO_HIGH`, `INSUFFICIENT_MARGIN`, `BELOW_MINIMUM`, `PROTOCOL_FAILED` for a product that
   * is not traded, `INVALID_INPUT` for an unknown product or a quantity that it does not take.
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

/** One protocol of each kind that operations can ask for. */
export interface ProtocolKinds {
  swap: SwapProtocol;
  liquidity: LiquidityProtocol;
  lending: LendingProtocol;
  staking: StakingProtocol;
  perps: PerpsProtocol;
}

export type ProtocolKind = keyof ProtocolKinds;

export interface ProtocolSet {
  /** @throws AgentKitError `PROTOCOL_UNAVAILABLE` when the chain has none of this kind. */
  require<Kind extends ProtocolKind>(kind: Kind): ProtocolKinds[Kind];
}
