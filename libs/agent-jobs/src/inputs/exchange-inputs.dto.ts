import { Field, OptionalField } from './field.js';
import { amountOf, TOKEN, TOKEN_ID, wholeNumber } from './field-rules.js';

const SLIPPAGE = wholeNumber(0, 5_000);
const SLIPPAGE_HELP = "Slippage tolerance in basis points, 100 is 1 %; the worker's default when left out";

export class SwapInput {
  @Field(amountOf('fromToken'), 'How much of fromToken is sold, in its whole units')
  amount!: string;

  @Field(TOKEN, 'What is sold: 0x0 for the native token, an address, or a listed symbol')
  fromToken!: string;

  @Field(TOKEN, 'What is bought: 0x0 for the native token, an address, or a listed symbol')
  toToken!: string;

  @OptionalField(SLIPPAGE, SLIPPAGE_HELP)
  slippageBps?: number;
}

export class AddLiquidityInput {
  @Field(TOKEN, 'One token of the pool')
  tokenA!: string;

  @Field(TOKEN, 'The other token of the pool')
  tokenB!: string;

  @Field(amountOf('tokenA'), 'The most of tokenA, in its whole units')
  amountA!: string;

  @Field(amountOf('tokenB'), 'The most of tokenB, in its whole units')
  amountB!: string;

  @OptionalField(wholeNumber(0, 1_000_000), 'Fee tier of the pool in millionths: 3000 is 0.3 %')
  fee?: number;

  @OptionalField(SLIPPAGE, SLIPPAGE_HELP)
  slippageBps?: number;
}

export class RemoveLiquidityInput {
  @Field(TOKEN_ID, 'Number of the position, in digits')
  positionId!: string;

  @OptionalField(wholeNumber(1, 100), 'How much of the position in percent; all of it when left out')
  percent?: number;

  @OptionalField(SLIPPAGE, SLIPPAGE_HELP)
  slippageBps?: number;
}
