import type { WalletLimit } from '@tollgate/agent-jobs';
import type { RefundCaps } from '@tollgate/refunds';

export interface RefundBounds {
  /** What the wallet has, in base units. */
  readonly tokens: bigint;
  readonly caps: RefundCaps;
  /** What refunds of today, UTC, have taken of the cap a day. */
  readonly refundedToday: bigint;
  /** Of the wallet's policy for the token; null: it has none. */
  readonly limit: (Pick<WalletLimit, 'perOperation'> & { readonly leftToday: string | null }) | null;
}

/** The most that one refund can pay back now, in base units: to a payer, and for an API key, that had none today. */
export function findRefundable({ tokens, caps, refundedToday, limit }: RefundBounds): bigint {
  const bounds = [
    ...[caps.each, caps.perPayerAndDay, caps.perKeyAndDay],
    ...[caps.perDay === null ? null : caps.perDay - refundedToday],
    ...[limit?.perOperation, limit?.leftToday],
  ];
  const least = bounds.reduce<bigint>((most, bound) => {
    const units = BigInt(bound ?? most);
    return units < most ? units : most;
  }, tokens);
  return least > 0n ? least : 0n;
}
