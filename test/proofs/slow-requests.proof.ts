import { connect } from 'node:net';

import { requestHead } from '../harness/network/raw-http.js';
import { createProof, outcomeOf, payLocked } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';

/** How long the gateway lets a request take to arrive, and some more. */
const LONGEST_MS = 60_000 + 30_000;

describe('requests that arrive byte by byte', () => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await startShop();
  });
  afterAll(() => shop?.stop());

  it('are cut off in the end, and payers are served meanwhile', async () => {
    const { hostname, port } = new URL(shop.stack.baseUrl);
    const proof = createProof(`0x${'2'.repeat(64)}`);
    const body = requestHead('/v1/things', [`X-Payment: ${proof}`, 'Content-Length: 100000'], 'POST');
    let open = 0;
    const answers: string[] = [];
    const closed = Array.from({ length: 200 }, (_, index) => {
      open += 1;
      const socket = connect(Number(port), hostname);
      const head = index % 2 === 0 ? requestHead('/v1/things', ['X: y'.repeat(500)]) : body;
      let at = index % 2 === 0 ? 10 : head.length;
      socket.write(head.subarray(0, at));
      const drip = setInterval(() => socket.write(at < head.length ? head.subarray(at, ++at) : 'x'), 1000);
      socket.on('data', (chunk) => answers.push(chunk.toString('latin1').slice(0, 12)));
      socket.on('error', () => undefined);
      return new Promise<void>((resolve) =>
        socket.on('close', () => {
          clearInterval(drip);
          open -= 1;
          resolve();
        }),
      );
    });
    const until = Date.now() + LONGEST_MS;
    while (open > 0 && Date.now() < until) {
      const paid = await payLocked(shop.chain, shop.url('/v1/quotes/A'));
      const headers = { 'X-Payment': paid.proof };
      expect(await outcomeOf(fetch(shop.url('/v1/quotes/A'), { headers }))).toEqual([200, null]);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
    await Promise.all(closed);
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 408']));
  }, 240_000);
});
