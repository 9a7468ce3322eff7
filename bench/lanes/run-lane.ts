import type { LaneOptions, LaneResult } from '../lane.js';
import type { LaneName } from '../options.js';

const LANE_MODULES: Record<LaneName, () => Promise<(options: LaneOptions) => Promise<LaneResult>>> = {
  unpaid: async () => (await import('./unpaid.js')).runUnpaidLane,
  paid: async () => (await import('./paid.js')).runPaidLane,
  distant: async () => (await import('./distant.js')).runDistantLane,
  signed: async () => (await import('./signed.js')).runSignedLane,
  ledger: async () => (await import('./ledger.js')).runLedgerLane,
  transport: async () => (await import('./transport.js')).runTransportLane,
  growth: async () => (await import('./growth.js')).runGrowthLane,
  footprint: async () => (await import('./footprint.js')).runFootprintLane,
  jobs: async () => (await import('./jobs.js')).runJobsLane,
  'job-growth': async () => (await import('./job-growth.js')).runJobGrowthLane,
  'job-latency': async () => (await import('./job-latency.js')).runJobLatencyLane,
  'job-cost': async () => (await import('./job-cost.js')).runJobCostLane,
};

/** Loads and runs one lane. */
export async function runLane(name: LaneName, options: LaneOptions): Promise<LaneResult> {
  const run = await LANE_MODULES[name]();
  return run(options);
}
