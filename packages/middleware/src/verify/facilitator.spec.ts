import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { startSilentServer } from '../../../../test/harness/network/silent-server.js';
import { Facilitator, type FacilitatorQuestion } from './facilitator.js';

const QUESTION = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as FacilitatorQuestion;

describe('a facilitator that stops sending within its response', () => {
  it.each([200, 500])('runs into the timeout, and its connection is closed: status %d', async (status) => {
    const server = await startSilentServer((response) => void response.writeHead(status).write('{'));
    try {
      const facilitator = new Facilitator({ url: server.url, timeoutMs: 4_000 });
      const failed = expect(facilitator.verify(QUESTION)).rejects.toMatchObject({
        name: 'FacilitatorError',
        status: null,
        cause: { name: 'TimeoutError' },
      });
      await server.asked();
      await failed;
      await server.closed(0);
    } finally {
      await server.stop();
    }
  });
});

describe('a facilitator that redirects', () => {
  // Prevents: Cloudflare Workers refuse a fetch with `redirect: 'error'`, and no payment can be verified there.
  it('is not followed, by a request that every runtime knows', async () => {
    const paths: unknown[] = [];
    const server = createServer(({ url }, response) => {
      paths.push(url);
      response.writeHead(307, { Location: '/elsewhere/verify' }).end();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const fetched = jest.spyOn(globalThis, 'fetch');
    try {
      const facilitator = new Facilitator({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
      await expect(facilitator.verify(QUESTION)).rejects.toMatchObject({ status: 307, isRefused: false });
      expect(paths).toEqual(['/verify']);
      expect(fetched.mock.calls.map(([, init]) => init?.redirect)).toEqual(['manual']);
    } finally {
      fetched.mockRestore();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
