import type { Address, Hex } from 'viem';

import type { AgentKitError } from './agent-kit-error.js';

/** A transaction that was sent, as the events and results show it. */
export interface SentTransaction {
  readonly operation: string;
  /** What the step does, for people. */
  readonly label: string;
  readonly hash: Hex;
  /** Null where the chain has no explorer. */
  readonly explorerUrl: string | null;
}

/** The kit's events and what their handlers get. */
export interface TransactionEvents {
  transactionSubmitted: SentTransaction;
  transactionConfirmed: SentTransaction;
  /** Something was sent and did not do what it should: the specification's event (section "Events"). */
  transactionFailed: AgentKitError;
  /** The native balance is below what the specification warns at, 0.01. */
  lowBalance: { account: Address; balance: string };
}

export type EventName = keyof TransactionEvents;
/** What it returns is not waited for. */
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

/** Handlers by event. One that throws, or rejects, is not allowed to change what becomes of a transaction. */
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
      // Called at once, in order; only its failure comes later.
      void new Promise((resolve) => resolve((handler as EventHandler<Name>)(event))).catch((error: unknown) => {
        process.emitWarning(`A handler of ${name} threw: ${String(error)}`, 'AgentKitWarning');
      });
    }
  }
}
