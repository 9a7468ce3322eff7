import { Field } from './field.js';
import { AMOUNT_OR_MAX, amountField, LENDING_SYMBOL } from './field-rules.js';

const MARKET_AMOUNT = amountField('symbol');
const MARKET_AMOUNT_OR_MAX = amountField('symbol', AMOUNT_OR_MAX);
const SYMBOL_HELP = 'Token of the market: a symbol of the token list, or the address of the token';

export class MintLendingInput {
  @Field(LENDING_SYMBOL, SYMBOL_HELP)
  symbol!: string;

  @Field(MARKET_AMOUNT, 'Amount to supply, in whole units of the token')
  amount!: string;
}

export class RedeemLendingInput {
  @Field(LENDING_SYMBOL, SYMBOL_HELP)
  symbol!: string;

  @Field(
    MARKET_AMOUNT_OR_MAX,
    'Amount to withdraw, in whole units of the token, or MAX for all of it with its interest',
  )
  amount!: string;
}

export class BorrowLendingInput {
  @Field(LENDING_SYMBOL, SYMBOL_HELP)
  symbol!: string;

  @Field(MARKET_AMOUNT, 'Amount to borrow, in whole units of the token')
  amount!: string;
}

export class RepayLendingInput {
  @Field(LENDING_SYMBOL, SYMBOL_HELP)
  symbol!: string;

  @Field(MARKET_AMOUNT_OR_MAX, 'Amount to repay, in whole units of the token, or MAX for the whole debt')
  amount!: string;
}
