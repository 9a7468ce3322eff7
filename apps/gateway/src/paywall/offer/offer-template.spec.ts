import { OfferTemplate, type OfferFacts } from './offer-template.js';

const facts = {
  chainId: 1328,
  asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  assetName: 'USD Coin',
  assetVersion: '2',
  assetDecimals: 6,
  policy: 'transfer',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  maxTimeoutSeconds: 300,
  priceBaseUnits: 1000n,
  description: 'Wetter: "schön" ☀ \u2028 url reference',
  mimeType: 'application/json',
} as const;
const parts = {
  origin: { url: 'https://api.example', host: 'api.example' },
  resource: '/api/weather',
  reference: 'chain-1-a',
  issuedAtMs: Date.UTC(2026, 0, 1),
};

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
          asset: facts.asset,
          payTo: facts.payTo,
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
    ['transfer', ['authorization', 'hash']],
    ['receipt', ['authorization', 'hash']],
    ['bound', ['authorization']],
  ] as const)('under policy %s takes the MPP credentials %j', (policy, credentialTypes) => {
    expect(decode(requestOf({ ...facts, policy }))).toMatchObject({ methodDetails: { credentialTypes } });
  });

  it('knows its MPP charges at each price and under each policy', () => {
    const template = new OfferTemplate(facts);
    for (const policy of ['transfer', 'bound'] as const) {
      for (const priceBaseUnits of [1000n, 999n]) {
        const request = requestOf({ ...facts, policy, priceBaseUnits });
        expect(template.isChargeRequest(request, priceBaseUnits)).toBe(true);
        expect(template.isChargeRequest(request, 998n)).toBe(false);
      }
    }
    expect(template.isChargeRequest(requestOf({ ...facts, chainId: 1 }), 1000n)).toBe(false);
  });

  it('offers no authorization where the token would refuse every signature, but a permit and a transaction', () => {
    const relayer = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc' as const;
    const namesOf = (changes: Partial<OfferFacts>): (string | undefined)[] => {
      const headers = new OfferTemplate({ ...facts, takesAuthorizations: false, ...changes }).render(parts);
      return headers.filter((_, at) => at % 2 === 0);
    };
    expect(namesOf({})).toEqual(['WWW-Authenticate']);
    expect(namesOf({ policy: 'bound' })).toEqual([]);
    expect(namesOf({ policy: 'bound', readRelayer: () => relayer })).toEqual(['PAYMENT-REQUIRED']);
    const metered = new OfferTemplate({ ...facts, takesAuthorizations: false, readRelayer: () => relayer });
    const [, required = '', , mpp = ''] = metered.render(parts);
    expect(JSON.parse(Buffer.from(required, 'base64').toString())).toMatchObject({
      accepts: [{ scheme: 'upto', extra: { assetTransferMethod: 'permit2', facilitatorAddress: relayer } }],
    });
    const request = / request="([^"]*)"/.exec(mpp)?.[1] ?? '';
    expect(decode(request)).toMatchObject({ methodDetails: { credentialTypes: ['hash'] } });
    expect(new OfferTemplate(facts).isChargeRequest(request, facts.priceBaseUnits)).toBe(true);
  });

  it.each(['', 'x', 'xy', 'xyz'])('renders valid base64 for references of any length: %j', (more) => {
    const template = new OfferTemplate(facts);
    for (const resource of ['/a', '/ab', '/abc', '/abc']) {
      const reference = `chain-1-${more}`;
      const required = Buffer.from(template.render({ ...parts, resource, reference })[1]!, 'base64').toString();
      expect(JSON.parse(required)).toMatchObject({
        resource: { url: `https://api.example${resource}` },
        accepts: [{ extra: { reference } }],
        extensions: { 'payment-identifier': {} },
      });
    }
  });

  it('escapes text so that the headers stay valid', () => {
    for (const value of Object.values(render())) expect(value).toMatch(/^[ -~]+$/);
  });
});
