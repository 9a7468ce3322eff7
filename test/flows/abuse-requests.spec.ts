import { connect, type Socket } from 'node:net';

import { requestHead, sendRaw } from '../harness/network/raw-http.js';
import { createProof, outcomeOf, payLocked, readRequirement } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';

/** Requests that no HTTP library would send, written to the socket byte for byte. */
describe('hand-written requests', () => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await startShop({ env: { RECEIPT_WAIT_MS: '0' } });
  });
  afterAll(() => shop?.stop());
  beforeEach(() => {
    shop.upstream.requests.length = 0;
  });

  const send = (bytes: string | Buffer, quietMs?: number) =>
    sendRaw(shop.stack.baseUrl, bytes, quietMs === undefined ? {} : { quietMs });
  const buy = (path = '/v1/quotes/A') => payLocked(shop.chain, shop.url(path));
  const redeem = (proof: string, path = '/v1/quotes/A') =>
    outcomeOf(fetch(shop.url(path), { headers: { 'X-Payment': proof } }));

  describe('that spell a paid path in another way', () => {
    const weather = ['/api/weather', 402] as const;
    const spellings: (readonly [string | Buffer, number])[] = [
      weather,
      ['//api/weather', 402],
      ['/api//weather', 402],
      ['/api/%77eather', 402],
      ['/%61%70%69/weather', 402],
      ['/API/Weather', 402],
      ['/api/weather/', 402],
      ['/api/weather//', 402],
      ['/api/weather?', 402],
      ['/api/weather#x', 402],
      ['/api/weather?x=/free', 402],
      ['/api%2Fweather', 404],
      ['/api/weather%2F', 404],
      ['/api/%2577eather', 404],
      ['/api/./weather', 404],
      ['/api/x/../weather', 404],
      ['/api/x/%2e%2e/weather', 404],
      ['/docs/../api/weather', 404],
      ['/health/ready/../../api/weather', 404],
      ['/api/weather;x=1', 404],
      ['/api;x/weather', 404],
      ['/api/weather%00', 404],
      ['/api/weather%20', 404],
      ['/api\\weather', 404],
      ['/api/weather.json', 404],
      [Buffer.from('/api/weather\0'), 400],
      [Buffer.from([...Buffer.from('/api'), 0xc0, 0xaf, ...Buffer.from('weather')]), 400],
      ['/api%c0%afweather', 400],
      ['/api/%c1%b7eather', 400],
      ['/api/weathe%72%', 400],
      ['/v1/things', 402],
      ['/V1//Things/', 402],
      ['/v1/quotes/..', 400],
      ['/v1/quotes/%2e%2e', 400],
      ['/v1/quotes/A%2f..%2fB', 400],
      ['/v1/files/group%252Fname', 400],
      ['/v1/quotes/100%25', 402],
      ['/v1/quotes/A;x/../B', 404],
      ['/v1/files/', 404],
      ['/v1/files/a/../b', 400],
      ['/v1/files/a//b', 402],
      ['/v1/files/%2e%2e/admin', 400],
    ];

    it.each(spellings)('%s: %i, and nothing is served', async (target, expected) => {
      const { statuses, text } = await send(requestHead(target));
      expect([statuses, text.includes('temperature')]).toEqual([[expected], false]);
      expect(shop.upstream.requests).toEqual([]);
    });

    it('no absolute form and no authority bypasses the paywall', async () => {
      const { host } = new URL(shop.stack.baseUrl);
      for (const target of [
        `http://${host}/api/weather`,
        'http://example.com/api/weather',
        '*',
        host,
        '?',
        'api/weather',
      ]) {
        const { statuses, text } = await send(requestHead(target));
        expect([target, statuses.filter((status) => status < 400), text.includes('temperature')]).toEqual([
          target,
          [],
          false,
        ]);
      }
    });

    it('no other method bypasses it, and HEAD spends no payment', async () => {
      const { proof } = await buy('/api/weather');
      const header = [`X-Payment: ${proof}`];
      for (const [method, expected] of [
        ['HEAD', 402],
        ['POST', 405],
        ['PUT', 405],
        ['DELETE', 405],
        ['TRACE', 405],
        ['PROPFIND', 404],
        ['OPTIONS', 204],
        ['get', 400],
        ['GETS', 400],
      ] as const) {
        const { statuses, text } = await send(requestHead('/api/weather', header, method));
        expect([method, statuses, text.includes('temperature')]).toEqual([method, [expected], false]);
      }
      for (const override of ['X-HTTP-Method-Override: GET', 'X-Original-URL: /health/live', 'X-Rewrite-URL: /docs']) {
        expect((await send(requestHead('/api/weather', [override]))).statuses).toEqual([402]);
      }
      expect(await redeem(proof, '/api/weather')).toEqual([200, null]);
    });
  });

  describe('whose headers are too large or contradict each other', () => {
    it('a proof over 8 KiB is invalid, headers over the limit of the server are refused', async () => {
      const { text, statuses } = await send(requestHead('/v1/quotes/A', [`X-Payment: ${'A'.repeat(8193)}`]));
      expect([statuses, /x-payment-failure: (\S+)/i.exec(text)?.[1]]).toEqual([[402], 'malformed_proof']);
      const tooLarge = await send(requestHead('/v1/quotes/A', [`X-Payment: ${'A'.repeat(20_000)}`]));
      expect([tooLarge.statuses, tooLarge.text.includes('"headers_too_large"')]).toEqual([[431], true]);
      const { statuses: many } = await send(
        requestHead(
          '/v1/quotes/A',
          Array.from({ length: 1500 }, (_, n) => `X${n}: y`),
        ),
      );
      expect([[402], [431]]).toContainEqual(many);
    });

    it('two proofs in one request are invalid, and neither is spent', async () => {
      const [one, two] = [await buy(), await buy()];
      for (const [status, headers] of [
        [400, [`X-Payment: ${one.proof}`, `X-PAYMENT: ${two.proof}`]],
        [402, [`X-Payment: ${one.proof}, ${two.proof}`]],
        [400, [`X-Payment: ${one.proof}`, 'X-Payment: ']],
      ] as const) {
        expect((await send(requestHead('/v1/quotes/A', headers))).statuses).toEqual([status]);
      }
      expect(shop.upstream.requests).toEqual([]);
      expect([await redeem(one.proof), await redeem(two.proof)]).toEqual([
        [200, null],
        [200, null],
      ]);
    });

    it('a connection header cannot make the gateway forget the payment header', async () => {
      const { proof } = await buy();
      const headers = ['Connection: X-Payment', 'Connection: Idempotency-Key'];
      const { statuses } = await send(requestHead('/v1/quotes/A', headers));
      expect(statuses).toEqual([402]);
      expect(await redeem(proof)).toEqual([200, null]);
    });
  });

  it.each([
    ['length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks and length', ['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 6'], 'hello'],
    ['a list of lengths', ['Content-Length: 5, 6'], 'hello'],
    ['a negative length', ['Content-Length: -5'], 'hello'],
    ['a signed length', ['Content-Length: +5'], 'hello'],
    ['an unknown coding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['a coding before a space', ['Transfer-Encoding : chunked'], '0\r\n\r\n'],
    ['a folded coding', ['X: y', ' Transfer-Encoding: chunked', 'Transfer-Encoding:', ' chunked, x'], '0\r\n\r\n'],
    ['chunks that are not last', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ['a chunk size in another form', ['Transfer-Encoding: chunked'], '0x5\r\nhello\r\n0\r\n\r\n'],
    ['a line that ends in LF alone', ['Content-Length: 5\nTransfer-Encoding: chunked'], '0\r\n\r\n'],
  ])('that smuggle another one, by %s, get one refusal', async (_, framing, body) => {
    const { proof } = await payLocked(shop.chain, shop.url('/v1/things'), { method: 'POST' });
    const head = requestHead('/v1/things', ['Connection: keep-alive', `X-Payment: ${proof}`, ...framing], 'POST');
    const smuggled = requestHead('/v1/files/smuggled', [`X-Payment: ${proof}`]);
    const { statuses } = await send(Buffer.concat([head, Buffer.from(body), smuggled]));
    expect(statuses).toEqual([400]);
    expect(shop.upstream.requests).toEqual([]);
  });

  it('that use another protocol or version get nothing for free', async () => {
    const { proof } = await buy();
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: eA==',
    ];
    const { host } = new URL(shop.stack.baseUrl);
    for (const [bytes, expected] of [
      [requestHead('/v1/quotes/A', upgrade), [501]],
      [requestHead('/v1/quotes/A', ['Expect: 100-continue']), [402]],
      [requestHead('/v1/quotes/A', ['Expect: something']), [417]],
      [requestHead('/v1/things', ['Transfer-Encoding: chunked', 'Trailer: X-Payment'], 'POST'), [402]],
      [requestHead(host, [], 'CONNECT'), []],
      ['GET /v1/quotes/A HTTP/1.0\r\n\r\n', [402]],
      ['GET /v1/quotes/A HTTP/1.1\r\n\r\n', [400]],
      ['GET /v1/quotes/A\r\n\r\n', [402]],
      ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
      [Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]), [400]],
    ] as const) {
      const { statuses } = await send(bytes);
      expect([String(bytes), statuses.filter((status) => status !== 100)]).toEqual([String(bytes), expected]);
    }
    expect(shop.upstream.requests).toEqual([]);
    expect(await redeem(proof)).toEqual([200, null]);
  });

  it('that are pipelined are each judged separately', async () => {
    const { proof } = await buy();
    const pipeline = [
      requestHead('/v1/quotes/A', ['Connection: keep-alive', `X-Payment: ${proof}`]),
      requestHead('/v1/quotes/A', ['Connection: keep-alive']),
      requestHead('/v1/quotes/A', [`X-Payment: ${createProof(`0x${'1'.repeat(64)}`)}`]),
    ].map((head, index) => (index === 2 ? head : Buffer.from(head.toString().replace('Connection: close\r\n', ''))));
    const { statuses } = await send(Buffer.concat(pipeline), 20_000);
    expect(statuses).toEqual([200, 402, 402]);
  });

  it('whose body is too large, or never ends, are refused while it arrives', async () => {
    const { proof } = await payLocked(shop.chain, shop.url('/v1/things'), { method: 'POST' });
    const paid = [`X-Payment: ${proof}`];
    const unpaid = await send(requestHead('/v1/things', ['Content-Length: 10000000000'], 'POST'));
    expect(unpaid.statuses).toEqual([413]);
    const announced = await send(requestHead('/v1/things', ['Content-Length: 10000000000', ...paid], 'POST'));
    expect(announced.statuses).toEqual([413]);
    const chunk = `100000\r\n${'x'.repeat(1_048_576)}\r\n`;
    const endless = requestHead('/v1/things', ['Transfer-Encoding: chunked', ...paid], 'POST');
    const streamed = await send(Buffer.concat([endless, Buffer.from(chunk.repeat(3))]));
    // The server may cut the connection while the client still writes; then there is no answer to read.
    expect(streamed.statuses.filter((status) => status !== 413)).toEqual([]);
    expect(shop.upstream.requests).toEqual([]);
    const response = await fetch(shop.url('/v1/things'), { method: 'POST', headers: { 'X-Payment': proof } });
    expect(response.status).toBe(200);
  });

  it('that are never finished do not keep a payer from being served', async () => {
    const { hostname, port } = new URL(shop.stack.baseUrl);
    const slow: Socket[] = Array.from({ length: 300 }, (_, index) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      const head = requestHead('/v1/things', [`X-Payment: ${createProof(`0x${'2'.repeat(64)}`)}`, 'Content-Length: 9']);
      socket.write(index % 2 === 0 ? head.subarray(0, 40) : Buffer.concat([head, Buffer.from('part')]));
      return socket;
    });
    try {
      const { proof } = await buy();
      expect(await redeem(proof)).toEqual([200, null]);
      expect((await readRequirement(shop.url('/v1/quotes/A'))).maxAmountRequired).toBe('1000');
    } finally {
      for (const socket of slow) socket.destroy();
    }
  });
});
