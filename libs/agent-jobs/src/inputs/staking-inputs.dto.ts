import { Field } from './field.js';
import { AMOUNT, NATIVE_AMOUNT } from './field-rules.js';

export class StakeInput {
  @Field(NATIVE_AMOUNT, 'Amount of the native token, in whole units')
  amount!: string;
}

export class UnstakeInput {
  @Field(AMOUNT, 'Amount of the receipt token, in whole units')
  amount!: string;
}

/** Claims everything that was unstaked and has matured. */
export class ClaimUnstakedInput {}
