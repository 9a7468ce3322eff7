import type { Address, Hex } from 'viem';

import type { AgentKitError } from './agent-kit-error.js';

/** A sent transaction, as shown in events and results. */
export interface SentTransaction {
  readonly operation: string;
  /** The step's effect, for display. */
  readonly label: string;
  readonly hash: Hex;
  /** Null if the chain has no explorer. */
  readonly explorerUrl: string | null;
}

/** The kit's events and the arguments of their handlers. */
export interface TransactionEvents {
  transactionSubmitted: SentTransaction;
  transactionConfirmed: SentTransaction;
  /** A sent transaction did not succeed: the specification's event (section "Events"). */
  transactionFailed: AgentKitError;
  /** The native balance is below the specification's warning level, 0.01. */
  lowBalance: { account: Address; balance: string };
}

export type EventName = keyof TransactionEvents;
/** Its return value is not awaited. */
export type EventHandler<Name extends EventName> = (event: TransactionEvents[Name]) => unknown;

const EVENT_NAMES: readonly string[] = [
  'transactionSubmitted',
  'transactionConfirmed',
  'transactionFailed',
  'lowBalance',
] satisfies EventName[];

export function isEventName(name: string): name is EventName {
  return EVENT_NAMES.includes(name);
}

/** Handlers by event. A handler that throws or rejects does not affect the transaction. */
export class EventHandlers {
  readonly #handlers = new Map<EventName, Set<(event: never) => unknown>>();

  add<Name extends EventName>(name: Name, handler: EventHandler<Name>): void {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(handler));
  }

  remove<Name extends EventName>(name: Name, handler: EventHandler<Name>): void {
    this.#handlers.get(name)?.delete(handler);
  }

  emit<Name extends EventName>(name: Name, event: TransactionEvents[Name]): void {
    for (const handler of this.#handlers.get(name) ?? []) {
      // Called synchronously, in order; only a rejection arrives later.
      void new Promise((resolve) => resolve((handler as EventHandler<Name>)(event))).catch((error: unknown) => {
        console.warn(`A handler of ${name} threw: ${String(error)}`);
      });
    }
  }
}
