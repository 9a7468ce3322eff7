import { createHash } from 'node:crypto';

import { readStoredFloors, type PlanFloors } from '@tollgate/agent-jobs';
import type { PlannedOperation, TokenAmount } from '@tollgate/agent-kit/planner';
import type { JobRecord } from '@tollgate/journal';
import { canonicalJson } from '@tollgate/protocol';

/** The bounds of a plan: what is approved, and what fresh plans are compared with. */
export function createFloors({ plan, spending }: Pick<PlannedOperation, 'plan' | 'spending'>): PlanFloors {
  return {
    spends: sumByToken(spending),
    receives: sumByToken(plan.receives),
    recipients: [...new Set(plan.recipients.map((recipient) => recipient.toLowerCase()))].sort(),
    ...(plan.deposit && { deposit: { atLeast: sumByToken(plan.deposit.atLeast), fee: plan.deposit.fee } }),
  };
}

/** The hash of the bounds: two plans with the same hash have the same bounds. */
export function hashFloors({ spends, receives, recipients, deposit }: PlanFloors): string {
  const bounds = { spends, receives, recipients, ...(deposit && { deposit }) };
  return createHash('sha256').update(canonicalJson(bounds)).digest('hex');
}

/**
 * The bounds that a fresh plan has to keep. A job that needs no approval has them once a transaction of it is mined,
 * because everyone can see in it what the job will do. Null: none yet.
 */
export function readAgreedFloors(job: JobRecord): PlanFloors | null {
  if (job.approval) return readApprovedFloors(job);
  return job.steps.some(({ mined }) => mined) ? readStoredFloors(job) : null;
}

/** The approved bounds; null if no bounds, or other ones, were approved. */
function readApprovedFloors(job: JobRecord): PlanFloors | null {
  const floors = readStoredFloors(job);
  if (!floors || !job.approval || job.approval.approvedBy === null) return null;
  return hashFloors(floors) === job.approval.floorsHash ? floors : null;
}

/**
 * Whether a plan takes no more, brings no less, has no other recipients, and puts no less into no other pool than the
 * agreed bounds allow.
 */
export function isWithin(fresh: PlanFloors, agreed: PlanFloors): boolean {
  return (
    isCovered(fresh.spends, agreed.spends) &&
    isCovered(agreed.receives, fresh.receives) &&
    canonicalJson(fresh.recipients) === canonicalJson(agreed.recipients) &&
    agreed.deposit?.fee === fresh.deposit?.fee &&
    isCovered(agreed.deposit?.atLeast ?? {}, fresh.deposit?.atLeast ?? {})
  );
}

type Amounts = PlanFloors['spends'];

function isCovered(amounts: Amounts, most: Amounts): boolean {
  return Object.entries(amounts).every(([token, amount]) => BigInt(amount) <= BigInt(most[token] ?? 0));
}

function sumByToken(amounts: readonly TokenAmount[]): Record<string, string> {
  const sums: Record<string, string> = {};
  for (const { token, amountBaseUnits } of amounts) {
    if (amountBaseUnits === 0n) continue;
    const name = token.address.toLowerCase();
    sums[name] = (BigInt(sums[name] ?? 0) + amountBaseUnits).toString();
  }
  return sums;
}
