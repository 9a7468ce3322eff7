import { listChargeRequests, OfferTemplate, type OfferedFacts, type OfferFacts } from './offer-template.js';

const option: OfferedFacts = {
  chainId: 1328,
  asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  assetName: 'USD Coin',
  assetVersion: '2',
  assetDecimals: 6,
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  priceBaseUnits: 1000n,
  exact: 'eip3009',
  takesTransactions: true,
  relayer: null,
};
const facts: OfferFacts = {
  options: [option],
  maxTimeoutSeconds: 300,
  description: 'Wetter: "schön" ☀ \u2028 url reference',
  mimeType: 'application/json',
  signInChainIds: [],
  passCredentials: false,
};
const parts = {
  origin: { url: 'https://api.example', host: 'api.example' },
  resource: '/api/weather',
  references: ['chain-1-a'],
  issuedAtMs: Date.UTC(2026, 0, 1),
};

const offering = (changes: Partial<OfferedFacts>): OfferFacts => ({ ...facts, options: [{ ...option, ...changes }] });
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

function requestOf(offered: OfferFacts): string {
  const header = new OfferTemplate(offered).render(parts)[3] ?? '';
  return / request="([^"]*)"/.exec(header)?.[1] ?? '';
}

function render(error?: string): Record<string, string> {
  const headers = new OfferTemplate(facts).render({ ...parts, error });
  return Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]!]] : [])));
}

describe('OfferTemplate', () => {
  it('offers x402 v2 payment requirements', () => {
    const required = Buffer.from(render()['PAYMENT-REQUIRED']!, 'base64').toString();
    expect(JSON.parse(required)).toEqual({
      x402Version: 2,
      resource: {
        url: 'https://api.example/api/weather',
        description: facts.description,
        mimeType: 'application/json',
      },
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:1328',
          amount: '1000',
          asset: option.asset,
          payTo: option.payTo,
          maxTimeoutSeconds: 300,
          extra: { name: 'USD Coin', version: '2', reference: 'chain-1-a' },
        },
      ],
      extensions: { 'payment-identifier': expect.objectContaining({ info: { required: false } }) },
    });
  });

  it('has the reason why a payment was refused, in UTF-8', () => {
    const required = Buffer.from(render('invalid "payment"')['PAYMENT-REQUIRED']!, 'base64').toString();
    expect(JSON.parse(required)).toMatchObject({ x402Version: 2, error: 'invalid "payment"' });
    expect(required.trimStart()).toBe(JSON.stringify(JSON.parse(required)));
  });

  it('offers an MPP charge', () => {
    const { 'WWW-Authenticate': header } = render();
    const [, request] =
      /^Payment id="chain-1-a", realm="api\.example", method="evm", intent="charge", request="([\w-]+)", expires="2026-01-01T00:05:00\.000Z"$/.exec(
        header!,
      ) ?? [];
    expect(decode(request!)).toMatchObject({ amount: '1000' });
  });

  it('asks for the MPP credential beside the Authorization that the upstream gets', () => {
    const [, , , header] = new OfferTemplate({ ...facts, passCredentials: true }).render(parts);
    expect(header).toContain('", header="Payment-Authorization", ');
    expect(render()['WWW-Authenticate']).not.toContain('header=');
  });

  it.each([
    [true, ['authorization', 'hash']],
    [false, ['authorization']],
  ])('where transactions are taken is %s takes the MPP credentials %j', (takesTransactions, credentialTypes) => {
    expect(decode(requestOf(offering({ takesTransactions })))).toMatchObject({ methodDetails: { credentialTypes } });
  });

  it('knows its MPP charges at each price, with and without transactions', () => {
    for (const takesTransactions of [true, false]) {
      for (const priceBaseUnits of [1000n, 999n]) {
        const request = requestOf(offering({ takesTransactions, priceBaseUnits }));
        expect(listChargeRequests(option, priceBaseUnits).includes(request)).toBe(true);
        expect(listChargeRequests(option, 998n).includes(request)).toBe(false);
      }
    }
    expect(listChargeRequests(option, 1000n).includes(requestOf(offering({ chainId: 1 })))).toBe(false);
  });

  it('offers no authorization where the token would refuse every signature, but a permit and a transaction', () => {
    const relayer = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc' as const;
    const namesOf = (changes: Partial<OfferedFacts>): (string | undefined)[] => {
      const headers = new OfferTemplate(offering({ exact: null, ...changes })).render(parts);
      return headers.filter((_, at) => at % 2 === 0);
    };
    expect(namesOf({})).toEqual(['WWW-Authenticate']);
    expect(namesOf({ takesTransactions: false })).toEqual([]);
    expect(namesOf({ takesTransactions: false, relayer })).toEqual(['PAYMENT-REQUIRED']);
    const metered = new OfferTemplate(offering({ exact: null, relayer }));
    const [, required = '', , mpp = ''] = metered.render(parts);
    expect(JSON.parse(Buffer.from(required, 'base64').toString())).toMatchObject({
      accepts: [{ scheme: 'upto', extra: { assetTransferMethod: 'permit2', facilitatorAddress: relayer } }],
    });
    const request = / request="([^"]*)"/.exec(mpp)?.[1] ?? '';
    expect(decode(request)).toMatchObject({ methodDetails: { credentialTypes: ['hash'] } });
    expect(listChargeRequests(option, option.priceBaseUnits).includes(request)).toBe(true);
  });

  it.each(['', 'x', 'xy', 'xyz'])('renders valid base64 for references of any length: %j', (more) => {
    const template = new OfferTemplate(facts);
    for (const resource of ['/a', '/ab', '/abc', '/abc']) {
      const reference = `chain-1-${more}`;
      const required = Buffer.from(
        template.render({ ...parts, resource, references: [reference] })[1]!,
        'base64',
      ).toString();
      expect(JSON.parse(required)).toMatchObject({
        resource: { url: `https://api.example${resource}` },
        accepts: [{ extra: { reference } }],
        extensions: { 'payment-identifier': {} },
      });
    }
  });

  describe('of several options', () => {
    const weth = { ...option, asset: '0x4200000000000000000000000000000000000006', assetName: 'WETH' } as const;
    const three: OfferFacts = {
      ...facts,
      options: [
        option,
        { ...weth, chainId: 8453, priceBaseUnits: 2_600_000_000_000n, exact: 'permit2' },
        { ...option, chainId: 1329 },
      ],
    };
    const references = ['chain-1-a', 'chain-1-bb', 'chain-1-ccc'];

    it.each([undefined, 'expired'])(
      'offers each in x402 v2, in order and with its own reference; error: %s',
      (error) => {
        const [name, required = ''] = new OfferTemplate(three).render({ ...parts, references, error });
        expect(name).toBe('PAYMENT-REQUIRED');
        const extra = { name: 'USD Coin', version: '2' };
        expect(JSON.parse(Buffer.from(required, 'base64').toString())).toMatchObject({
          resource: { url: 'https://api.example/api/weather' },
          accepts: [
            { scheme: 'exact', network: 'eip155:1328', amount: '1000', extra: { ...extra, reference: 'chain-1-a' } },
            {
              scheme: 'exact',
              network: 'eip155:8453',
              amount: '2600000000000',
              asset: weth.asset,
              extra: { name: 'WETH', version: '2', reference: 'chain-1-bb', assetTransferMethod: 'permit2' },
            },
            { scheme: 'exact', network: 'eip155:1329', amount: '1000', extra: { ...extra, reference: 'chain-1-ccc' } },
          ],
          extensions: { 'payment-identifier': {} },
          ...(error !== undefined && { error }),
        });
      },
    );

    it('offers the first two in MPP, each with its own challenge', () => {
      const headers = new OfferTemplate(three).render({ ...parts, references });
      expect(headers.filter((_, at) => at % 2 === 0)).toEqual([
        'PAYMENT-REQUIRED',
        'WWW-Authenticate',
        'WWW-Authenticate',
      ]);
      const requests = [headers[3], headers[5]].map((header) => / request="([^"]*)"/.exec(header ?? '')?.[1] ?? '');
      expect(requests.map(decode)).toMatchObject([
        { amount: '1000', methodDetails: { chainId: 1328, credentialTypes: ['authorization', 'hash'] } },
        { amount: '2600000000000', currency: weth.asset, methodDetails: { chainId: 8453, credentialTypes: ['hash'] } },
      ]);
      expect(headers[5]).toContain('id="chain-1-bb"');
    });
  });

  it('escapes text so that the headers stay valid', () => {
    for (const value of Object.values(render())) expect(value).toMatch(/^[ -~]+$/);
  });
});
