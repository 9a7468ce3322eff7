import { z } from 'zod';

import { startSilentServer } from '../../../../../test/harness/network/silent-server.js';
import { expectFailure } from '../../../../client/test/set-up.js';
import { askZeroEx } from './ask-zero-ex.js';

describe('an aggregator that stops in the middle of its answer', () => {
  it('is given up in time, and its connection closed', async () => {
    const server = await startSilentServer();
    try {
      const settings = { baseUrl: server.url, apiKey: 'key', timeoutMs: 2_000, fetch };
      const failed = expectFailure(askZeroEx(settings, 'price', {}, z.unknown()), 'NETWORK_ERROR');
      await server.asked();
      await failed;
      await server.closed(0);
    } finally {
      await server.stop();
    }
  });
});
