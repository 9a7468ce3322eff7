import { Field, OptionalField } from './field.js';
import { amountField, TOKEN, TOKEN_ID, wholeNumber } from './field-rules.js';

const SLIPPAGE = wholeNumber(0, 5_000);
const SLIPPAGE_HELP = "Slippage tolerance in basis points, 100 is 1 %; if omitted, the worker's default";

export class SwapInput {
  @Field(amountField('fromToken'), 'Amount of fromToken to sell, in whole units')
  amount!: string;

  @Field(TOKEN, 'Token to sell: 0x0 for the native token, an address, or a listed symbol')
  fromToken!: string;

  @Field(TOKEN, 'Token to buy: 0x0 for the native token, an address, or a listed symbol')
  toToken!: string;

  @OptionalField(SLIPPAGE, SLIPPAGE_HELP)
  slippageBps?: number;
}

export class AddLiquidityInput {
  @Field(TOKEN, 'One token of the pool')
  tokenA!: string;

  @Field(TOKEN, 'The other token of the pool')
  tokenB!: string;

  @Field(amountField('tokenA'), 'Maximum amount of tokenA, in whole units')
  amountA!: string;

  @Field(amountField('tokenB'), 'Maximum amount of tokenB, in whole units')
  amountB!: string;

  @OptionalField(wholeNumber(0, 1_000_000), 'Fee tier of the pool in millionths: 3000 is 0.3 %')
  fee?: number;

  @OptionalField(SLIPPAGE, SLIPPAGE_HELP)
  slippageBps?: number;
}

export class RemoveLiquidityInput {
  @Field(TOKEN_ID, 'Token id of the position, as decimal digits')
  positionId!: string;

  @OptionalField(wholeNumber(1, 100), 'Percentage of the position to remove; if omitted, all of it')
  percent?: number;

  @OptionalField(SLIPPAGE, SLIPPAGE_HELP)
  slippageBps?: number;
}
