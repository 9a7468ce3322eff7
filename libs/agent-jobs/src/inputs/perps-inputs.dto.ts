import { MAX_LEVERAGE } from '@tollgate/protocol';

import { Field, OptionalField } from './field.js';
import { AMOUNT, oneOf, PERPS_PRODUCT, wholeNumber } from './field-rules.js';

const PRODUCT_HELP = 'Symbol of the product, for example "BTC-PERP"';

export class PerpsDepositInput {
  @Field(AMOUNT, 'Amount of the margin token, in whole units')
  amount!: string;
}

export class PerpsWithdrawInput {
  @Field(AMOUNT, 'Amount of the margin token, in whole units')
  amount!: string;
}

export class PerpsOpenPositionInput {
  @Field(PERPS_PRODUCT, PRODUCT_HELP)
  product!: string;

  @Field(oneOf('long', 'short'), 'long profits when the price rises, short when it falls')
  side!: 'long' | 'short';

  @Field(AMOUNT, 'Amount of the base asset')
  amount!: string;

  @OptionalField(wholeNumber(1, MAX_LEVERAGE), 'Leverage; if omitted, 1')
  leverage?: number;
}

export class PerpsClosePositionInput {
  @Field(PERPS_PRODUCT, PRODUCT_HELP)
  product!: string;

  @OptionalField(AMOUNT, 'Amount of the base asset; if omitted, all of it')
  amount?: string;
}
