import { takeNudges } from '../chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';

const LANE_MODULES = {
  unpaid: async () => (await import('./unpaid.js')).runUnpaidLane,
  paid: async () => (await import('./paid.js')).runPaidLane,
  distant: async () => (await import('./paid.js')).runDistantLane,
  signed: async () => (await import('./signed.js')).runSignedLane,
  ledger: async () => (await import('./ledger.js')).runLedgerLane,
  redis: async () => (await import('./redis.js')).runRedisLane,
  book: async () => (await import('./book.js')).runBookLane,
  transport: async () => (await import('./transport.js')).runTransportLane,
  jobs: async () => (await import('./jobs.js')).runJobsLane,
};
export type LaneName = keyof typeof LANE_MODULES;
export const LANES = Object.keys(LANE_MODULES) as LaneName[];

/** Loads and runs one lane. */
export async function runLane(name: LaneName, options: LaneOptions): Promise<LaneResult> {
  const run = await LANE_MODULES[name]();
  takeNudges();
  const result = await run(options);
  const nudges = takeNudges();
  if (nudges === 0) return result;
  const note = `Anvil's automine left transactions in its pool and was helped: ${nudges} times.`;
  return { ...result, notes: [...(result.notes ?? []), note] };
}
