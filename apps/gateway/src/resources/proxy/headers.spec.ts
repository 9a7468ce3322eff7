import type { PaidRoute, ResourceRequest } from '../../paywall/route/paid-route.js';
import {
  createAnswerHeaders,
  createUpstreamHeaders,
  type AnswerHeaderRules,
  type UpstreamHeaderRules,
} from './headers.js';

const rules: UpstreamHeaderRules = { added: [], passCredentials: false };

function sent(
  headers: ResourceRequest['headers'],
  {
    method = 'GET',
    answer = 'streamed',
    ...more
  }: Partial<UpstreamHeaderRules> & { method?: string; answer?: PaidRoute['answer'] } = {},
): Record<string, string> {
  const request = {
    method,
    headers,
    clientAddress: '203.0.113.9',
    requestId: 'req-1',
    idempotencyKey: 'key-of-the-payment',
  } as ResourceRequest;
  const flat = createUpstreamHeaders(request, { ...rules, ...more }, answer);
  const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!] as const] : []));
  return Object.fromEntries(pairs);
}

const ours = {
  'x-forwarded-for': '203.0.113.9',
  'x-request-id': 'req-1',
  via: '1.1 tollgate',
  'idempotency-key': 'key-of-the-payment',
};

describe('createUpstreamHeaders', () => {
  it('forwards the headers of the request', () => {
    const own = { accept: 'text/html', 'accept-encoding': 'br', 'content-type': 'text/plain', range: 'bytes=0-9' };
    expect(sent({ ...own, 'user-agent': 'curl' })).toEqual({ ...own, 'user-agent': 'curl', ...ours });
  });

  it('removes payments, credentials, hop-by-hop headers and those that the Connection header names', () => {
    const headers = {
      'x-payment': 'proof',
      'x-payment-anything': '1',
      'payment-signature': 'proof',
      payment: 'x',
      'sign-in-with-x': 'proof',
      authorization: 'Bearer x',
      cookie: 'a=b',
      connection: 'keep-alive, X-Private ,',
      'x-private': '1',
      'keep-alive': '1',
      te: 'trailers',
      trailer: 'x',
      'transfer-encoding': 'chunked',
      upgrade: 'h2c',
      'proxy-authorization': 'x',
      host: 'gate.example',
      'content-length': '3',
      expect: '100-continue',
    };
    expect(sent(headers)).toEqual(ours);
  });

  it("ignores a client's statements about the origin of a request", () => {
    const headers = {
      'x-forwarded-for': '10.0.0.1',
      x_forwarded_for: '10.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-prefix': '/x',
      forwarded: 'for=10.0.0.1',
      'x-real-ip': '10.0.0.1',
      'x-request-id': 'mine',
      'idempotency-key': 'mine',
      Idempotency_Key: 'mine',
      via: '1.1 other',
    };
    expect(sent(headers)).toEqual(ours);
    expect(sent(headers, { publicUrl: 'https://gate.example:8443/x' })).toEqual({
      ...ours,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'gate.example:8443',
    });
  });

  // Prevents: a client that paid for a cheap path gets an expensive one, or another method, from an upstream that
  // trusts such a header.
  it('removes headers that would override the paid path or method', () => {
    const headers = {
      'x-original-url': '/dear',
      x_original_url: '/dear',
      'x-original-uri': '/dear',
      'x-rewrite-url': '/dear',
      'x-request-uri': '/dear',
      'x-envoy-original-path': '/dear',
      'x-http-method': 'DELETE',
      'x-http-method-override': 'DELETE',
      'x-method-override': 'DELETE',
    };
    expect(sent(headers)).toEqual(ours);
    const added = [['X-HTTP-Method-Override', 'PATCH']] as const;
    expect(sent(headers, { added })).toEqual({ ...ours, 'X-HTTP-Method-Override': 'PATCH' });
  });

  // Prevents: a part is stored, and replayed to a client that asks for the whole.
  it('asks for the whole of a stored answer, and for no part in words that the gate does not read', () => {
    const headers = { 'if-range': '"1"', request_range: 'bytes=0-9', 'x-ms-range': 'bytes=0-9' };
    for (const method of ['GET', 'POST']) {
      expect(sent({ range: 'bytes=0-9', if_range: '"1"', ...headers }, { method, answer: 'stored' })).toEqual({
        ...ours,
        'accept-encoding': 'identity',
      });
    }
    expect(sent({ range: 'bytes=0-9', ...headers })).toEqual({ range: 'bytes=0-9', 'if-range': '"1"', ...ours });
  });

  it('asks for a stored answer in a coding that the client reads and the gate decodes, or as the operator says', () => {
    const asked = (headers: ResourceRequest['headers'], added: UpstreamHeaderRules['added'] = []) =>
      sent(headers, { answer: 'stored', added });
    expect(asked({ 'accept-encoding': 'zstd, br;q=0.1', accept_encoding: 'zstd' })).toEqual({
      ...ours,
      'accept-encoding': 'br',
    });
    expect(asked({ 'accept-encoding': 'br' }, [['Accept-Encoding', 'gzip']])).toEqual({
      ...ours,
      'Accept-Encoding': 'gzip',
    });
  });

  it('lets the operator add headers that no client can override', () => {
    const added = [['X-Api-Key', 'secret']] as const;
    expect(sent({ 'x-api-key': 'mine', x_api_key: 'mine' }, { added })).toEqual({ ...ours, 'X-Api-Key': 'secret' });
  });

  it('forwards credentials if the route says so', () => {
    const headers = { authorization: 'Bearer x', cookie: 'a=b' };
    expect(sent(headers, { passCredentials: true })).toEqual({ ...headers, ...ours });
  });

  it.each([
    ['tollgate_console=secret', undefined],
    ['a=b; tollgate_console=secret; c=d', 'a=b; c=d'],
    ['a=tollgate_console=x;tollgate_console =secret', 'a=tollgate_console=x'],
  ])('forwards no session of a console on the same host: %s', (cookie, left) => {
    expect(sent({ cookie }, { passCredentials: true })['cookie']).toBe(left);
  });

  it('removes conditions from safe requests, since a 304 would be the paid response', () => {
    const headers = { 'if-none-match': '"1"', 'if-modified-since': 'x', 'if-match': '"2"' };
    expect(sent(headers)).toEqual({ 'if-match': '"2"', ...ours });
    expect(sent(headers, { method: 'PUT' })).toEqual({ ...headers, ...ours });
  });
});

describe('createAnswerHeaders', () => {
  const kept = (raw: string[], options: Partial<AnswerHeaderRules> = {}) =>
    createAnswerHeaders(raw, {
      passCredentials: false,
      keepLength: false,
      answer: 'streamed',
      publish: (reference) => reference,
      ...options,
    });

  it('forwards the headers of the response, including repeated ones', () => {
    const raw = ['Content-Type', 'text/plain', 'Content-Encoding', 'gzip', 'ETag', '"1"', 'Link', '<a>', 'Link', '<b>'];
    raw.push('Cache-Control', 'no-cache');
    expect(kept(raw)).toEqual([
      ['content-type', 'text/plain'],
      ['content-encoding', 'gzip'],
      ['etag', '"1"'],
      ['link', '<a>'],
      ['link', '<b>'],
      ['cache-control', 'no-cache'],
    ]);
  });

  it('removes headers that only the gateway may set', () => {
    const raw = [
      ...['X-Payment-Released', 'true', 'X-Payment-Failure', 'x', 'X_Payment_Released', 'true'],
      ...['PAYMENT-REQUIRED', 'e30=', 'PAYMENT-RESPONSE', 'e30=', 'Idempotent-Replayed', 'true'],
      ...['WWW-Authenticate', 'Payment id="x"', 'Access-Control-Allow-Origin', '*', 'Alt-Svc', 'h3=":443"'],
      ...['Connection', 'close, X-Hop', 'X-Hop', '1', 'Transfer-Encoding', 'chunked', 'Keep-Alive', 'timeout=5'],
      ...['Set-Cookie', 'a=b', 'Strict-Transport-Security', 'max-age=1', 'Content-Length', '3'],
      ...['CDN-Cache-Control', 'max-age=9', 'Surrogate-Control', 'max-age=9'],
      ...['X-Accel-Expires', '9', 'Edge-Control', 'cache-maxage=9s', 'Akamai-Cache-Control', 'max-age=9'],
      ...['X-LiteSpeed-Cache-Control', 'public', 'cdn_cache_control', 'max-age=9'],
      ...['Tollgate-Charge', '0.01', 'tollgate_charge', '0.01'],
    ];
    expect(kept(raw)).toEqual([]);
  });

  it('tells what the upstream exposes to pages, and nothing else of its CORS', () => {
    const raw = ['Access-Control-Expose-Headers', 'X-Own', 'Access-Control-Allow-Credentials', 'true'];
    expect(kept([...raw, 'access_control_allow_origin', '*'])).toEqual([['access-control-expose-headers', 'X-Own']]);
  });

  it('offers parts of a streamed answer alone', () => {
    const raw = ['Accept-Ranges', 'bytes', 'accept_ranges', 'bytes'];
    expect(kept(raw)).toEqual([
      ['accept-ranges', 'bytes'],
      ['accept_ranges', 'bytes'],
    ]);
    expect(kept(raw, { answer: 'stored' })).toEqual([['accept-ranges', 'none']]);
  });

  it('keeps a bearer challenge, cookies if credentials are forwarded, and the length of a stream', () => {
    const raw = ['WWW-Authenticate', 'Bearer', 'Set-Cookie', 'a=b', 'Set-Cookie', 'c=d', 'Content-Length', '3'];
    expect(kept(raw, { passCredentials: true, keepLength: true })).toEqual([
      ['www-authenticate', 'Bearer'],
      ['set-cookie', 'a=b'],
      ['set-cookie', 'c=d'],
      ['content-length', '3'],
    ]);
  });
});
