import { formatTokenAmount, MAX_UINT256 } from '@tollgate/protocol';
import { encodeFunctionData, getContract, type Address, type Hex, type PublicClient } from 'viem';

import { showAmount } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Step } from '../../types/plan.js';
import type { Token, TokenAmount } from '../../types/token.js';
import type { LendingProtocol, ProtocolPlugin } from '../protocol.js';
import { suppliedBaseUnits } from './account-liquidity.js';
import { assertCash, assertCollateralCovers, assertRedeemable } from './assert-lending-limits.js';
import { comptrollerAbi, marketAbi, nativeMarketAbi } from './compound-abi.js';
import { marketFailures } from './compound-failures.js';
import { describeMarket, describePosition, readHoldings, type MarketHolding } from './read-holdings.js';
import { createMarketDirectory, type Market, type MarketDirectory } from './read-markets.js';

export interface CompoundV2Options {
  comptroller: Address;
  chainIds: readonly number[];
  /** The markets of the native token itself, which receive it as the value of the call. */
  nativeMarkets?: readonly Address[];
  /** For the rates per year; default: blocks every 0.4 s. */
  blocksPerYear?: bigint;
  name?: string;
}

const BLOCKS_PER_YEAR = 78_840_000n;

/**
 * Lending markets of Compound v2 and its forks. They return error numbers instead of reverting, so every call here
 * contains their meanings.
 */
export function compoundV2(options: CompoundV2Options): ProtocolPlugin<'lending'> {
  const { chainIds, comptroller, nativeMarkets = [], blocksPerYear = BLOCKS_PER_YEAR, name = 'Compound v2' } = options;
  return {
    kind: 'lending',
    name,
    chainIds,
    probes: [
      { contract: 'comptroller', address: comptroller, getter: 'getAllMarkets', returns: 'address[]' },
      { contract: 'comptroller', address: comptroller, getter: 'oracle', returns: 'address' },
    ],
    create: (environment) => {
      const markets = createMarketDirectory(environment, comptroller, nativeMarkets);
      return new CompoundV2(name, environment.client, comptroller, markets, blocksPerYear);
    },
  };
}

class CompoundV2 implements LendingProtocol {
  constructor(
    readonly name: string,
    private readonly client: PublicClient,
    private readonly comptroller: Address,
    private readonly markets: MarketDirectory,
    private readonly blocksPerYear: bigint,
  ) {}

  async readMarkets() {
    const markets = await this.markets.list();
    const { client, comptroller, blocksPerYear } = this;
    return Promise.all(markets.map((market) => describeMarket(client, comptroller, market, blocksPerYear)));
  }

  async readPosition(account: Address) {
    return describePosition(await readHoldings(this.client, this.comptroller, await this.markets.list(), account));
  }

  async resolveMarket(symbol: string): Promise<Token> {
    return (await this.markets.find(symbol)).token;
  }

  async createSupply(amount: TokenAmount) {
    const market = await this.markets.find(amount.token.address);
    const label = `Supply ${showAmount(amount)}`;
    if (market.token.isNative) {
      const data = encodeFunctionData({ abi: nativeMarketAbi, functionName: 'mint' });
      return { approvals: [], calls: [createCall(market, label, data, amount.amountBaseUnits)] };
    }
    const data = encodeFunctionData({ abi: marketAbi, functionName: 'mint', args: [amount.amountBaseUnits] });
    return { approvals: [{ ...amount, spender: market.address }], calls: [createCall(market, label, data)] };
  }

  async createRedeem(token: Token, wanted: bigint | 'MAX', account: Address) {
    const { holdings, holding } = await this.#readAccount(token, account);
    const amountBaseUnits = wanted === 'MAX' ? suppliedBaseUnits(holding) : wanted;
    assertRedeemable(holdings, holding, amountBaseUnits);
    const { market } = holding;
    assertCash(holding, await this.#readMarket(market).getCash(), amountBaseUnits);
    const atLeast = { token: market.token, amountBaseUnits };
    const data =
      wanted === 'MAX'
        ? encodeFunctionData({ abi: marketAbi, functionName: 'redeem', args: [holding.shares] })
        : encodeFunctionData({ abi: marketAbi, functionName: 'redeemUnderlying', args: [wanted] });
    const what = wanted === 'MAX' ? `all of the supplied ${market.token.symbol}` : showAmount(atLeast);
    return { approvals: [], calls: [createCall(market, `Withdraw ${what}`, data)], atLeast };
  }

  async createBorrow(amount: TokenAmount, account: Address) {
    const { holdings, holding } = await this.#readAccount(amount.token, account);
    const { market } = holding;
    const collateral = assertCollateralCovers(holdings, holding, amount.amountBaseUnits);
    assertCash(holding, await this.#readMarket(market).getCash(), amount.amountBaseUnits);
    const data = encodeFunctionData({ abi: marketAbi, functionName: 'borrow', args: [amount.amountBaseUnits] });
    const symbols = collateral.map((entered) => entered.market.token.symbol).join(', ');
    return {
      approvals: [],
      calls: [
        ...collateral.map((entered) => this.#createEntry(entered.market)),
        createCall(market, `Borrow ${showAmount(amount)}`, data),
      ],
      warnings: symbols === '' ? [] : [`The supplied ${symbols} becomes collateral, which can be liquidated.`],
    };
  }

  async createRepay(token: Token, wanted: bigint | 'MAX', account: Address) {
    const market = await this.markets.find(token.address);
    const owed = await this.#readMarket(market).borrowBalanceCurrent([account]);
    assertOwed(market, owed, wanted);
    const isAll = wanted === 'MAX';
    const atLeast = { token: market.token, amountBaseUnits: isAll ? owed : wanted };
    const label = `Repay ${isAll ? `all that is owed, ${showAmount(atLeast)} now` : showAmount(atLeast)}`;
    if (market.token.isNative) {
      const data = encodeFunctionData({ abi: nativeMarketAbi, functionName: 'repayBorrow' });
      const calls = [createCall(market, label, data, atLeast.amountBaseUnits)];
      return { approvals: [], calls, atLeast, atMost: atLeast, warnings: isAll ? [NATIVE_DUST] : [] };
    }
    // Interest accrues until it is mined: one percent more is approved, and the rest is revoked.
    const atMost = isAll ? { token: market.token, amountBaseUnits: owed + (owed + 99n) / 100n } : atLeast;
    const args = [isAll ? MAX_UINT256 : wanted] as const;
    const data = encodeFunctionData({ abi: marketAbi, functionName: 'repayBorrow', args });
    const approvals = [{ ...atMost, spender: market.address }];
    return { approvals, calls: [createCall(market, label, data)], atLeast, atMost, warnings: [] };
  }

  async #readAccount(token: Token, account: Address): Promise<{ holdings: MarketHolding[]; holding: MarketHolding }> {
    const market = await this.markets.find(token.address);
    const markets = await this.markets.list();
    const holdings = await readHoldings(this.client, this.comptroller, markets, account, market);
    const holding = holdings.find((candidate) => candidate.market.address === market.address);
    if (!holding) throw new AgentKitError('PROTOCOL_FAILED', `The lending market ${market.address} no longer exists.`);
    return { holdings, holding };
  }

  #readMarket({ address }: Market) {
    return getContract({ address, abi: marketAbi, client: this.client }).read;
  }

  #createEntry(market: Market): Step {
    return {
      label: `Use the supplied ${market.token.symbol} as collateral`,
      to: this.comptroller,
      data: encodeFunctionData({ abi: comptrollerAbi, functionName: 'enterMarkets', args: [[market.address]] }),
      value: 0n,
    };
  }
}

// The market accepts no more than the debt, whose amount at the time of the block is not known.
const NATIVE_DUST = 'The interest of the time until this is mined remains as a debt.';

function createCall(market: Market, label: string, data: Hex, value = 0n): Step {
  return { label, to: market.address, data, value, failures: marketFailures };
}

/** @throws AgentKitError `INVALID_INPUT` when nothing or less is owed: the market would refuse the repayment. */
function assertOwed({ token }: Market, owed: bigint, wanted: bigint | 'MAX'): void {
  if (owed > 0n && (wanted === 'MAX' || wanted <= owed)) return;
  const text = formatTokenAmount(owed, token.decimals);
  throw new AgentKitError(
    'INVALID_INPUT',
    owed === 0n ? `There is no debt in ${token.symbol}.` : `Only ${text} ${token.symbol} is owed.`,
    {
      details: { token: token.symbol, owed: text },
      ...(owed === 0n ? {} : { suggestion: 'Use MAX to repay it all.' }),
    },
  );
}
