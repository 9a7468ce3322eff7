import { formatTokenAmount } from '@tollgate/protocol';
import {
  encodeFunctionData,
  getContract,
  type Address,
  type GetContractReturnType,
  type Hex,
  type PublicClient,
} from 'viem';

import { showAmount } from '../../tokens/show-token.js';
import type { Fee, ProtocolAction, Step } from '../../types/plan.js';
import type { Token, TokenAmount } from '../../types/token.js';
import { cleanSymbol } from '../../types/untrusted-text.js';
import type { PerpsProtocol, ProtocolEnvironment, ProtocolPlugin } from '../protocol.js';
import {
  assertActive,
  assertHeld,
  assertLeverage,
  assertMargin,
  assertQuantity,
  assertSameSide,
  findProduct,
  parseOrderQuantity,
} from './assert-order.js';
import { describePerpsPosition, describeProduct, showProduct, type ExchangeProduct } from './describe-perps.js';
import { perpsAbi, perpsFailures } from './perps-abi.js';
import { feeOf, limitPriceFor, notionalBaseUnits, openingCost, PERPS_DECIMALS } from './perps-math.js';

export interface PerpsExchangeOptions {
  contract: Address;
  chainIds: readonly number[];
  name?: string;
}

/** Perpetual futures with a margin account: one position per product, long or short, at the mark price. */
export function perpsExchange(options: PerpsExchangeOptions): ProtocolPlugin<'perps'> {
  const { chainIds, contract, name = 'Perps exchange' } = options;
  return {
    kind: 'perps',
    name,
    chainIds,
    probes: [{ contract: 'exchange', address: contract, getter: 'marginToken', returns: 'address' }],
    create: (environment) => new PerpsExchange(name, environment, contract),
  };
}

class PerpsExchange implements PerpsProtocol {
  readonly #tokens: ProtocolEnvironment['tokens'];
  readonly #contract: GetContractReturnType<typeof perpsAbi, PublicClient>;

  constructor(
    readonly name: string,
    environment: ProtocolEnvironment,
    address: Address,
  ) {
    this.#tokens = environment.tokens;
    this.#contract = getContract({ address, abi: perpsAbi, client: environment.client });
  }

  async readMarginToken(): Promise<Token> {
    return this.#tokens.resolve(await this.#contract.read.marginToken());
  }

  async readProducts() {
    return (await this.#contract.read.products()).map(describeProduct);
  }

  async readAccount(account: Address) {
    const [token, products, positions, free] = await Promise.all([
      this.readMarginToken(),
      this.#contract.read.products(),
      this.#contract.read.positionsOf([account]),
      this.#contract.read.freeMargin([account]),
    ]);
    return {
      freeMargin: { token, amountBaseUnits: free },
      positions: positions.map((position) => describePerpsPosition(position, products, token.decimals)),
    };
  }

  async createDeposit(amount: TokenAmount): Promise<ProtocolAction> {
    const data = encodeFunctionData({ abi: perpsAbi, functionName: 'deposit', args: [amount.amountBaseUnits] });
    return {
      approvals: [{ ...amount, spender: this.#contract.address }],
      calls: [this.#createCall(`Deposit ${showAmount(amount)} as margin`, data)],
    };
  }

  async createWithdraw(amount: TokenAmount, account: Address): Promise<ProtocolAction> {
    assertMargin(amount, await this.#contract.read.freeMargin([account]));
    const data = encodeFunctionData({ abi: perpsAbi, functionName: 'withdraw', args: [amount.amountBaseUnits] });
    return { approvals: [], calls: [this.#createCall(`Withdraw ${showAmount(amount)} of margin`, data)] };
  }

  async createOpen(request: Parameters<PerpsProtocol['createOpen']>[0]) {
    const { side, leverage, slippageBps, account } = request;
    assertLeverage(leverage);
    const [product, token, positions, free] = await Promise.all([
      this.#readProduct(request.product),
      this.readMarginToken(),
      this.#contract.read.positionsOf([account]),
      this.#contract.read.freeMargin([account]),
    ]);
    assertActive(product);
    const isLong = side === 'long';
    const held = positions.find(({ productId }) => productId === product.id);
    assertSameSide(product, held, isLong);
    const quantity = parseOrderQuantity(product, request.quantity);
    assertQuantity(product, quantity, held?.quantity ?? 0n);
    const notional = notionalBaseUnits(quantity, product.markPrice, token.decimals);
    const cost = openingCost(notional, leverage, product.takerFeeBps);
    const locks = { token, amountBaseUnits: cost.total };
    assertMargin(locks, free);

    const limitPrice = limitPriceFor(product.markPrice, slippageBps, isLong);
    const args = [product.id, isLong, quantity, BigInt(leverage), limitPrice] as const;
    const terms = describeTerms(product, side, quantity, limitPrice, { token, amountBaseUnits: cost.fee });
    const label = `Open ${side} ${terms.quantity} ${terms.baseAsset} of ${terms.product} at ${leverage}x`;
    const data = encodeFunctionData({ abi: perpsAbi, functionName: 'open', args });
    return { approvals: [], calls: [this.#createCall(label, data)], ...terms, locks };
  }

  async createClose({ product: reference, quantity: text, slippageBps, account }: CloseRequest) {
    const [product, token, positions] = await Promise.all([
      this.#readProduct(reference),
      this.readMarginToken(),
      this.#contract.read.positionsOf([account]),
    ]);
    const wanted = text === null ? null : parseOrderQuantity(product, text);
    const held = assertHeld(
      product,
      positions.find(({ productId }) => productId === product.id),
      wanted,
    );
    const quantity = wanted ?? held.quantity;
    const side = held.isLong ? 'long' : 'short';
    // Closing a long sells, closing a short buys back.
    const limitPrice = limitPriceFor(product.markPrice, slippageBps, !held.isLong);
    const fee = feeOf(notionalBaseUnits(quantity, product.markPrice, token.decimals), product.takerFeeBps);
    const terms = describeTerms(product, side, quantity, limitPrice, { token, amountBaseUnits: fee });
    const label = `Close ${side} ${terms.quantity} ${terms.baseAsset} of ${terms.product}`;
    const data = encodeFunctionData({
      abi: perpsAbi,
      functionName: 'close',
      args: [product.id, quantity, limitPrice],
    });
    return { approvals: [], calls: [this.#createCall(label, data)], ...terms };
  }

  async #readProduct(reference: string): Promise<ExchangeProduct> {
    return findProduct(await this.#contract.read.products(), reference);
  }

  #createCall(label: string, data: Hex): Step {
    return { label, to: this.#contract.address, data, value: 0n, failures: perpsFailures };
  }
}

type CloseRequest = Parameters<PerpsProtocol['createClose']>[0];

function describeTerms(
  product: ExchangeProduct,
  side: 'long' | 'short',
  quantity: bigint,
  limitPrice: bigint,
  fee: TokenAmount,
) {
  const fees: Fee[] = [{ label: 'taker fee', text: `about ${showAmount(fee)}` }];
  return {
    product: showProduct(product),
    side,
    quantity: formatTokenAmount(quantity, PERPS_DECIMALS),
    baseAsset: cleanSymbol(product.baseAsset),
    limitPrice: formatTokenAmount(limitPrice, PERPS_DECIMALS),
    fees,
  };
}
