import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../../../test/harness/retry.js';
import { startPaidServer, type Interference } from '../../test/paid-server.js';
import { assetOf, useChain, useMade, useOpened, useServer, useTransferCount, useWallet } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import { MemoryPaymentStore } from '../store/payment-store.js';
import { fetchWithPayment } from './fetch-with-payment.js';

const LONG = 'x'.repeat(2 * 1024 * 1024);
const HALF = LONG.slice(0, LONG.length / 2 + 1);

/** Sends a part of an answer, and leaves its connection open. */
const begin =
  (headers: Record<string, string>, part: string): Interference =>
  (response) => {
    response.writeHead(200, headers).write(part);
    return true;
  };
let breakOff: () => void;
/** Begins an answer that stays open until the test breaks it off. */
const beginBreakable =
  (headers: Record<string, string>, part: string): Interference =>
  (response) => {
    breakOff = () => response.destroy();
    response.writeHead(200, headers).write(part);
    return true;
  };
const gone: Interference = (response) => {
  response.writeHead(410, { 'idempotent-replayed': 'true' }).end('gone');
  return true;
};
const whole: Interference = (response) => {
  response.end(LONG);
  return true;
};
const STREAM = { 'content-type': 'text/event-stream' };

describe('an answer that is returned before its whole body is there', () => {
  const chain = useChain();
  const open = useOpened();
  const server = useServer(() => startPaidServer(chain));
  const store = useMade(() => new MemoryPaymentStore());

  const payer = () => chain.accounts[5]!;
  const wallet = useWallet(chain, payer);
  const transfers = useTransferCount(chain, () => payer().address);
  const buy = (init: RequestInit = {}, attemptTimeoutMs = 30_000, url = server.url) =>
    fetchWithPayment(fetch, wallet, {
      assets: [assetOf(chain)],
      maxAmount: '0.001',
      store,
      attemptTimeoutMs,
    })(url, init);
  const states = async () => (await store.list()).map(({ payment }) => payment.state);
  const proofs = () => new Set(server.paid().map(({ headers }) => headers['x-payment'])).size;

  it.each<[string, Interference]>([
    ['with its length', beginBreakable({ 'content-length': String(LONG.length) }, HALF)],
    ['without its length', beginBreakable({}, HALF)],
    ['as an event stream', beginBreakable(STREAM, 'data: 1\n\n')],
  ])('and breaks off, sent %s: the next call presents the same payment', async (_case, interference) => {
    server.interfere = [interference, whole];
    const broken = await buy();
    breakOff();
    await expect(broken.text()).rejects.toThrow();
    expect(await states()).toEqual(['signed']);
    const response = await buy();
    expect([response.url, response.clone().url]).toEqual([server.url, server.url]);
    expect(await states()).toEqual(['signed']);
    expect(await response.text()).toBe(LONG);
    expect(await states()).toEqual(['redeemed']);
    expect([server.paid().length, proofs(), await transfers()]).toEqual([2, 1, 1]);
  });

  it('and that the server has not kept is gone once: the call after that buys again', async () => {
    server.interfere = [beginBreakable(STREAM, 'data: 1\n\n'), gone, whole];
    const broken = await buy();
    breakOff();
    await expect(broken.text()).rejects.toThrow();
    expect((await buy()).status).toBe(410);
    expect(await states()).toEqual(['redeemed']);
    expect(await (await buy()).text()).toBe(LONG);
    expect([proofs(), await transfers()]).toEqual([2, 2]);
  });

  it.each<[string, (body: ReadableStream<Uint8Array>) => Promise<void>]>([
    ['cancels it unread', (body) => body.cancel()],
    [
      'stops reading it',
      async (body) => {
        for await (const chunk of body) if (chunk.byteLength > 0) break;
      },
    ],
  ])('counts as received when the caller %s: the next call buys again', async (_case, stop) => {
    server.interfere = [begin(STREAM, 'data: 1\n\n'), begin(STREAM, 'data: 2\n\n')];
    await stop((await buy()).body as ReadableStream<Uint8Array>);
    expect(await states()).toEqual(['redeemed']);
    await stop((await buy()).body as ReadableStream<Uint8Array>);
    expect([proofs(), await transfers()]).toEqual([2, 2]);
  });

  it.each<[string, (response: Response, abort: () => void) => Promise<void>]>([
    [
      'the target of its pipe fails',
      async ({ body }) => {
        const full = new WritableStream({ write: () => Promise.reject(new Error('disk full')) });
        await expect(body?.pipeTo(full)).rejects.toThrow('disk full');
      },
    ],
    [
      'the target of its pipe fails while it takes more',
      async ({ body }) => {
        const failing = new WritableStream(
          { write: () => sleep(50).then(() => Promise.reject(new Error('disk full'))) },
          { highWaterMark: 1000 },
        );
        await expect(body?.pipeTo(failing)).rejects.toThrow('disk full');
      },
    ],
    [
      'the target of a pipe behind it fails',
      async ({ body }) => {
        const full = new WritableStream({ write: () => Promise.reject(new Error('disk full')) });
        await expect(body?.pipeThrough(new TransformStream()).pipeTo(full)).rejects.toThrow('disk full');
      },
    ],
    [
      'its clone is lost with it',
      async (response) => {
        const clone = response.clone();
        const fail = (body: ReadableStream | null) =>
          body?.pipeTo(new WritableStream({ write: () => Promise.reject(new Error('disk full')) }));
        await expect(Promise.all([fail(response.body), fail(clone.body)])).rejects.toThrow('disk full');
      },
    ],
    [
      'the caller aborts the request',
      async (response, abort) => {
        abort();
        await expect(response.text()).rejects.toThrow();
      },
    ],
  ])('does not when %s: the next call presents the same payment', async (_case, lose) => {
    server.interfere = [begin({}, HALF), whole];
    const controller = new AbortController();
    await lose(await buy({ signal: controller.signal }), () => controller.abort());
    expect(await states()).toEqual(['signed']);
    expect(await (await buy()).text()).toBe(LONG);
    expect([proofs(), await transfers()]).toEqual([1, 1]);
  });

  it('counts as received once nobody has begun to read it for some time', async () => {
    // On a busy machine an attempt may take too long, and is repeated.
    server.interfere = Array<Interference>(10).fill(whole);
    const startedMs = performance.now();
    const unread = await buy({}, 2000);
    const early = await states();
    // A busy machine may look too late.
    expect(performance.now() - startedMs < 2000 ? early : ['signed']).toEqual(['signed']);
    await waitFor('the answer to count as received', async () => (await states())[0] === 'redeemed');
    // It can still be read.
    expect(await unread.text()).toBe(LONG);
    expect(await (await buy()).text()).toBe(LONG);
    expect([proofs(), await transfers()]).toEqual([2, 2]);
  });

  it('stays open while it is read, however slowly', async () => {
    server.interfere = Array<Interference>(10).fill(begin({ 'content-length': String(LONG.length) }, HALF));
    const reader = ((await buy({}, 2000)).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await sleep(2500);
    expect(await states()).toEqual(['signed']);
    await reader.cancel();
    expect(await states()).toEqual(['redeemed']);
  });

  it('is received at once where it has no body', async () => {
    const shop = await open(startSigningShop(chain, 2));
    shop.interfere = [(response) => void response.writeHead(204).end()];
    const response = await buy({}, 30_000, shop.url);
    expect([response.status, response.body]).toEqual([204, null]);
    expect(await states()).toEqual(['redeemed']);
  });
});
