/** The client for which the chain is searched. A search for a nonce that nothing took lately is long. */
export interface SearchAsker {
  /** @throws when its share of look-ups is used up */
  assertLeft(): void;
  /** The search found nothing. That may be the payer's doing, so it counts whatever the verdict is. */
  foundNothing(): void;
}
