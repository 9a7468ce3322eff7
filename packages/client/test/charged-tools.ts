import { encodePacked, keccak256 } from 'viem';

const REALM = 'tools.example';

/** An offer of x402 version 2, as far as a charge of MPP has it. */
export interface ChargedOffer {
  network: string;
  amount: string;
  asset: string;
  payTo: string;
}

let asked = 0;

/** The data of an error of MPP, by the draft of its transport for MCP: a challenge for the price of the offer. */
export function createCharge({ network, amount, asset, payTo }: ChargedOffer, detail: string): object {
  const methodDetails = { chainId: Number(network.split(':')[1]), credentialTypes: ['authorization'] };
  const challenge = {
    id: `tool-${Date.now()}-${(asked += 1)}`,
    realm: REALM,
    method: 'evm',
    intent: 'charge',
    request: { amount, currency: asset, recipient: payTo, methodDetails },
    expires: new Date(Date.now() + 60_000).toISOString(),
    description: 'Erzählt',
    opaque: { kept: 'as is' },
  };
  const problem = { type: 'https://paymentauth.org/problems/payment-required', title: 'Payment Required', detail };
  return { httpStatus: 402, challenges: [challenge], problem };
}

interface Credential {
  challenge: { id: string; realm: string; request: { amount: string } };
  payload: { type: string; nonce: string; signature: string };
}

/** The payment of a credential as one of x402 version 2, for a facilitator; throws if it is not for such a challenge. */
export function readCharged(credential: unknown, accepted: ChargedOffer): object {
  const { challenge, payload } = credential as Credential;
  const { type, signature, ...authorization } = payload;
  const nonce = keccak256(encodePacked(['string', 'string'], [challenge.id, REALM]));
  const isOwn = challenge.realm === REALM && challenge.request.amount === accepted.amount;
  if (type !== 'authorization' || !isOwn || authorization.nonce !== nonce)
    throw new Error('the credential is not ours');
  return { x402Version: 2, accepted, payload: { signature, authorization } };
}
