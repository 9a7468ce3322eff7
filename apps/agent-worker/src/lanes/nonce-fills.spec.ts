import { Logger } from '@nestjs/common';
import { laneBookKey, parseBookEvent } from '@tollgate/book-events';
import { nameLane } from '@tollgate/journal';

import { startRpcProxy, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { WorkerFixture } from '../../test/worker-fixture.js';

describe('a worker with NONCE_FILLS_PER_HOUR', () => {
  let fixture: WorkerFixture;
  let proxy: RpcProxy;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await WorkerFixture.start();
    proxy = await startRpcProxy(fixture.chain.rpcUrl);
  });

  afterAll(() => Promise.all([fixture.stop(), proxy.stop()]));

  it('fills a nonce that was never given out, and reports that to the book', async () => {
    const { privateKey, lane } = await fixture.createWallet({ adopted: false });
    // The transaction of another program was pending then, and is gone.
    await fixture.journal.adopt(lane, { pendingNonce: 1 });
    await fixture.startWorker({
      WALLET_PRIVATE_KEY: privateKey,
      RPC_URL: `${fixture.chain.rpcUrl},${proxy.rpcUrl}`,
      BOOK: 'on',
      NONCE_FILLS_PER_HOUR: '1',
      STRANGER_AFTER_MS: '100',
    });
    await waitFor('the nonce is used', async () => {
      await callRpc(fixture.chain.rpcUrl, 'anvil_mine', ['0x1']);
      const { jobs } = await fixture.journal.listJobs({ lanes: [lane], operation: 'fillNonce' });
      return jobs[0]?.state === 'FINAL';
    });
    const entries = await fixture.redis.xrange(laneBookKey(nameLane(lane)), '-', '+');
    expect(entries.map(([, fields]) => parseBookEvent(fields))).toMatchObject([
      { type: 'acted', facts: { keyId: 'worker', action: 'wallet.fill', subject: 'main' } },
      { type: 'job_transaction', facts: { operation: 'fillNonce', kind: 'cancel', nonce: 0, value: '0' } },
    ]);
  });
});
