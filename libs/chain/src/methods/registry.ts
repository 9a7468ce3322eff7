import { MethodTable } from '@tollgate/protocol';

import type { ChainMethod } from './chain-method.js';
import { eip3009OnChain } from './eip3009/method.js';
import { permit2OnChain } from './permit2/method.js';

// What other layers use of one method alone.
export { askAboutAuthorization } from './eip3009/authorization-view.js';
export type { AuthorizationQuestion, DeployingRoute, SettlementRoute } from './eip3009/authorization-view.js';
export { planTransfer } from './eip3009/plan-transfer.js';
export {
  askAboutPermit,
  planPermitTransfer,
  PROXIES,
  type PermitQuestion,
  type PermitView,
} from './permit2/permit-contracts.js';

export const chainMethods = new MethodTable<ChainMethod>([eip3009OnChain, permit2OnChain]);
