import { randomBytes } from 'node:crypto';

import {
  challengeNonce,
  encodeJsonHeader,
  EXACT_PROXY_ADDRESS,
  UPTO_PROXY_ADDRESS,
  type Hex,
  type PaymentRequiredV2,
  type SignedAuthorization,
  type SignedPermit,
  type TransferAuthorization,
} from '@tollgate/protocol';

import { ASSET, PAY_TO } from './start-gateway.js';

const hex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;

/** A payment whose signature is random bytes. */
export function createPayment(changes: Partial<TransferAuthorization> = {}): SignedAuthorization {
  const validBefore = Math.floor(Date.now() / 1000) + 300;
  return {
    kind: 'authorization',
    authorization: {
      from: hex(20),
      to: PAY_TO,
      value: '1000',
      validAfter: '0',
      validBefore: String(validBefore),
      nonce: hex(32),
      ...changes,
    },
    signature: hex(65),
  };
}

/** The contents of a 402 for each kind of client. */
export interface OfferedChallenge {
  readonly status: number;
  readonly reference: string;
  readonly required: PaymentRequiredV2;
  readonly authentication: Readonly<Record<string, string>>;
}

export async function readChallenge(url: string, init: RequestInit = {}): Promise<OfferedChallenge> {
  return parseOffer(await fetch(url, init));
}

export async function parseOffer(response: Response): Promise<OfferedChallenge> {
  const body = (await response.json()) as { accepts: { extra: { reference: string } }[] };
  const authentication = [...(response.headers.get('www-authenticate') ?? '').matchAll(/(\w+)="([^"]*)"/g)];
  return {
    status: response.status,
    reference: body.accepts[0]?.extra.reference ?? '',
    required: readHeader(response, 'payment-required') as unknown as PaymentRequiredV2,
    authentication: Object.fromEntries(authentication.map(([, name = '', value = '']) => [name, value])),
  };
}

export function readHeader(response: Response, name: string): Record<string, unknown> {
  const text = Buffer.from(response.headers.get(name) ?? '', 'base64').toString();
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

/** The headers of a payment as x402 v1 clients send it. */
export function presentV1({ authorization, signature }: SignedAuthorization, network = 'chain-testnet') {
  return {
    'X-PAYMENT': encodeJsonHeader({ x402Version: 1, scheme: 'exact', network, payload: { authorization, signature } }),
  };
}

/** The headers of a payment as x402 v2 clients send it, for the first option of a challenge. */
export function presentV2(
  { required }: Pick<OfferedChallenge, 'required'>,
  payload: object,
  { accepted = {}, id }: { accepted?: object; id?: unknown } = {},
) {
  const { resource, accepts, extensions } = required;
  const named =
    id === undefined ? extensions : { ...extensions, 'payment-identifier': { info: { required: false, id } } };
  const payment = { x402Version: 2, resource, accepted: { ...accepts[0], ...accepted }, payload, extensions: named };
  return { 'PAYMENT-SIGNATURE': encodeJsonHeader(payment) };
}

/** The headers of a payment as MPP clients send it; `changes` alters the challenge that the credential repeats. */
export function presentMpp(
  { authentication }: Pick<OfferedChallenge, 'authentication'>,
  payment: SignedAuthorization,
  changes: object = {},
) {
  const { signature, authorization } = payment;
  const payload = { type: 'authorization', ...authorization, signature };
  return { Authorization: createCredential({ ...authentication, ...changes }, payload) };
}

export function createCredential(challenge: object, payload: object): string {
  return `Payment ${Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url')}`;
}

/** An MPP payment whose nonce is derived from its challenge. */
export function createMppPayment(
  { authentication }: Pick<OfferedChallenge, 'authentication'>,
  changes: Partial<TransferAuthorization> = {},
): SignedAuthorization {
  const { id = '', realm = '' } = authentication;
  return createPayment({ nonce: challengeNonce({ id, realm }), ...changes });
}

/**
 * A Permit2 payment of a maximum (scheme `upto`), or with `scheme: 'exact'` of a price; its signature is random bytes.
 */
export function createPermit(
  relayer: Hex,
  { amount = '1000', scheme = 'upto' }: { amount?: string; scheme?: SignedPermit['scheme'] } = {},
): SignedPermit {
  const deadline = String(Math.floor(Date.now() / 1000) + 300);
  const permitted = { token: lower(ASSET), amount };
  const common = { from: hex(20), permitted, nonce: BigInt(hex(32)).toString(), deadline };
  const witness = { to: lower(PAY_TO), validAfter: '0' };
  const signature = hex(65);
  if (scheme === 'exact') {
    const permit2Authorization = { ...common, spender: EXACT_PROXY_ADDRESS, witness };
    return { kind: 'permit2', scheme, permit2Authorization, signature };
  }
  const metered = { ...common, spender: UPTO_PROXY_ADDRESS, witness: { ...witness, facilitator: relayer } };
  return { kind: 'permit2', scheme, permit2Authorization: metered, signature };
}

/** The part of a permit that is sent. */
export function payloadOf({ signature, permit2Authorization }: SignedPermit) {
  return { signature, permit2Authorization };
}

/** The headers of an `upto` payment, for the challenge's option with that scheme. */
export function presentMetered(
  { required }: Pick<OfferedChallenge, 'required'>,
  permit: SignedPermit,
  changes: { accepted?: object; id?: unknown } = {},
) {
  const accepts = required.accepts.filter(({ scheme }) => scheme === 'upto');
  return presentV2({ required: { ...required, accepts } }, payloadOf(permit), changes);
}

const lower = (address: string): Hex => address.toLowerCase() as Hex;
