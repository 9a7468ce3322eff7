import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';

/** @throws AgentKitError `PLAN_EXPIRED` once the prices or deadlines in the plan's calls have expired. */
export function assertNotExpired({ expiresAtMs }: Pick<Plan, 'expiresAtMs'>): void {
  if (expiresAtMs === undefined || Date.now() <= expiresAtMs) return;
  throw new AgentKitError('PLAN_EXPIRED', `The plan expired at ${new Date(expiresAtMs).toISOString()}.`);
}
