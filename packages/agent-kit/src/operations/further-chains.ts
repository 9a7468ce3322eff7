import { caip2Of, v1NetworkOf } from '@tollgate/protocol';

import { AgentKitError } from '../types/agent-kit-error.js';
import type { PaymentDraftContext } from './define/operation.js';

/** The chain's names in offers. */
export function networkNamesOf({
  chainId,
  payments,
}: Pick<PaymentDraftContext, 'chainId' | 'payments'>): (string | null)[] {
  return [payments?.network ?? null, caip2Of(chainId), v1NetworkOf(chainId)];
}

/** @throws AgentKitError `INVALID_CONFIGURATION` where an offer could name both chains, and be paid on the wrong one */
export function assertOtherChain(context: PaymentDraftContext, known: readonly PaymentDraftContext[]): void {
  const names = networkNamesOf(context);
  const same = known.find((other) => networkNamesOf(other).some((name) => name !== null && names.includes(name)));
  if (!same) return;
  throw new AgentKitError(
    'INVALID_CONFIGURATION',
    same.chainId === context.chainId
      ? `Two of the chains to pay on are chain ${context.chainId}.`
      : `The chains ${same.chainId} and ${context.chainId} have the same name in offers, ${context.payments?.network}.`,
  );
}
