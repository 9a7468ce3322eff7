import type { Presented, PresentedPurchase, Replay, SettlementOutcome, SpentState } from './purchase.js';

/** The answer of a spent payment: the stored one, or one that is produced again where that is safe. Never rejects. */
export async function replay<State extends Presented, Product, Result extends SettlementOutcome, Answer>(
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
