import type { Address, Hex } from 'viem';

import type { AgentKitError } from './agent-kit-error.js';

/** A transaction that was sent, as the events and results show it. */
export interface SentTransaction {
  operation: string;
  /** What the step does, for people. */
  label: string;
  hash: Hex;
  /** Null where the chain has no explorer. */
  explorerUrl: string | null;
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
export type EventHandler<Name extends EventName> = (event: TransactionEvents[Name]) => void;

const EVENT_NAMES: readonly string[] = [
  'transactionSubmitted',
  'transactionConfirmed',
  'transactionFailed',
  'lowBalance',
] satisfies EventName[];

export function isEventName(name: string): name is EventName {
  return EVENT_NAMES.includes(name);
}

/** Handlers by event. A handler that throws is not allowed to change what becomes of a transaction. */
export class EventHandlers {
  readonly #handlers = new Map<EventName, Set<(event: never) => void>>();

  add<Name extends EventName>(name: Name, handler: EventHandler<Name>): void {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(handler));
  }

  remove<Name extends EventName>(name: Name, handler: EventHandler<Name>): void {
    this.#handlers.get(name)?.delete(handler);
  }

  emit<Name extends EventName>(name: Name, event: TransactionEvents[Name]): void {
    for (const handler of this.#handlers.get(name) ?? []) {
      try {
        (handler as EventHandler<Name>)(event);
      } catch (error) {
        process.emitWarning(`A handler of ${name} threw: ${String(error)}`, 'AgentKitWarning');
      }
    }
  }
}
