import { Injectable } from '@nestjs/common';

/** What the facilitator answered since the start; /metrics reads it. */
@Injectable()
export class FacilitatorCounters {
  readonly counts = { valid: 0, invalid: 0, settled: 0, replayed: 0, not_settled: 0, pending: 0, unavailable: 0 };
}
