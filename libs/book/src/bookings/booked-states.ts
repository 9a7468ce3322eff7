/** What a payment is in the book. Imports nothing: the console's pages have it too. */
export const BOOKED_STATES = [
  ...(['settled', 'answered', 'released', 'refused', 'unclaimed', 'refunding', 'refunded', 'withdrawn'] as const),
] as const;
export type BookedState = (typeof BOOKED_STATES)[number];
