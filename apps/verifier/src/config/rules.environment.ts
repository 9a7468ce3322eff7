import { Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** What is asked of a payment beyond the policy, and how long its receipt is waited for. */
export class RulesEnvironment {
  @Setting({ help: 'Blocks a payment must have, its own included; 1 accepts what is in the newest block.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly confirmations: number = 1;

  @Setting({ help: 'Seconds after its block in which a payment that is not bound to a challenge may be redeemed.' })
  @IsInt()
  @Min(1)
  @Max(2_592_000)
  readonly redemptionWindowSeconds: number = 900;

  @Setting({ help: 'Seconds after its block in which a payment that is bound to a challenge may be redeemed.' })
  @IsInt()
  @Min(1)
  @Max(2_592_000)
  readonly boundRedemptionWindowSeconds: number = 86_400;

  @Setting({ help: 'Milliseconds to wait for the receipt, or the confirmations, of a payment that was just made.' })
  @IsInt()
  @Min(0)
  @Max(60_000)
  readonly receiptWaitMs: number = 3_000;

  @Setting({
    help: 'Payments of one client address that may wait for the chain at once; further ones are answered now.',
  })
  @IsInt()
  @Min(0)
  readonly waitingPerClient: number = 16;

  @Setting({ help: 'Payments that may wait for the chain at once; further ones are answered now.' })
  @IsInt()
  @Min(0)
  readonly waitingTotal: number = 256;
}
