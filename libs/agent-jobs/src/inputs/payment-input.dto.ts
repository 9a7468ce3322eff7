import { Field, OptionalField } from './field.js';
import { AMOUNT, HTTP_URL } from './field-rules.js';

export class PaymentInput {
  @Field(HTTP_URL, 'Where the resource is; it is asked for with GET')
  url!: string;

  @OptionalField(AMOUNT, 'The most it may cost, in whole units of the token that is paid with')
  maxAmount?: string;
}
