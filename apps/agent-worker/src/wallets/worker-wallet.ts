import type { LaneId, LaneSigner } from '@tollgate/journal';

import type { PlannedWallet } from './planned-wallet.js';

/** A wallet that this worker signs for. The key is in the signer's closure, never on an object. */
export interface WorkerWallet extends PlannedWallet {
  lane: LaneId;
  signer: LaneSigner;
}
