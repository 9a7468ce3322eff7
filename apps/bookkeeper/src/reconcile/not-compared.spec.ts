import { Logger } from '@nestjs/common';
import type { BookWriter } from '@tollgate/book';

import { ASSET, PAY_TO } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import type { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { ReconcileEnvironment } from '../config/reconcile.environment.js';
import type { BookkeeperConnections } from '../drain/connections.js';
import type { OutboxDrain } from '../drain/outbox-drain.js';
import type { ReconcileMetrics } from '../metrics/reconcile-metrics.js';
import { Reconciler } from './reconciler.js';

const REASON = 'the book is not complete yet (BOOK=on), or no block is final';
const MINUTES_MS = 60_000;

// Prevents: sales that are not booked are never warned of, or every first start warns.
it('is said of a book that is not complete, and warned of when it lasts longer than a start', async () => {
  const log = jest.spyOn(Logger.prototype, 'log').mockReturnValue();
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  const reconcile = Object.assign(new ReconcileEnvironment(), {
    reconcileRpcUrl: ['http://127.0.0.1:9'],
    reconcileIntervalMs: 10,
  });
  const network = 'chain-testnet';
  const chain = { id: 1328, network, reconcileRpc: reconcile.reconcileRpcUrl, reconcileConfirmations: null };
  const scopes = [{ chainId: 1328, asset: ASSET, recipient: PAY_TO }];
  const query = jest.fn(() => Promise.resolve([]));
  const reconciler = new Reconciler(
    { chains: [chain], scopes, reconcile, finalAfter: () => 12 } as unknown as BookkeeperEnvironment,
    {} as BookkeeperConnections,
    { readToEndAtMs: 0 } as OutboxDrain,
    { observeAges: () => undefined, forget: () => undefined } as unknown as ReconcileMetrics,
  );
  const stopping = new AbortController();
  const running = reconciler.run({ database: { query } } as unknown as BookWriter, stopping.signal);
  const compareAt = async (atMs: number): Promise<void> => {
    now.mockReturnValue(atMs);
    const before = query.mock.calls.length;
    await waitFor('it is looked at again', () => Promise.resolve(query.mock.calls.length >= before + 2));
  };
  await compareAt(4 * MINUTES_MS);
  expect(log.mock.calls).toEqual([[`the book is not compared with the chain chain-testnet yet: ${REASON}`]]);
  expect(warn).not.toHaveBeenCalled();
  for (const minutes of [5, 6]) await compareAt(minutes * MINUTES_MS);
  expect(warn.mock.calls).toEqual([[`the book is not compared with the chain chain-testnet: ${REASON}`]]);
  expect(log).toHaveBeenCalledTimes(1);
  stopping.abort();
  await running;
  await reconciler.onApplicationShutdown();
});
