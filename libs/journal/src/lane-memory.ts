import { EmptyWallet } from './empty-wallet.js';
import { FlightWatch } from './flight-watch.js';
import type { LaneSettings } from './lane-settings.js';
import type { LaneWork } from './lane-work.js';
import { LookPace } from './look-pace.js';
import { NextNonce } from './next-nonce.js';
import { PlanRetries } from './plan-retries.js';

type LaneMemory = Pick<LaneWork, 'watch' | 'wallet' | 'retries' | 'pace' | 'nextNonce'>;

/** What a process remembers of a lane while it holds the lease; created anew with each lease. */
export function createLaneMemory({ planRetryMs, longestPlanRetryMs, firstLookMs, pollMs }: LaneSettings): LaneMemory {
  return {
    watch: new FlightWatch(),
    wallet: new EmptyWallet(),
    retries: new PlanRetries({ firstMs: planRetryMs, longestMs: longestPlanRetryMs }),
    pace: new LookPace({ firstMs: firstLookMs, longestMs: pollMs }),
    nextNonce: new NextNonce(),
  };
}
