import { startSilentServer } from '../../../../test/harness/network/silent-server.js';
import { Facilitator, type FacilitatorQuestion } from './facilitator.js';

const QUESTION = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as FacilitatorQuestion;

describe('a facilitator that stops sending within its response', () => {
  it.each([200, 500])('runs into the timeout, and its connection is closed: status %d', async (status) => {
    const server = await startSilentServer((response) => void response.writeHead(status).write('{'));
    try {
      const facilitator = new Facilitator({ url: server.url, timeoutMs: 2_000 });
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
