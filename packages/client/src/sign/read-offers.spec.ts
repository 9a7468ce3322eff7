import { encodeJsonHeader, PAYMENT_REQUIRED } from '@tollgate/protocol';

import { isCharge } from '../offer/charge-requirement.js';
import { isSignable } from '../offer/signable-requirement.js';
import { readOffers } from './read-offers.js';

describe('the offers of a gate that takes transfers and signatures', () => {
  const common = {
    scheme: 'exact',
    payTo: `0x${'22'.repeat(20)}`,
    asset: `0x${'33'.repeat(20)}`,
    maxTimeoutSeconds: 300,
  };
  const texts = { resource: '/api/weather', description: '', mimeType: 'application/json' };
  const extra = { name: 'USDC', version: '2' };
  const signed = { ...common, network: 'eip155:1328', amount: '1000', extra };
  const locked = { ...common, ...texts, network: 'chain-testnet', maxAmountRequired: '1000' };

  async function order(prefersSignatures: boolean, otherHeaders: Record<string, string> = {}): Promise<string[]> {
    const challenge = { x402Version: 2, resource: { url: 'https://gate.example/' }, accepts: [signed] };
    const body = { x402Version: 1, accepts: [{ ...locked, extra: { ...extra, reference: 'chain-1-a' } }] };
    const headers = { [PAYMENT_REQUIRED]: encodeJsonHeader(challenge), ...otherHeaders };
    const response = new Response(JSON.stringify(body), { status: 402, headers });
    const { accepts } = await readOffers(response, { timeoutMs: 1000, prefersSignatures });
    return accepts.map((offer) => `${isCharge(offer) ? 'MPP ' : ''}${isSignable(offer) ? 'signature' : 'transfer'}`);
  }

  it('are its transfers, and begin with signatures where a payment may get lost', async () => {
    expect(await order(false)).toEqual(['transfer']);
    expect(await order(true)).toEqual(['signature', 'transfer']);
  });

  const ask = (credentialTypes: string[]): string => {
    const terms = { amount: '1000', currency: common.asset, recipient: common.payTo };
    const request = Buffer.from(JSON.stringify({ ...terms, methodDetails: { chainId: 1328, credentialTypes } }));
    return `Payment id="chain-1-a", realm="gate.example", method="evm", intent="charge", request="${request.toString('base64url')}"`;
  };

  it('come before those of MPP', async () => {
    const headers = { 'WWW-Authenticate': ask(['authorization', 'hash']) };
    expect(await order(false, headers)).toEqual(['transfer', 'MPP signature', 'MPP transfer']);
  });

  // Prevents: a transfer is lost with the process, where a signature would have paid.
  it('come behind all signatures, those of MPP too, where a payment may get lost', async () => {
    const headers = { 'WWW-Authenticate': `${ask(['hash'])}, ${ask(['authorization'])}` };
    const signatures = ['signature', 'MPP signature'];
    expect(await order(true, headers)).toEqual([...signatures, 'transfer', 'MPP transfer']);
  });
});
