import { fulfil } from './fulfil.js';
import type {
  ClaimedState,
  Presented,
  PresentedPurchase,
  PurchaseEnd,
  Replay,
  SettlementOutcome,
  SpentState,
  TurnedAway,
} from './purchase.js';

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

/** The answer of a spent payment: the stored one, or one that is produced again where that is safe. Never rejects. */
async function replay<State extends Presented, Product, Result extends SettlementOutcome, Answer>(
  purchase: PresentedPurchase<State, Product, Result, Answer>,
  spent: SpentState<State>,
): Promise<Replay<Answer>> {
  try {
    const stored = await purchase.readAnswer(spent);
    if (stored !== null) return { outcome: 'replayed', answer: stored };
    const answer = (await purchase.reproduce?.(spent)) ?? null;
    return answer === null ? { outcome: 'gone' } : { outcome: 'reproduced', answer };
  } catch (error) {
    return { outcome: 'not_replayed', error };
  }
}
