import { parseChallenge } from '@tollgate/protocol';

import { ChallengeTemplate } from './challenge-template.js';

const facts = {
  network: 'chain-testnet',
  asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  assetName: 'USDC',
  assetVersion: '2',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  maxTimeoutSeconds: 300,
  priceBaseUnits: 1000n,
  description: 'Wetter: "schön" ☀ \u2028 reference resource',
  mimeType: 'application/json',
} as const;

describe('ChallengeTemplate', () => {
  const template = new ChallengeTemplate(facts);

  it('renders every field of the specification in order', () => {
    const body = template.renderStart('/api/weather') + 'chain-1-a' + template.renderEnd();
    expect(JSON.stringify(JSON.parse(body))).toBe(
      JSON.stringify({
        x402Version: 1,
        accepts: [
          {
            scheme: 'exact',
            network: 'chain-testnet',
            maxAmountRequired: '1000',
            resource: '/api/weather',
            description: facts.description,
            mimeType: 'application/json',
            payTo: facts.payTo,
            maxTimeoutSeconds: 300,
            asset: facts.asset,
            extra: { name: 'USDC', version: '2', reference: 'chain-1-a' },
          },
        ],
      }),
    );
    expect(parseChallenge(JSON.parse(body))).not.toHaveProperty('error');
  });

  it('renders ASCII only', () => {
    const body = template.renderStart('/zürich/"x"') + 'r' + template.renderEnd('Payment verification failed');
    expect(Buffer.byteLength(body)).toBe(body.length);
    expect(parseChallenge(JSON.parse(body))).toMatchObject({
      error: 'Payment verification failed',
      accepts: [{ resource: '/zürich/"x"' }],
    });
  });
});
