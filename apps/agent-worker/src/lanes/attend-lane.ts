import type { LaneRunnerOptions } from '@tollgate/journal';

/** Does one task for a lane while this process holds it; resolves soon after `signal` is aborted. */
export type Attendant = NonNullable<LaneRunnerOptions['attend']>;

/** Runs all attendants concurrently. If one fails, the lane's runner starts all of them again. */
export function attendLane(attendants: readonly Attendant[]): Attendant {
  return async ({ lane, token, signal }) => {
    const failed = new AbortController();
    const held = { lane, token, signal: AbortSignal.any([signal, failed.signal]) };
    const ends = await Promise.allSettled(
      attendants.map((attendant) =>
        attendant(held).catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      ),
    );
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure) throw failure.reason;
  };
}
