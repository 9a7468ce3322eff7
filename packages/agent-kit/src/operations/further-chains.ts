import { networkNamesOf } from '@tollgate/client/internal';
import { caip2Of } from '@tollgate/protocol';

import { AgentKitError } from '../types/agent-kit-error.js';
import type { PaymentDraftContext } from './define/operation.js';

/** The chain's names in offers. */
export function namesInOffers({ chainId, payments }: PaymentDraftContext): (string | null)[] {
  return networkNamesOf({ chainId, network: payments?.network ?? caip2Of(chainId) });
}

/** @throws AgentKitError `INVALID_CONFIGURATION` where an offer could name both chains, and be paid on the wrong one */
export function assertOtherChain(context: PaymentDraftContext, known: readonly PaymentDraftContext[]): void {
  const names = namesInOffers(context);
  const same = known.find((other) => namesInOffers(other).some((name) => name !== null && names.includes(name)));
  if (!same) return;
  throw new AgentKitError(
    'INVALID_CONFIGURATION',
    same.chainId === context.chainId
      ? `Two of the chains to pay on are chain ${context.chainId}.`
      : `The chains ${same.chainId} and ${context.chainId} have the same name in offers, ${context.payments?.network}.`,
  );
}
