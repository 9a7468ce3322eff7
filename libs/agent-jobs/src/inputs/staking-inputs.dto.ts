import { Field } from './field.js';
import { AMOUNT, NATIVE_AMOUNT } from './field-rules.js';

export class StakeInput {
  @Field(NATIVE_AMOUNT, 'How much of the native token')
  amount!: string;
}

export class UnstakeInput {
  @Field(AMOUNT, 'How much of the receipt token')
  amount!: string;
}

/** Everything that was unstaked and has matured is claimed. */
export class ClaimUnstakedInput {}
