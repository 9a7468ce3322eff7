import { Setting, type PaymentOption } from '@tollgate/config';
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

  /** In base units of the option's token. */
  caps(option: TokenUnit): RefundCaps {
    return {
      each: toBaseUnits(this.refundMost, option),
      perPayerAndDay: toBaseUnits(this.refundMostPerPayer, option),
      perKeyAndDay: toBaseUnits(this.refundMostPerKey, option),
      perDay: toBaseUnits(this.refundMostPerDay, option),
    };
  }

  /** In base units of the option's token; null: no amount. */
  approvalAbove(option: TokenUnit): bigint | null {
    return toBaseUnits(this.refundApprovalAbove, option);
  }
}

type TokenUnit = Pick<PaymentOption, 'decimals' | 'rate'>;

/** Digits below the base unit are cut off, so that a limit is never above what was set. */
function toBaseUnits(text: string, { decimals, rate }: TokenUnit): bigint | null {
  if (text === 'none') return null;
  const [amount, perUnit] = [parseDecimal(text), parseDecimal(rate)];
  return (amount.digits * perUnit.digits * 10n ** BigInt(decimals)) / 10n ** BigInt(amount.scale + perUnit.scale);
}

/** `0.25` is 25 at scale 2. */
function parseDecimal(text: string): { digits: bigint; scale: number } {
  const [whole = '0', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}
