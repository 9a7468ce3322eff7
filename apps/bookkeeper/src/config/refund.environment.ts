import { Setting } from '@tollgate/config';
import { parseTokenAmount } from '@tollgate/protocol';
import type { RefundCaps } from '@tollgate/refunds';
import { Matches } from 'class-validator';

const AMOUNT = /^(none|\d{1,30}(\.\d{1,36})?)$/;
const message = '$property must be a decimal amount of the token in whole units, or none';

/** How much may be refunded. Amounts are whole units of ASSET_ADDRESS; `none`: any amount. */
export class RefundEnvironment {
  @Setting({ help: 'The most that one refund may pay back, in whole units of the token; none: any amount.' })
  @Matches(AMOUNT, { message })
  readonly refundMost: string = '100';

  @Setting({
    help: 'The most that is refunded to one payer in a day, UTC, in whole units of the token; none: any amount.',
  })
  @Matches(AMOUNT, { message })
  readonly refundMostPerPayer: string = '100';

  @Setting({
    help: 'The most that one API key may have refunded in a day, UTC, in whole units of the token; none: any amount.',
  })
  @Matches(AMOUNT, { message })
  readonly refundMostPerKey: string = '500';

  @Setting({ help: 'The most that is refunded in a day, UTC, in whole units of the token; none: any amount.' })
  @Matches(AMOUNT, { message })
  readonly refundMostPerDay: string = '1000';

  @Setting({
    help:
      'A refund needs the approval of another API key if it brings all refunds of its payment above this, in whole units ' +
      'of the token; none: no amount needs one by itself.',
  })
  @Matches(AMOUNT, { message })
  readonly refundApprovalAbove: string = '10';

  /** In base units. */
  caps(decimals: number): RefundCaps {
    return {
      each: toBaseUnits(this.refundMost, decimals),
      perPayerAndDay: toBaseUnits(this.refundMostPerPayer, decimals),
      perKeyAndDay: toBaseUnits(this.refundMostPerKey, decimals),
      perDay: toBaseUnits(this.refundMostPerDay, decimals),
    };
  }

  /** In base units; null: no amount. */
  approvalAbove(decimals: number): bigint | null {
    return toBaseUnits(this.refundApprovalAbove, decimals);
  }
}

/** Digits below the base unit are cut off, so that a limit is never above what was set. */
function toBaseUnits(text: string, decimals: number): bigint | null {
  if (text === 'none') return null;
  const [whole = '0', fraction = ''] = text.split('.');
  return parseTokenAmount(fraction === '' ? whole : `${whole}.${fraction.slice(0, decimals) || '0'}`, decimals);
}
