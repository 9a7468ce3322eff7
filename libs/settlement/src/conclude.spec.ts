import { ChainUnavailableError } from '@tollgate/chain';

import type { SettlementAttempt } from './attempt.js';
import { conclude } from './conclude.js';
import type { SettlementParts } from './settlement-parts.js';

describe('what became of a payment that was not settled', () => {
  const ask = async (faults: Error[]) => {
    const troubles: unknown[] = [];
    const parts = {
      closing: new AbortController().signal,
      onTrouble: (error: unknown) => troubles.push(error),
      get chain() {
        throw faults.shift() ?? new TypeError('no fault is left');
      },
    };
    const attempt = { payment: { kind: 'authorization' }, flight: { requestId: 'r' } };
    const concluded = conclude(parts as unknown as SettlementParts, attempt as unknown as SettlementAttempt, {
      outcome: 'refused',
      failure: 'settlement_failed',
    });
    await expect(concluded).rejects.toThrow('of the program');
    return troubles;
  };

  it('is asked again while the chain does not answer, and not where the program is at fault', async () => {
    const away = new ChainUnavailableError('rpc_unreachable', 'No server answers.');
    expect(await ask([away, away, new TypeError('a fault of the program')])).toEqual([away, away]);
  });
});
