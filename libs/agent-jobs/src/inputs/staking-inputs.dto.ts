import { Field } from './field.js';
import { AMOUNT } from './field-rules.js';

export class StakeInput {
  @Field(AMOUNT, 'How much of the native token')
  amount!: string;
}

export class UnstakeInput {
  @Field(AMOUNT, 'How much of the receipt token')
  amount!: string;
}

/** Everything that was unstaked and has matured is claimed. */
export class ClaimUnstakedInput {}
