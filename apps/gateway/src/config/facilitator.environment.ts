import { IsIntIn, Setting, SignedPaymentsEnvironment } from '@tollgate/config';
import { IsArray, IsBoolean, Matches } from 'class-validator';

const ADDRESS = /^0x(?!0{40}$)[0-9a-f]{40}$/i;
const BASE_UNITS = /^\d{1,30}$/;

/** The gateway's settings as a facilitator for other servers. */
export class FacilitatorEnvironment extends SignedPaymentsEnvironment {
  @Setting({ name: 'FACILITATOR', help: 'Verify and settle signed payments for other servers, at /facilitator.' })
  @IsBoolean()
  readonly isServed: boolean = false;

  @Setting({
    help: 'Recipients whose payments in ASSET_ADDRESS are settled without an API key, comma separated. Each costs the relayer gas.',
    example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  })
  @IsArray()
  readonly facilitatorPayTo: string[] = [];

  @Setting({
    help: 'Smallest amount that is settled without an API key, in base units.',
  })
  @Matches(BASE_UNITS, { message: '$property must be a whole number of base units' })
  readonly facilitatorMinBaseUnits: string = '1000';

  @Setting({ help: 'Requests to /facilitator per minute and API key, or address without one; 0: no limit.' })
  @IsIntIn(0)
  readonly facilitatorRateLimitPerMinute: number = 600;

  override problemsOfEntries(): string[] {
    const wrong = this.facilitatorPayTo.filter((address) => !ADDRESS.test(address));
    return [
      ...super.problemsOfEntries(),
      ...wrong.map((address) => `FACILITATOR_PAY_TO: "${address}" is not 0x and 40 hexadecimal digits, or is zero.`),
    ];
  }
}
