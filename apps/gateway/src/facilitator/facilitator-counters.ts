import { Injectable } from '@nestjs/common';

/** Counts of the facilitator's responses since the start; /metrics reads them. */
@Injectable()
export class FacilitatorCounters {
  readonly counts = { valid: 0, invalid: 0, settled: 0, replayed: 0, not_settled: 0, pending: 0, unavailable: 0 };
}
