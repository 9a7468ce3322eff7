/**
 * Points at which a worker may be killed without losing a job or sending it twice: F1 before a job is submitted, F2
 * submitted, wake-up not sent, F3 planning, F4 nonce reserved, F5 signed, F6 stored, F7 sent, F8 broadcast noted, F9
 * replacement stored, F10 mined, F11 put back after a reorganisation, F12 about to store bytes under a lease that may
 * have expired, F15 a payment mined or signed and not presented, F16 answered and its response not stored, F17
 * presented and its response not read.
 * For the settlement of signed payments: S1 the payment has a job id and the job is not submitted, S2 the job is
 * submitted and its wake-up not sent, S3 mined and not yet reported, S4 reported to the gateway, which has not stored
 * its answer.
 * For refunds, in the bookkeeper: R1 written, R2 the ledger is closed, R3 noted, R4 the job is submitted, R5 the job is
 * final, R6 the ledger has the refund.
 */
export type CrashPoint =
  | ('F1' | 'F2' | 'F3' | 'F4' | 'F5' | 'F6' | 'F7' | 'F8' | 'F9' | 'F10' | 'F11' | 'F12' | 'F15' | 'F16' | 'F17')
  | ('S1' | 'S2' | 'S3' | 'S4')
  | ('R1' | 'R2' | 'R3' | 'R4' | 'R5' | 'R6');

declare global {
  var tollgateCrashPoint: ((point: CrashPoint) => void) | undefined;
}

/** Does nothing unless a test has installed a function; the production build replaces the name by `undefined`. */
export function crashPoint(point: CrashPoint): void {
  // Written out, because a compiler may rewrite an optional call before the build replaces the name.
  const hear = globalThis.tollgateCrashPoint;
  if (hear !== undefined) hear(point);
}
