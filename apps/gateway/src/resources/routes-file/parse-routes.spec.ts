import { ConfigurationError, keysOf } from '@tollgate/config';
import fc from 'fast-check';

import { anyText } from '../../../../../test/harness/any-text.js';
import { createOption } from '../../../test/create-option.js';
import { parseRoutes } from './parse-routes.js';
import { RouteDescription } from './route-description.js';

const SECRET = 'k3y-of-the-upstream';
const context = {
  env: { API_KEY: SECRET, BROKEN: `${SECRET}\nX: y`, EMPTY: '', UPSTREAM: 'http://upstream:9000' },
  options: [createOption({ decimals: 6 })],
  maxStoredAnswerBytes: 1_000,
  sellsWeather: true,
};

function problems(text: string): readonly string[] {
  try {
    parseRoutes(text, context);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
  return [];
}

/** The problems of one route that is valid apart from these lines. */
function problemsOf(...lines: string[]): readonly string[] {
  const given = new Set(lines.map((line) => line.split(':')[0]));
  const right = ['path: /q/:id', 'price: "1"', 'upstream: http://upstream'].filter(
    (line) => !given.has(line.split(':')[0]),
  );
  return problems(`routes:\n  - ${[...right, ...lines].join('\n    ')}\n`);
}

describe('parseRoutes', () => {
  it('accepts a minimal file of five lines', () => {
    const [route, ...others] = parseRoutes(
      'routes:\n  - path: /v1/quotes/:symbol\n    price: "0.01"\n    upstream: http://localhost:9000\n',
      context,
    );
    expect(others).toEqual([]);
    expect(route).toMatchObject({
      path: '/v1/quotes/:symbol',
      methods: ['GET'],
      price: '0.01',
      description: 'GET /v1/quotes/:symbol',
      mimeType: 'application/json',
      answer: 'stored',
      chargeOn: '<400',
    });
  });

  it('accepts every key, also in JSON with tabs', () => {
    const route = {
      path: '/files/*',
      price: 0.01,
      upstream: '${UPSTREAM}/store/*',
      methods: ['GET', 'POST'],
      description: 'Files',
      mimeType: 'text/plain; charset=utf-8',
      answer: 'streamed',
      chargeOn: '<500',
      timeoutMs: 5_000,
      maxBodyBytes: 10_000_000,
      passCredentials: true,
      upstreamHeaders: { 'X-Api-Key': 'Bearer ${API_KEY}', Host: 'store.internal' },
    };
    expect(parseRoutes(JSON.stringify({ routes: [route] }, null, '\t'), context)).toMatchObject([
      {
        path: '/files/*',
        methods: ['GET', 'POST'],
        price: '0.01',
        description: 'Files',
        mimeType: 'text/plain; charset=utf-8',
        answer: 'streamed',
        settle: 'after',
        chargeOn: '<500',
        maxBodyBytes: 10_000_000,
        passCredentials: true,
      },
    ]);
  });

  it('reads an unquoted price as text, not as a float', () => {
    const text = 'routes: [{path: /a, price: 123456789012.100001, upstream: http://u}]';
    expect(parseRoutes(text, context)).toMatchObject([{ price: '123456789012.100001' }]);
  });

  describe('of a seller with several options', () => {
    const SECOND = `0x${'6b'.repeat(20)}` as const;
    const options = [
      createOption({ name: 'usdc-base' }),
      createOption({ name: 'weth-base', symbol: 'WETH', decimals: 18, rate: '0.00026' }),
      createOption({ name: 'cent', decimals: 2 }),
      createOption({ name: 'usdc-base 2', entry: 'usdc-base', payTo: SECOND }),
    ];
    const problemsOf = (lines: string): readonly string[] => {
      try {
        parseRoutes(`routes:\n  - { path: /a, upstream: http://u, ${lines} }`, { ...context, options });
        return [];
      } catch (error) {
        return (error as ConfigurationError).problems;
      }
    };

    it('names the options that a route accepts', () => {
      const text = 'routes: [{ path: /a, price: 0.001, upstream: http://u, accepts: [weth-base, usdc-base] }]';
      expect(parseRoutes(text, { ...context, options })).toMatchObject([{ accepts: ['weth-base', 'usdc-base'] }]);
    });

    it.each([
      [
        'an unknown option',
        'price: 1, accepts: [usdc-bse]',
        /^routes\[0\]\.accepts.*no option "usdc-bse"; did you mean "usdc-base"\?$/,
      ],
      ['an option twice', 'price: 1, accepts: [cent, cent]', /accepts.*lists an option twice/],
      ['no option', 'price: 1, accepts: []', /accepts.*must list at least one option/],
      [
        'a price that is no whole number of base units in one of them',
        'price: 0.001',
        /price.*"0\.001" has more than 2 decimals/,
      ],
    ])('refuses %s', (_what, lines, problem) => {
      expect(problemsOf(lines)).toEqual([expect.stringMatching(problem)]);
    });

    it('pays another account of those that an option lists', () => {
      const text = `routes: [{ path: /a, price: 1, upstream: http://u, accepts: [usdc-base], payTo: '${SECOND}' }]`;
      expect(parseRoutes(text, { ...context, options })).toMatchObject([{ payTo: SECOND }]);
      expect(problemsOf(`price: 1, payTo: '${SECOND}'`)).toEqual([
        expect.stringMatching(/payTo.*is no account that the option weth-base lists as payTo/),
        expect.stringMatching(/payTo.*is no account that the option cent lists as payTo/),
      ]);
      expect(problemsOf('price: 1, payTo: me')).toEqual([expect.stringMatching(/payTo.*must be an address in quotes/)]);
    });

    it('names the rate by which a price is no whole number of base units', () => {
      const odd = [createOption({ name: 'odd', rate: '0.3333333' })];
      expect(() =>
        parseRoutes('routes: [{ path: /a, price: 1, upstream: http://u }]', { ...context, options: odd }),
      ).toThrow(/"0\.3333333" has more than 6 decimals.*\(odd has the rate 0\.3333333\)/);
    });
  });

  it('lets methods of one path cost different prices', () => {
    const text = `routes:
      - { path: /a, price: "1", upstream: http://u }
      - { path: /a, price: "2", upstream: http://u, methods: [POST] }`;
    expect(parseRoutes(text, context)).toHaveLength(2);
  });

  it('lists every problem at once, in the order of the file, with its place', () => {
    const text = `routes:
  - path: v1
    price: -1
    upstraem: http://localhost:9000
    methods: get
    timeout: 4
  - path: /v1/:x/:y
    price: 0
    upstream: ftp://x
    methods: [get, HEAD]
    mimeType: json
    answer: stream
    chargeOn: 400
    timeoutMs: "5"
  - /v1
  - path: /api/*
    price: 1.0000001
    upstream: http://localhost:9000
rotes: []
`;
    expect(problems(text)).toEqual([
      'routes[0].upstream (line 2): is missing.',
      'routes[0].path (line 2): must start with /.',
      'routes[0].price (line 3): Token amount "-1" is not a decimal number. Write digits with an optional point, for example 0.001.',
      'routes[0].upstraem (line 4): is unknown; did you mean "upstream"?',
      'routes[0].methods (line 5): must be a list such as [GET, POST].',
      'routes[0].timeout (line 6): is unknown; did you mean "timeoutMs"?',
      'routes[1].price (line 8): is 0: every price must be above 0. Serve free resources beside the gateway, not through it.',
      'routes[1].upstream (line 9): must begin with http:// or https://.',
      'routes[1].methods (line 10): may be GET, POST, PUT, PATCH, DELETE, in capitals; HEAD and OPTIONS are answered for every route.',
      'routes[1].mimeType (line 11): must be a media type such as application/json.',
      'routes[1].answer (line 12): must be stored or streamed.',
      'routes[1].chargeOn (line 13): must be "<400" or "<500".',
      'routes[1].timeoutMs (line 14): must be a whole number of milliseconds.',
      'routes[2] (line 15): must be a route: path, price, upstream.',
      'routes[3].path (line 16): overlaps /api/weather, which the gateway serves itself; use another path, such as /v1/*.',
      'routes[3].price (line 17): Token amount "1.0000001" has more than 6 decimals. The smallest unit of this token has 6 decimals.',
      'rotes (line 19): is unknown; did you mean "routes"?',
    ]);
  });

  it('refuses a metered route that is charged before its end, listing every reason', () => {
    const text =
      'routes:\n  - { path: /a, price: "1", upstream: "http://u", answer: streamed, settle: before, metered: true }';
    const why = 'where metered is true: the charge is only known once the response is complete';
    expect(problems(text)).toEqual([
      `routes[0].answer (line 2): cannot be "streamed" ${why}.`,
      `routes[0].settle (line 2): cannot be "before" ${why}.`,
      'routes[0].metered (line 2): needs SIGNED_PAYMENTS=true: the payer signs a maximum, and the actual charge is settled.',
    ]);
    const right = 'routes: [{path: /a, price: 1, upstream: "http://u", metered: true}]';
    expect(parseRoutes(right, { ...context, signedPayments: true })).toMatchObject([
      { isMetered: true, answer: 'stored', settle: 'after' },
    ]);
  });

  it('refuses impossible or unsafe revisits, listing every reason', () => {
    const route =
      '{ path: /a, price: "1", upstream: "http://u", methods: [GET, POST], revisitSeconds: 60, metered: true }';
    expect(problems(`routes:\n  - ${route}`)).toEqual([
      'routes[0].metered (line 2): needs SIGNED_PAYMENTS=true: the payer signs a maximum, and the actual charge is settled.',
      'routes[0].methods (line 2): must be [GET] where revisitSeconds is set: no other method may be repeated without payment.',
      'routes[0].revisitSeconds (line 2): cannot be set where metered is true: each response has its own price.',
      'routes[0].revisitSeconds (line 2): needs SIGNED_PAYMENTS=true: the PAYMENT-REQUIRED header asks clients to sign in.',
      'routes[0].revisitSeconds (line 2): needs PUBLIC_URL: a sign-in is bound to one host, and a client could name any host.',
    ]);
    const right = 'routes: [{path: /a, price: 1, upstream: "http://u", revisitSeconds: 60}]';
    const settings = { ...context, signedPayments: true, publicUrl: 'https://shop.example' };
    expect(parseRoutes(right, settings)).toMatchObject([{ revisitSeconds: 60, answer: 'stored' }]);
  });

  it.each([
    ['path: /q/(a)', 'routes[0].path (line 4): has "(a)"'],
    ['price: 1e-3', 'routes[0].price (line 4): Token amount "1e-3" is not a decimal number'],
    ['price: 0x10', 'Token amount "0x10" is not a decimal number'],
    ['price: "1,5"', 'Token amount "1,5" is not a decimal number'],
    ['price: [1]', 'routes[0].price (line 4): must be a decimal number such as "0.01"'],
    ['upstream: localhost', 'is not a URL'],
    ['upstream: http://user:pass@h', 'has a user or password; put an Authorization header into upstreamHeaders'],
    ['upstream: http://h/?key=1', 'has a query or fragment'],
    ['upstream: http://h/:idd', 'routes[0].upstream (line 4): has :idd, but the path does not'],
    ['upstream: ${NOPE}', 'needs the environment variable NOPE, which is not set'],
    ['upstream: ${EMPTY}', 'needs the environment variable EMPTY, which is not set'],
    ['stripPrefix: /other', 'routes[0].stripPrefix (line 5): must be the start of the path'],
    ['methods: [GET, GET]', 'lists a method twice'],
    ['methods: []', 'must list at least one method'],
    ['description: ""', 'must have 1 to 500 characters'],
    ['timeoutMs: 5', 'must be at least 100'],
    ['maxBodyBytes: 0', 'routes[0].maxBodyBytes (line 5): must be at least 1'],
    ['maxBodyBytes: 1.5', 'must be a whole number of bytes'],
    ['passCredentials: "yes"', 'must be true or false'],
    ['revisitSeconds: 1.5', 'routes[0].revisitSeconds (line 5): must be a whole number of seconds'],
    ['revisitSeconds: -1', 'must be at least 0'],
    ['revisitSeconds: 2592001', 'must be at most 2592000'],
    ['metered: "yes"', 'routes[0].metered (line 5): must be true or false'],
    ['upstreamHeaders: [x]', 'must be names and values'],
    ['upstreamHeaders: { X: 1 }', 'routes[0].upstreamHeaders.X (line 5): must be text'],
    ['upstreamHeaders: { "a b": x }', 'routes[0].upstreamHeaders["a b"] (line 5): is not a valid header name'],
    ['upstreamHeaders: { Connection: x }', 'is set by the gateway'],
    ['upstreamHeaders: { x_payment: x }', 'is set by the gateway'],
    ['upstreamHeaders: { Idempotency-Key: x }', 'is set by the gateway'],
    ['upstreamHeaders: { X-A: a, x_a: b }', 'is listed twice'],
    ['upstreamHeaders: { X: "${API_KEY" }', 'has "${" without a variable name and "}"'],
    ['upstreamHeaders: { X: "${}" }', 'has "${" without a variable name and "}"'],
    ['upstreamHeaders: { X: "${BROKEN}" }', 'contains a character that is not allowed in a header'],
    ['__proto__: { price: "1" }', 'routes[0].__proto__ (line 5): is unknown; '],
  ])('refuses %s', (line, message) => {
    const [problem, ...others] = problemsOf(line);
    expect(problem).toContain(message);
    expect(problem).not.toContain(SECRET);
    expect(others).toEqual([]);
  });

  it.each([
    ['/v1/:a', '/v1/:b'],
    ['/v1/:a', '/V1/b'],
    ['/v1/*', '/v1/a/b'],
    ['/v1/:a/c', '/v1/b/:d'],
  ])('refuses %s beside %s, since some requests would have two prices', (one, other) => {
    const text = `routes:
  - { path: ${one}, price: "1", upstream: "http://u" }
  - { path: ${other}, price: "2", upstream: "http://u", methods: [POST, GET] }`;
    expect(problems(text)).toEqual([
      'routes[1].path (line 3): overlaps routes[0].path for GET: some requests would have two prices.',
    ]);
  });

  it('refuses two spellings of one path with different methods, since each would deny the methods of the other', () => {
    const text = `routes:
  - { path: "/v1/:a", price: "1", upstream: "http://u" }
  - { path: "/v1/:b", price: "2", upstream: "http://u", methods: [POST] }`;
    expect(problems(text)).toEqual([
      'routes[1].path (line 3): overlaps routes[0].path with other methods: write both paths the same way.',
    ]);
  });

  it.each([
    '/health',
    '/health/:x',
    '/metrics',
    '/docs/*',
    '/:any',
    '/*',
    '/api/weather',
    '/api/:x',
    '/API/Weather',
    '/agent/jobs',
    '/agent/webhooks/*',
    '/agent/queues',
    '/agent/queues/:queue',
    '/facilitator/verify',
    '/facilitator/*',
  ])('refuses %s, which the gateway serves itself', (path) => {
    expect(problemsOf(`path: "${path}"`)).toEqual([
      expect.stringMatching(
        /overlaps \/(health|metrics|docs|api\/weather|agent\/(jobs|webhooks|queues)|facilitator), which/,
      ),
    ]);
  });

  it.each([
    ['', 'The file must have "routes:" with a list below it.'],
    ['[]', 'The file must have "routes:" with a list below it.'],
    ['routes: []', 'routes (line 1): must be a list of at least one route.'],
    ['routes:\n  - path: /x\n   price: 1\n', 'line 3, column 1: Sequence item without - indicator'],
    ['routes: []\nroutes: []', 'line 2, column 1: Map keys must be unique'],
    ['routes: !!js/function x', 'line 1, column 9: Unresolved tag: tag:yaml.org,2002:js/function'],
    ['routes: []\n---\nroutes: []', 'line 2, column 1: the file contains a second document'],
    ['routes: *nowhere', 'Unresolved alias (the anchor must be set before the alias): nowhere'],
    [`a0: &a0 [x]\n${multiply(9)}`, 'Excessive alias count indicates a resource exhaustion attack'],
    ['['.repeat(20_000), expect.stringContaining('Maximum call stack size exceeded')],
    ['x'.repeat(1_048_577), 'is larger than 1048576 bytes'],
  ])('refuses a file that is not a list of routes: %.40j', (text, message) => {
    expect(problems(text)[0]).toEqual(message);
    expect(problems(text).length).toBeLessThanOrEqual(5);
  });

  it('returns routes or a list of problems for any input, and never the value of a secret', () => {
    const value = fc.oneof(
      fc.constantFrom(
        '/a',
        '/a/:b',
        '/*',
        'GET',
        '1',
        '0.5',
        'http://u',
        'http://u/:b',
        '${API_KEY}',
        '${BROKEN}',
        'stored',
      ),
      fc.constantFrom<unknown>(
        null,
        true,
        5_000,
        -1,
        0.25,
        [],
        {},
        ['GET'],
        [['GET']],
        { X: '${API_KEY}' },
        { '': {} },
      ),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const route = fc.dictionary(
      fc.oneof(fc.constantFrom(...keysOf(RouteDescription)), fc.string({ maxLength: 5 })),
      value,
    );
    const file = fc.oneof(
      anyText,
      fc.record({ routes: fc.array(fc.oneof(route, value), { maxLength: 4 }) }).map((routes) => JSON.stringify(routes)),
    );
    fc.assert(
      fc.property(file, (text) => {
        for (const problem of problems(text)) expect(problem).not.toContain(SECRET);
      }),
      { numRuns: 300 },
    );
  });
});

function multiply(levels: number): string {
  const lines = Array.from({ length: levels }, (_, level) => {
    const aliases = Array.from({ length: 9 }, () => `*a${level}`).join(', ');
    return `a${level + 1}: &a${level + 1} [${aliases}]`;
  });
  return lines.join('\n');
}
