import { IsIntIn, Setting } from './setting.js';

/** When a payment on the chain is accepted. Gateways and verifiers need the same values. */
export class AcceptanceEnvironment {
  @Setting({ help: 'Blocks a payment must have, its own included.' })
  @IsIntIn(1, 1_000)
  readonly confirmations: number = 1;

  @Setting({ help: 'Seconds in which a payment that is not bound to a challenge may be redeemed.' })
  @IsIntIn(1, 2_592_000)
  readonly redemptionWindowSeconds: number = 900;

  @Setting({ help: 'Seconds in which a payment that is bound to a challenge may be redeemed.' })
  @IsIntIn(1, 2_592_000)
  readonly boundRedemptionWindowSeconds: number = 86_400;
}
