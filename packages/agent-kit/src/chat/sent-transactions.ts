import type { Hex } from 'viem';

import type { EventHandler, EventName, SentTransaction } from '../transaction-events.js';

/** The part of a kit that reports its transactions. */
export interface TransactionSource {
  on<Name extends EventName>(name: Name, handler: EventHandler<Name>): unknown;
}

export interface SentTransactions {
  /** The transactions sent since `forget`, and whether each is known to be on the chain. */
  list(): readonly { transaction: SentTransaction; isConfirmed: boolean }[];
  forget(): void;
}

/** Records the transactions that the kit sends, and reports each as it happens. */
export function watchTransactions(kit: TransactionSource, show: (line: string) => void): SentTransactions {
  const sent = new Map<Hex, { transaction: SentTransaction; isConfirmed: boolean }>();
  kit.on('transactionSubmitted', (transaction) => {
    sent.set(transaction.hash, { transaction, isConfirmed: false });
    show(`  sent ${transaction.hash}  ${transaction.label}`);
  });
  kit.on('transactionConfirmed', (transaction) => {
    sent.set(transaction.hash, { transaction, isConfirmed: true });
    show(`  confirmed ${transaction.hash}`);
  });
  kit.on('lowBalance', ({ balance }) =>
    show(`  The native balance is low: ${balance}. Fees of the chain are paid from it.`),
  );
  return { list: () => [...sent.values()], forget: () => sent.clear() };
}
