import type { PaymentFailure } from '@tollgate/protocol';

import type { ClientName, ServerName } from '../../tools/devnet/interop/start-published.js';

/** Either it works, or a package cannot do it: `cannot` is the reason, and `says` the package's own error. */
export type Cell = 'works' | { cannot: string; says: RegExp };

/** The two forms of our challenge: `CHALLENGE_FORM`. */
export type ChallengeForm = 'documented' | 'v1-clients';

export interface Client {
  name: ClientName;
  /** The name on npm; the version is the one in this folder's package.json. */
  packageName: string;
  protocol: 'x402 1' | 'x402 2' | 'MPP';
  /** The header of its payments at the gateway. */
  paysIn: 'x-payment' | 'payment-signature' | 'authorization';
  gateway: Record<ChallengeForm, Cell>;
}

const wantsKnownNetwork: Cell = {
  cannot: 'refuses a challenge whose network is not in its list, or whose `resource` is relative',
  says: /Invalid enum value/,
};

export const CLIENTS: readonly Client[] = [
  {
    name: 'tollgate',
    packageName: '@tollgate/client',
    protocol: 'x402 1',
    paysIn: 'x-payment',
    gateway: { documented: 'works', 'v1-clients': 'works' },
  },
  {
    name: 'tollgate-axios',
    packageName: '@tollgate/client/axios',
    protocol: 'x402 1',
    paysIn: 'x-payment',
    gateway: { documented: 'works', 'v1-clients': 'works' },
  },
  {
    name: 'tollgate-kit',
    packageName: '@tollgate/agent-kit',
    protocol: 'x402 1',
    paysIn: 'x-payment',
    gateway: { documented: 'works', 'v1-clients': 'works' },
  },
  {
    name: 'x402-fetch',
    packageName: 'x402-fetch',
    protocol: 'x402 1',
    paysIn: 'x-payment',
    gateway: { documented: wantsKnownNetwork, 'v1-clients': 'works' },
  },
  {
    name: 'x402-axios',
    packageName: 'x402-axios',
    protocol: 'x402 1',
    paysIn: 'x-payment',
    gateway: { documented: wantsKnownNetwork, 'v1-clients': 'works' },
  },
  {
    name: 'x402-fetch-v2',
    packageName: '@x402/fetch',
    protocol: 'x402 2',
    paysIn: 'payment-signature',
    gateway: { documented: 'works', 'v1-clients': 'works' },
  },
  {
    name: 'x402-axios-v2',
    packageName: '@x402/axios',
    protocol: 'x402 2',
    paysIn: 'payment-signature',
    gateway: { documented: 'works', 'v1-clients': 'works' },
  },
  {
    name: 'mppx',
    packageName: 'mppx',
    protocol: 'MPP',
    paysIn: 'authorization',
    gateway: { documented: 'works', 'v1-clients': 'works' },
  },
];

/**
 * Our clients pay a gateway by transfers of their own, made before the second request, and other servers by signatures.
 */
export const isOurs = ({ packageName }: Client): boolean => packageName.startsWith('@tollgate/');

/** One for each protocol in which published clients sign. */
export const PROTOCOL_CLIENTS = CLIENTS.filter(({ name }) => ['x402-fetch', 'x402-fetch-v2', 'mppx'].includes(name));

export interface Server {
  /** The program, and the prefix of the middleware's routes in it. */
  name: ServerName;
  prefix: string;
  packageName: string;
  /** The protocols of the payments that it accepts. */
  protocols: readonly Client['protocol'][];
}

export const SERVERS: readonly Server[] = [
  { name: 'x402-express', prefix: '', packageName: 'x402-express', protocols: ['x402 1'] },
  { name: 'x402-hono', prefix: '', packageName: 'x402-hono', protocols: ['x402 1'] },
  { name: 'next', prefix: '/v1', packageName: 'x402-next', protocols: ['x402 1'] },
  { name: 'x402-express-v2', prefix: '', packageName: '@x402/express', protocols: ['x402 2'] },
  { name: 'x402-hono-v2', prefix: '', packageName: '@x402/hono', protocols: ['x402 2'] },
  { name: 'next', prefix: '/v2', packageName: '@x402/next', protocols: ['x402 2'] },
  ...['express', 'hono', 'fastify', 'next'].map((adapter): Server => ({
    name: 'tollgate',
    prefix: `/${adapter}`,
    packageName: `@tollgate/middleware/${adapter}`,
    protocols: ['x402 1', 'x402 2'],
  })),
];

/** Whether a client can pay a middleware at all, whichever facilitator verifies and settles. */
export function paysServer(client: Client, { protocols }: Pick<Server, 'protocols'>): Cell {
  if (isOurs(client)) return 'works';
  // Clients of version 2 read both versions, and mppx reads version 2 beside its own protocol.
  if (client.protocol === 'x402 2') return 'works';
  if (protocols.includes(client.protocol === 'MPP' ? 'x402 2' : client.protocol)) return 'works';
  return client.protocol === 'MPP'
    ? { cannot: 'does not read x402 version 1 challenges', says: /No method found for challenges/ }
    : { cannot: 'reads challenges only in the body, and x402 version 2 has them in a header', says: /reading 'map'/ };
}

/** The routes of the published server of MPP, which settles through our facilitator. */
export const MPP_ROUTES: readonly { prefix: string; packageName: string; asks: string; isAlone: boolean }[] = [
  { prefix: '/express', packageName: 'mppx/express', asks: 'MPP and x402 2', isAlone: false },
  { prefix: '/hono', packageName: 'mppx/hono', asks: 'MPP and x402 2', isAlone: false },
  { prefix: '/express-mpp', packageName: 'mppx/express', asks: 'MPP', isAlone: true },
  { prefix: '/hono-mpp', packageName: 'mppx/hono', asks: 'MPP', isAlone: true },
];

export const MPP_CLIENTS = CLIENTS.filter((client) => isOurs(client) || client.protocol === 'MPP');

/** The schemes of version 2 beside the EIP-3009 authorization; a metered payment charges the amount used. */
export const SCHEMES = {
  permit2: { scheme: 'exact', transferMethod: 'permit2' },
  metered: { scheme: 'upto' },
} as const;
export type SchemeName = keyof typeof SCHEMES;

/** The products, each at the path of its name: paid by an authorization, or by a scheme. */
export type Product = 'quote' | SchemeName;

/** A client, and the product that it buys: by Permit2 the price (`exact`), or of a maximum (`upto`) the amount used. */
export interface Way {
  client: Client;
  product: Product;
}

export const SCHEME_SERVERS = SERVERS.filter(({ packageName }) => packageName.startsWith('@x402/'));

/** Whether a client pays by the scheme, and its error where it cannot. */
export function paysByScheme(client: Client): Cell {
  if (isOurs(client) || client.protocol === 'x402 2') return 'works';
  return client.protocol === 'MPP'
    ? { cannot: 'does not sign permits', says: /No method found/ }
    : paysServer(client, { protocols: ['x402 2'] });
}

/** Whether a client with the extension revisits by a signature where a route allows it, instead of paying again. */
export const COMING_BACK: readonly { packageName: string; cell: Cell }[] = [
  { packageName: '@x402/fetch', cell: 'works' },
  {
    packageName: '@x402/axios',
    cell: { cannot: 'pays again, because it checks no extension before it pays', says: /^payment-signature$/ },
  },
];

function clientOf(name: ClientName): Client {
  const client = CLIENTS.find((one) => one.name === name);
  if (!client) throw new Error(`no client is called ${name}`);
  return client;
}

/** Each form in which published clients sign for a gateway. */
export const GATEWAY_WAYS: readonly Way[] = [
  ...PROTOCOL_CLIENTS.map((client): Way => ({ client, product: 'quote' })),
  { client: clientOf('x402-fetch-v2'), product: 'metered' },
];

/** Despite each of these faults a payment is charged once, and answered. */
export const FAULTS = {
  slowChain: 'no block takes the settlement in until long after it was asked for',
  lostReply: 'the node takes the settlement, and its reply is lost',
  killedVerifier: 'the verifier is killed when it has sent the settlement',
  lostAnswer: 'the answer is lost on its way',
} as const;

export type Fault = keyof typeof FAULTS;

/** A way to pay a middleware through our facilitator. */
export interface Sale extends Way {
  server: Server;
}

function saleOf(clientName: ClientName, packageName: string, product: Product = 'quote'): Sale {
  const server = SERVERS.find((one) => one.packageName === packageName);
  if (!server) throw new Error(`no middleware is called ${packageName}`);
  return { client: clientOf(clientName), server, product };
}

/** Each version with its own middleware and with ours, and both Permit2 schemes where a server offers them. */
export const TRIED_SALES: readonly Sale[] = [
  saleOf('x402-fetch', 'x402-express'),
  saleOf('x402-fetch', '@tollgate/middleware/express'),
  saleOf('x402-fetch-v2', '@x402/express'),
  saleOf('x402-fetch-v2', '@tollgate/middleware/express'),
  saleOf('x402-fetch-v2', '@x402/express', 'permit2'),
  saleOf('x402-fetch-v2', '@x402/express', 'metered'),
];

/**
 * Version 1 does not send a reference back: its callers name their request, so that a repeat gets the stored answer.
 */
export function nameRequest({ protocol }: Client, key: string): { headers?: Record<string, string> } {
  return protocol === 'x402 1' ? { headers: { 'Idempotency-Key': key } } : {};
}

/** Whether a middleware that meets a fault during a settlement still gives the payer the answer it is charged for. */
export function comesThrough({ packageName, protocols }: Server, fault: Fault): Cell {
  if (fault === 'lostAnswer' && !packageName.startsWith('@tollgate/')) {
    return {
      cannot: 'stores no answers: an answer that is lost on its way was paid for, and is gone',
      says: /^{"status":402/,
    };
  }
  const asksOnce = protocols.length === 1 && protocols[0] === 'x402 1';
  if (fault === 'slowChain' && asksOnce) {
    return {
      cannot: 'treats a settlement in flight as failed; it waits for `SETTLE_WAIT_MS`',
      says: /^{"status":402/,
    };
  }
  return 'works';
}

/** The `X-Payment-Failure` of the refusal, which charges nothing; `mpp` and `metered` where those of MPP and of a metered route differ. */
export interface Refusal {
  failure: PaymentFailure;
  mpp?: PaymentFailure;
  metered?: PaymentFailure;
}

/** An altered MPP challenge is always noticed, because it comes back with the payment. */
const unknownToMpp = (failure: PaymentFailure): Refusal => ({ failure, mpp: 'unknown_reference' });

/** For each way to pay the gateway: alterations of a challenge before the payment is signed for it. */
export const ALTERED_TERMS = {
  'another recipient': unknownToMpp('recipient_mismatch'),
  'a lower amount': { ...unknownToMpp('amount_mismatch'), metered: 'amount_too_low' },
  'a higher amount': unknownToMpp('amount_mismatch'),
  'a time that ends at once': unknownToMpp('authorization_expired'),
} as const satisfies Record<string, Refusal>;
export type AlteredTerm = keyof typeof ALTERED_TERMS;

/** Alterations of a payment after it was signed. */
export const ALTERED_PAYMENTS = {
  recipient: { failure: 'recipient_mismatch' },
  value: { failure: 'amount_mismatch' },
  expiry: { failure: 'signature_invalid' },
  nonce: { failure: 'signature_invalid', mpp: 'not_bound' },
  payer: { failure: 'signature_invalid' },
  signature: { failure: 'signature_invalid' },
  'signature, as of a wallet yet to be deployed (EIP-6492)': { failure: 'factory_not_allowed' },
  network: unknownToMpp('wrong_network'),
} as const satisfies Record<string, Refusal>;
export type AlteredPayment = keyof typeof ALTERED_PAYMENTS;

/** Alterations of a Permit2 payment, whose payer signs a maximum. */
export const ALTERED_PERMITS = {
  recipient: { failure: 'recipient_mismatch' },
  maximum: { failure: 'amount_too_low' },
  spender: { failure: 'spender_mismatch' },
  facilitator: { failure: 'facilitator_mismatch' },
  expiry: { failure: 'signature_invalid' },
  nonce: { failure: 'signature_invalid' },
  payer: { failure: 'signature_invalid' },
  signature: { failure: 'signature_invalid' },
  network: { failure: 'wrong_network' },
} as const satisfies Record<string, Refusal>;
export type AlteredPermit = keyof typeof ALTERED_PERMITS;

/** Alterations of the requirements that a payment of version 2 states as accepted. */
export const ALTERED_ACCEPTANCES = {
  amount: { failure: 'amount_mismatch' },
  payTo: { failure: 'recipient_mismatch' },
  asset: { failure: 'asset_mismatch' },
  network: { failure: 'wrong_network' },
  scheme: { failure: 'wrong_scheme' },
} as const satisfies Record<string, Refusal>;
export type AlteredAcceptance = keyof typeof ALTERED_ACCEPTANCES;

/** Uses of valid payments: at the gateway and, but for the last, behind middlewares. */
export const USES = {
  together: 'sent 20 times at once, buys one answer and is charged once',
  many: 'one of 40 at once, each of which buys an answer of its own',
  preempted: 'sent to the token by a stranger first, is charged once and buys its answer',
  asHash: 'settled, buys nothing more by the hash of its transaction',
} as const;

/** Only the facilitator that the payer signed can send a metered payment. */
export const canBePreempted = ({ product }: Way): boolean => product !== 'metered';
