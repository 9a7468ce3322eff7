import { randomBytes } from 'node:crypto';

import { encodeJsonHeader } from '@tollgate/protocol';

import { PAYER } from './start-facilitator.js';

export const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const ASSET = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';

/** A payment for a scripted facilitator; its signature is invalid. */
function payloadOf(nonce: string, validBefore = '9999999999') {
  const authorization = { from: PAYER, to: PAY_TO, value: '1000', validAfter: '0', validBefore, nonce };
  return { signature: `0x${'12'.repeat(65)}`, authorization };
}

const createNonce = (): string => `0x${randomBytes(32).toString('hex')}`;

/** For each x402 version, the payment header and the name of the receipt header. */
export const VERSIONS = {
  1: {
    answer: 'x-payment-response',
    pay: ({ nonce = createNonce(), validBefore }: { nonce?: string; validBefore?: string } = {}) => {
      const payload = {
        x402Version: 1,
        scheme: 'exact',
        network: 'sei-testnet',
        payload: payloadOf(nonce, validBefore),
      };
      return { 'X-Payment': encodeJsonHeader(payload) };
    },
  },
  2: {
    answer: 'payment-response',
    pay: ({
      nonce = createNonce(),
      reference,
      identifier,
    }: { nonce?: string; reference?: string; identifier?: string } = {}) => {
      const accepted = {
        scheme: 'exact',
        network: 'eip155:1328',
        amount: '1000',
        asset: ASSET,
        payTo: PAY_TO,
        maxTimeoutSeconds: 300,
        extra: { ...(reference !== undefined && { reference }) },
      };
      const extensions = identifier === undefined ? {} : { 'payment-identifier': { info: { id: identifier } } };
      const payload = { x402Version: 2, payload: payloadOf(nonce), accepted, extensions };
      return { 'Payment-Signature': encodeJsonHeader(payload) };
    },
  },
} as const;
