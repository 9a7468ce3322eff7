import { fulfil } from './fulfil.js';
import type {
  ClaimedState,
  Presented,
  PresentedPurchase,
  PurchaseEnd,
  SettlementOutcome,
  SpentState,
  TurnedAway,
} from './purchase.js';
import { replay } from './replay.js';

/** Takes a presented payment to its end: verify, claim, fulfil; a spent one gets its answer again. Never rejects. */
export async function sell<State extends Presented, Product, Result extends SettlementOutcome, Answer>(
  purchase: PresentedPurchase<State, Product, Result, Answer>,
): Promise<PurchaseEnd<State, Product, Result, Answer>> {
  let state: State;
  try {
    state = (await purchase.find?.()) ?? (await purchase.verify());
    if (state.outcome === 'valid') state = (await purchase.claim?.()) ?? purchase.explain(new Error('not_claimed'));
  } catch (error) {
    state = purchase.explain(error);
  }
  if (state.outcome === 'claimed') return fulfil(purchase.fulfilment(state as ClaimedState<State>));
  if (state.outcome === 'answered') return replay(purchase, state as SpentState<State>);
  return state as TurnedAway<State>;
}
