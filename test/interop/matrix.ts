import type { ClientName } from '../../devnet/interop/start-client.js';
import type { ServerName } from '../../devnet/interop/start-server.js';

/** What works, or what a package itself cannot do: why, and what it says when it is asked to. */
export type Cell = 'works' | { cannot: string; says: RegExp };

/** The two forms of our challenge: `CHALLENGE_FORM`. */
export type ChallengeForm = 'documented' | 'v1-clients';

export interface Client {
  name: ClientName;
  /** As npm knows it; the version is the one in this folder's package.json. */
  packageName: string;
  protocol: 'x402 1' | 'x402 2' | 'MPP';
  /** The header that its signed payments come in; none where it pays by a transfer of its own. */
  paysIn: 'x-payment' | 'payment-signature' | 'authorization';
  gateway: Record<ChallengeForm, Cell>;
}

const wantsKnownNetwork: Cell = {
  cannot: 'takes no challenge whose network is not in its list, nor one with a relative `resource`',
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

/** One for each way in which published clients sign. */
export const PROTOCOL_CLIENTS = CLIENTS.filter(({ name }) => ['x402-fetch', 'x402-fetch-v2', 'mppx'].includes(name));

export interface Server {
  /** The program, and where in it the middleware's routes begin. */
  name: ServerName;
  prefix: string;
  packageName: string;
  /** Which payments it takes. */
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

/** Whether a client can pay a middleware at all, whoever verifies and settles for it. */
export function paysServer(client: Client, { protocols }: Server): Cell {
  if (client.name === 'tollgate')
    return { cannot: 'pays by transfers of its own, which no middleware takes', says: /./ };
  // Clients of version 2 read both, and mppx reads version 2 beside its own protocol.
  if (client.protocol === 'x402 2') return 'works';
  if (protocols.includes(client.protocol === 'MPP' ? 'x402 2' : client.protocol)) return 'works';
  return client.protocol === 'MPP'
    ? { cannot: 'reads no challenge of x402 1', says: /No method found for challenges/ }
    : { cannot: 'reads challenges in the body, and x402 2 has them in a header', says: /reading 'map'/ };
}

/** With one client of each protocol: charged once, and answered, though this happens. */
export const FAULTS = {
  slowChain: 'no block takes the settlement in until long after it was asked for',
  lostReply: 'the node takes the settlement, and its reply is lost',
  killedVerifier: 'the verifier is killed when it has sent the settlement',
  lostAnswer: 'the answer is lost on its way',
} as const;

/** One client and server of each version, for the faults that a server with no ledger of its own comes through. */
export const FAULTY_SALES: readonly { client: ClientName; server: ServerName }[] = [
  { client: 'x402-fetch', server: 'x402-express' },
  { client: 'x402-fetch-v2', server: 'x402-express-v2' },
];

/** With one client of each protocol: refused, and nothing charged, when its challenge was altered on the way. */
export const ALTERED_TERMS = ['another recipient', 'a lower amount', 'a higher amount'] as const;

/** The same for what was altered in a payment after it was signed. */
export const ALTERED_PAYMENTS = [
  'recipient',
  'value',
  'expiry',
  'expiry that has passed',
  'nonce',
  'payer',
  'signature',
  'signature, as of a wallet yet to be deployed (EIP-6492)',
  'network',
] as const;

/** The same for what a payment of version 2 says its payer accepted. */
export const ALTERED_ACCEPTANCES = ['amount', 'payTo', 'asset', 'network', 'scheme'] as const;

/** With one client of each protocol. */
export const USES = {
  together: 'sent 20 times at once, buys one answer and is charged once',
  many: 'one of 40 at once, each of which buys its own answer',
  preempted: 'sent to the token by a stranger first, is charged once and buys its answer',
  asHash: 'settled, buys nothing more by the hash of its transaction',
} as const;
