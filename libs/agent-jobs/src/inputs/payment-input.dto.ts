import { Field, OptionalField } from './field.js';
import { AMOUNT, HTTP_URL } from './field-rules.js';

export class PaymentInput {
  @Field(HTTP_URL, 'URL of the resource, which is requested with GET')
  url!: string;

  @OptionalField(AMOUNT, 'Maximum price, in whole units of the payment token')
  maxAmount?: string;
}
