import { listTransfers, type EmittedLog, type Hex, type PlacedTransfer } from '@tollgate/protocol';

import type { LoggedMoves, PromisedMove, TransferCause } from './chain-method.js';
import { chainMethods } from './registry.js';

/** What the logs of one transaction show of signed payments; one object for all of its payments. */
export class MovedPayments {
  readonly #byKind = new Map<string, LoggedMoves>();

  constructor(private readonly logs: readonly EmittedLog[]) {}

  /** The base units that the payment moved to its recipient; null: it moved nothing. */
  of(promised: PromisedMove): bigint | null {
    const { payment } = promised;
    const moves = this.#byKind.get(payment.kind) ?? chainMethods.of(payment).readMoves(this.logs);
    this.#byKind.set(payment.kind, moves);
    return moves.of(promised);
  }
}

/**
 * The transfers of an asset that signed payments made, by the position of their logs. A transfer may have two causes: the
 * logs of a permit do not tell its own transfers from one of the same payer that comes directly before them.
 */
export function findCauses(
  logs: readonly EmittedLog[],
  token: { chainId: number; asset: Hex },
): ReadonlyMap<number, readonly TransferCause[]> {
  const causes = new Map<number, TransferCause[]>();
  for (const method of chainMethods.all()) {
    for (const [position, cause] of method.findCauses(logs, token)) {
      causes.set(position, [...(causes.get(position) ?? []), cause]);
    }
  }
  return causes;
}

/** A transfer of the asset to the seller, and what caused it. */
export interface Arrival extends PlacedTransfer {
  /** Of two, the one that the logs name. Null: no signed payment did. */
  readonly cause: TransferCause | null;
}

/** What arrived in a transaction that succeeded, in the order of its logs. Addresses are lower case. */
export function listArrivals(
  logs: readonly EmittedLog[],
  { recipient, ...token }: { chainId: number; asset: Hex; recipient: string },
): Arrival[] {
  const causes = findCauses(logs, token);
  return (
    listTransfers(logs, token.asset)
      // To oneself: nothing arrived.
      .filter(({ from, to, amountBaseUnits }) => to === recipient && from !== recipient && amountBaseUnits > 0n)
      .map((transfer) => ({ ...transfer, cause: pickNamed(causes.get(transfer.position) ?? []) }))
  );
}

function pickNamed(causes: readonly TransferCause[]): TransferCause | null {
  return causes.find(({ id }) => id !== null) ?? causes[0] ?? null;
}
