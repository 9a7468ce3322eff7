/**
 * Where a worker may be killed and nothing is lost or sent twice: F1 before a job is submitted, F2 submitted and nobody
 * woken, F3 planning, F4 nonce reserved, F5 signed, F6 stored, F7 sent, F8 broadcast noted, F9 replacement stored, F10
 * mined, F11 put back after a reorganisation, F12 about to store bytes under a lease that may be gone, F15 a payment mined
 * and not redeemed, F16 redeemed and its answer not stored. Where signed payments are settled: S1 a payment is named as a
 * job's and the job is not submitted, S2 it is and nobody is woken, S3 mined and nobody told, S4 the gateway was told and
 * has not stored its answer.
 */
export type CrashPoint =
  | ('F1' | 'F2' | 'F3' | 'F4' | 'F5' | 'F6' | 'F7' | 'F8' | 'F9' | 'F10' | 'F11' | 'F12' | 'F15' | 'F16')
  | ('S1' | 'S2' | 'S3' | 'S4');

declare global {
  var tollgateCrashPoint: ((point: CrashPoint) => void) | undefined;
}

/** Does nothing unless a test has put a function there; the build of a service replaces that name by `undefined`. */
export function crashPoint(point: CrashPoint): void {
  // Spelt out: a compiler may rewrite an optional call before the name is looked for.
  const hear = globalThis.tollgateCrashPoint;
  if (hear !== undefined) hear(point);
}
