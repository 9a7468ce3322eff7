import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { RpcEndpoint } from '@tollgate/chain';

import { ReceiptWaiter } from './receipt-waiter.js';

/** Delays each answer, so that the looks are made while the receipt is on its way. */
const ROAD_MS = 400;
const hash = `0x${'1'.repeat(64)}` as const;
const [parent, mined] = [2, 3].map((digit) => ({
  hash: `0x${String(digit).repeat(64)}`,
  parentHash: `0x${'0'.repeat(64)}`,
}));
const receipt = {
  transactionHash: hash,
  blockHash: mined?.hash,
  blockNumber: '0x3',
  transactionIndex: '0x0',
  status: '0x1',
  logs: [],
  gasUsed: '0x5208',
  from: `0x${'a'.repeat(40)}`,
  to: null,
};

interface Call {
  id: number;
  method: string;
}

describe('a receipt that the server waits for (EIP-7966)', () => {
  let server: Server;
  let waiter: ReceiptWaiter;
  let looksBefore: number;
  let mining: { readonly done: Promise<void>; end: () => void };

  /** The transaction is mined when the newest block was asked for so many times without it. */
  function mineAfter(looks: number): void {
    looksBefore = looks;
    let end = (): void => undefined;
    mining = { done: new Promise((resolve) => (end = resolve)), end };
  }

  beforeEach(async () => {
    mineAfter(0);
    server = createServer((request, response) => {
      void (async () => {
        const asked = (await json(request)) as Call | Call[];
        const calls = [asked].flat();
        const isSending = calls.some(({ method }) => method === 'eth_sendRawTransactionSync');
        const block = isSending || looksBefore-- > 0 ? parent : mined;
        if (block === mined) mining.end();
        await (isSending ? mining.done : sleep(ROAD_MS));
        const results = calls.map(({ id, method }) => ({
          jsonrpc: '2.0',
          id,
          result: method === 'eth_sendRawTransactionSync' ? receipt : block,
        }));
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify(Array.isArray(asked) ? results : results[0]));
      })();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    waiter = new ReceiptWaiter(new RpcEndpoint({ url, connections: 4 }, 1328), { timeoutMs: 20_000, maxBytes: 65_536 });
  });

  afterEach(async () => {
    await waiter.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is in the chain by the newest block, which was asked for meanwhile', async () => {
    expect(await waiter.ask('0x00', hash)).toMatchObject({ isInChain: true });
  });

  it('is in the chain by the second look, where the first came before the block', async () => {
    await waiter.ask('0x00', hash);
    mineAfter(1);
    expect(await waiter.ask('0x00', hash)).toMatchObject({ isInChain: true });
  });
});
