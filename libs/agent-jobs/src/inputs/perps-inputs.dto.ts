import { MAX_LEVERAGE } from '@tollgate/protocol';

import { Field, OptionalField } from './field.js';
import { AMOUNT, oneOf, PERPS_PRODUCT, wholeNumber } from './field-rules.js';

const PRODUCT_HELP = 'Symbol of the product, for example "BTC-PERP"';

export class PerpsDepositInput {
  @Field(AMOUNT, 'How much of the margin token')
  amount!: string;
}

export class PerpsWithdrawInput {
  @Field(AMOUNT, 'How much of the margin token')
  amount!: string;
}

export class PerpsOpenPositionInput {
  @Field(PERPS_PRODUCT, PRODUCT_HELP)
  product!: string;

  @Field(oneOf('long', 'short'), 'long gains when the price rises, short when it falls')
  side!: 'long' | 'short';

  @Field(AMOUNT, 'How much of the base asset')
  amount!: string;

  @OptionalField(wholeNumber(1, MAX_LEVERAGE), 'Leverage; 1 when left out')
  leverage?: number;
}

export class PerpsClosePositionInput {
  @Field(PERPS_PRODUCT, PRODUCT_HELP)
  product!: string;

  @OptionalField(AMOUNT, 'How much of the base asset; all of it when left out')
  amount?: string;
}
