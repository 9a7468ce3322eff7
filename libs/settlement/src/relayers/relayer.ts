import type { LaneId, LaneRunner } from '@tollgate/journal';

import type { Batcher } from '../attempts/batcher.js';
import type { SettlementPlanner } from './settlement-job.js';

/** One relayer of this process. */
export interface Relayer {
  lane: LaneId;
  runner: Pick<LaneRunner, 'launch' | 'wake'>;
  planner: Pick<SettlementPlanner, 'remember'>;
  batcher: Batcher;
  onTrouble: (error: unknown) => void;
}
