import { takeNudges } from '../bench-chain.js';
import type { LaneOptions, LaneResult } from '../lane.js';

const LANE_MODULES = {
  unpaid: async () => (await import('./unpaid.js')).runUnpaidLane,
  paid: async () => (await import('./paid.js')).runPaidLane,
  distant: async () => (await import('./paid.js')).runDistantLane,
  signed: async () => (await import('./signed.js')).runSignedLane,
  ledger: async () => (await import('./ledger.js')).runLedgerLane,
  redis: async () => (await import('./redis.js')).runRedisLane,
  book: async () => (await import('./book/book.js')).runBookLane,
  readings: async () => (await import('./book/readings.js')).runReadingsLane,
  transport: async () => (await import('./transport.js')).runTransportLane,
  growth: async () => (await import('./growth.js')).runGrowthLane,
  footprint: async () => (await import('./footprint.js')).runFootprintLane,
  jobs: async () => (await import('./jobs.js')).runJobsLane,
  'job-growth': async () => (await import('./job-growth.js')).runJobGrowthLane,
  'job-latency': async () => (await import('./job-latency.js')).runJobLatencyLane,
  'swap-jobs': async () => (await import('./swap-jobs.js')).runSwapJobsLane,
  'job-cost': async () => (await import('./job-cost.js')).runJobCostLane,
  reconcile: async () => (await import('./reconcile.js')).runReconcileLane,
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
