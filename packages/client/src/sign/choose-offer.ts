import type { PaymentRequirement } from '@tollgate/protocol';

import { listWithinLimits, type ChosenRequirement } from '../offer/choose-requirement.js';
import { isPermittable, isSignable, type SignableRequirement } from '../offer/signable-requirement.js';
import type { PaymentContext, SkippedOffer } from './payment-options.js';
import { findAllowanceProblem } from './permit2-allowance.js';
import type { Offers } from './read-offers.js';

type Chosen = ChosenRequirement<PaymentRequirement | SignableRequirement>;

export interface ChosenOffer {
  chosen: Chosen;
  skipped: readonly SkippedOffer[];
}

type ChoiceContext = Pick<PaymentContext, 'wallet' | 'assets' | 'maxAmount' | 'permit2Allowance'>;

/**
 * The first offer within the limits that the wallet can pay. An offer by Permit2 is skipped if Permit2 may not move the
 * token; the next one may cost more, since `maxAmount` permits any price up to it.
 * @throws PaymentError as `chooseRequirement`; `permit2_allowance_missing` if nothing else is within the limits
 */
export async function chooseOffer(context: ChoiceContext, offers: Offers): Promise<ChosenOffer> {
  const [preferred, ...others] = listWithinLimits(offers, { ...context, chainId: context.wallet.chainId });
  const problem = await findProblem(context, preferred);
  if (!problem) return { chosen: preferred, skipped: [] };
  const skipped = [problem];
  for (const chosen of others) {
    const next = await findProblem(context, chosen);
    if (!next) return { chosen, skipped };
    skipped.push(next);
  }
  throw problem.problem;
}

async function findProblem(context: ChoiceContext, chosen: Chosen): Promise<SkippedOffer | null> {
  const { requirement } = chosen;
  const { permits } = context.wallet;
  // Wallets without permits skip Permit2 offers; otherwise only those offers can have a problem that is known in
  // advance.
  if (!permits || !isSignable(requirement) || !isPermittable(requirement)) return null;
  const problem = await findAllowanceProblem(context, permits, { ...chosen, requirement });
  return problem && { requirement, problem };
}
