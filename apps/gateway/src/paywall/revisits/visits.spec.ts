import { nameOfPayment } from '@tollgate/ledger';
import type { FastifyRequest } from 'fastify';

import { createOption } from '../../../test/create-option.js';
import { answerJson, createRoute } from '../../../test/start-gateway.js';
import { PaidEndpoint } from '../offer/paid-endpoint.js';
import { SignInNonces } from '../offer/sign-in-nonces.js';
import { Visits, type Visit } from './visits.js';

const PAYER = `0x${'a1'.repeat(20)}` as const;
const paidOn = (chainId: number): string =>
  nameOfPayment({ kind: 'transfer', chainId, txHash: `0x${'b2'.repeat(32)}`, logIndex: 0 });

describe('a payer that returns to a gate on two chains', () => {
  const chains = [1328, 1329].map((id) => {
    const option = createOption({ name: `on-${id}` });
    return { ...option, chain: { ...option.chain, id, network: `network-${id}` } };
  });
  const agreement = { isFresh: () => true, takesAuthorizations: true };
  const endpoint = new PaidEndpoint(
    createRoute(() => answerJson('again'), { revisitSeconds: 60 }),
    {
      maxTimeoutSeconds: 300,
      takesTransactions: true,
      v1ClientsUrl: null,
      signedPayments: true,
      options: chains.map((option) => ({ option, agreement, relayer: { address: null } })),
    },
  );

  const visit = async (signer: 'account' | 'contract' | null, network: string, paid: string[]): Promise<string> => {
    const visits = new Visits({
      revisits: { findPayments: () => Promise.resolve(paid), takeNonce: () => Promise.resolve(true) } as never,
      ledger: { isClosed: () => Promise.resolve(false) },
      signers: { findSigner: () => Promise.resolve(signer) },
      nonces: new SignInNonces(['a-secret-of-more-than-thirty-two-characters']),
      reportFailure: (error) => {
        throw error;
      },
    });
    const terms = { domain: 'shop.example', uri: 'https://shop.example/api/weather', network, nonce: 'n' };
    const issuedAt = new Date().toISOString();
    const made: Visit = {
      endpoint,
      resource: { method: 'GET', path: '/api/weather', sent: { path: '/api/weather' } as never, query: '' },
      signIn: { ...terms, issuedAt, address: PAYER, signature: '0x' },
      asked: { ...terms, issuedAt, expirationTime: issuedAt },
    };
    const request = { id: 'one', ip: '127.0.0.1', raw: { headers: {}, rawHeaders: [] } } as unknown as FastifyRequest;
    const answer = await visits.serve(made, request, null);
    return answer.kind === 'unpaid' ? answer.cause : answer.kind;
  };

  it.each([
    ['an account that paid on either chain', 'account', 'eip155:1329', [paidOn(1328)], 'resource'],
    ['a contract on the chain that it paid on', 'contract', 'eip155:1328', [paidOn(1328)], 'resource'],
    // Prevents: a contract at the payer's address on another chain gets the resource without paying.
    ['a contract on another chain', 'contract', 'eip155:1329', [paidOn(1328)], 'not_paid'],
    ['a contract that paid on both', 'contract', 'eip155:1329', [paidOn(1328), paidOn(1329)], 'resource'],
    ['nobody', null, 'eip155:1328', [paidOn(1328)], 'signature_invalid'],
    ['an account that has not paid', 'account', 'eip155:1328', [], 'not_paid'],
  ] as const)('is served or not as %s', async (_what, signer, network, paid, outcome) => {
    expect(await visit(signer, network, [...paid])).toBe(outcome);
  });
});
