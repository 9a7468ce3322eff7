import { Setting, toBaseUnits, type TokenUnit } from '@tollgate/config';
import type { RefundCaps } from '@tollgate/refunds';
import { Matches } from 'class-validator';

const AMOUNT = /^(none|\d{1,30}(\.\d{1,36})?)$/;
const message = '$property must be a decimal amount of the token in whole units, or none';

/**
 * How much may be refunded in each token. Amounts are in the unit of prices, which an option's rate turns into its token;
 * `none`: any amount.
 */
export class RefundEnvironment {
  @Setting({
    help: 'The most that one refund may pay back, in whole units of the token times its rate; none: any amount.',
  })
  @Matches(AMOUNT, { message })
  readonly refundMost: string = '100';

  @Setting({
    help: 'The most for one payer in a day, UTC; unit as above.',
  })
  @Matches(AMOUNT, { message })
  readonly refundMostPerPayer: string = '100';

  @Setting({
    help: 'The most by one API key in a day, UTC; unit as above.',
  })
  @Matches(AMOUNT, { message })
  readonly refundMostPerKey: string = '500';

  @Setting({
    help: 'The most in a day, UTC; unit as above.',
  })
  @Matches(AMOUNT, { message })
  readonly refundMostPerDay: string = '1000';

  @Setting({
    help: 'Above this sum of all refunds of a payment, another API key must approve; unit as above.',
  })
  @Matches(AMOUNT, { message })
  readonly refundApprovalAbove: string = '10';

  /** In base units of the option's token. @throws PaymentError for more than a uint256 */
  caps(option: TokenUnit): RefundCaps {
    return {
      each: readLimit(this.refundMost, option),
      perPayerAndDay: readLimit(this.refundMostPerPayer, option),
      perKeyAndDay: readLimit(this.refundMostPerKey, option),
      perDay: readLimit(this.refundMostPerDay, option),
    };
  }

  /** In base units of the option's token; null: no amount. @throws PaymentError for more than a uint256 */
  approvalAbove(option: TokenUnit): bigint | null {
    return readLimit(this.refundApprovalAbove, option);
  }
}

/** A limit is never above what was set. */
function readLimit(text: string, option: TokenUnit): bigint | null {
  return text === 'none' ? null : toBaseUnits(text, option, 'down');
}
