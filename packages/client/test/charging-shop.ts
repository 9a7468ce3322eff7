import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

import { parseSignedPayment, type SignedAuthorization } from '@tollgate/protocol';
import { createPublicClient, encodePacked, erc20Abi, http, keccak256, parseEventLogs, type Hex } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { listenLocally } from '../../../tools/devnet/processes/listen-locally.js';
import { settleAuthorization } from './signing-shop.js';

const REALM = 'shop.example';

/** A credential of MPP, as it arrived. */
export interface ShownCredential {
  headers: IncomingHttpHeaders;
  challenge: Record<string, string>;
  payload: Record<string, string>;
  source?: string;
}

export interface ChargingShop {
  url: string;
  shown: ShownCredential[];
  /** Fields to change: in the challenge, in its request, and in the details of the method. */
  challenge: Record<string, string>;
  request: Record<string, unknown>;
  details: Record<string, unknown>;
  validSeconds: number;
  /** Further lines of `WWW-Authenticate`, before that of the challenge. */
  otherSchemes: string[];
  /** Each handles one request with a credential instead of the shop. */
  interfere: ((response: ServerResponse, credential: ShownCredential) => void | Promise<void>)[];
  refuse(response: ServerResponse, detail: string): void;
  /** Moves the money of a credential; returns the transaction. */
  settle(credential: ShownCredential): Promise<Hex>;
  close(): Promise<void>;
}

/**
 * A shop behind the `Payment` scheme alone, by the drafts of MPP (EVM charges): it takes a challenge that it issued once,
 * settles authorizations itself, and looks up transfers by their hash.
 */
export async function startChargingShop(chain: Devnet): Promise<ChargingShop> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const issued = new Map<string, Record<string, string>>();
  const spent = new Set<string>();

  const issue = (): string => {
    const methodDetails = { chainId: chain.chainId, credentialTypes: ['authorization', 'hash'], ...shop.details };
    const terms = { amount: '1000', currency: chain.asset, methodDetails, recipient: chain.payTo, ...shop.request };
    const challenge: Record<string, string> = {
      id: `c${issued.size + 1}-${Date.now()}`,
      realm: REALM,
      method: 'evm',
      intent: 'charge',
      request: Buffer.from(JSON.stringify(terms)).toString('base64url'),
      expires: new Date(Date.now() + shop.validSeconds * 1000).toISOString(),
      ...shop.challenge,
    };
    issued.set(challenge['id'] ?? '', challenge);
    const parameters = Object.entries(challenge).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`);
    return `Payment ${parameters.join(', ')}`;
  };

  const ask = (response: ServerResponse, problem: object): void => {
    response.setHeader('WWW-Authenticate', [...shop.otherSchemes, issue()]);
    response.writeHead(402, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
  };

  const judge = async ({ challenge, payload, source }: ShownCredential): Promise<string | null> => {
    if (JSON.stringify(issued.get(challenge['id'] ?? '')) !== JSON.stringify(challenge))
      return 'the challenge is not ours';
    if (Date.now() > Date.parse(challenge['expires'] ?? '')) return 'the challenge has expired';
    if (!/^did:pkh:eip155:1328:0x[0-9a-fA-F]{40}$/.test(source ?? '')) return 'the source is no account of this chain';
    if (payload['type'] === 'hash') {
      const { logs, status } = await client.getTransactionReceipt({ hash: payload['hash'] as Hex });
      const moved = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs }).some(
        ({ args }) => args.to.toLowerCase() === chain.payTo.toLowerCase() && args.value === 1000n,
      );
      return status === 'success' && moved ? null : 'the transaction pays nothing';
    }
    const nonce = keccak256(encodePacked(['string', 'string'], [challenge['id'] ?? '', REALM]));
    return payload['nonce'] === nonce ? null : 'the nonce does not commit to the challenge';
  };

  const sell = async (headers: IncomingHttpHeaders, response: ServerResponse): Promise<unknown> => {
    const line = headers['payment-authorization'] ?? headers.authorization;
    const [, token] = /^Payment ([\w-]+)$/.exec(String(line)) ?? [];
    if (token === undefined) return ask(response, { title: 'Payment Required', status: 402 });
    const credential = {
      headers,
      ...(JSON.parse(Buffer.from(token, 'base64url').toString()) as Omit<ShownCredential, 'headers'>),
    };
    shop.shown.push(credential);
    const interference = shop.interfere.shift();
    if (interference) return interference(response, credential);
    const problem = await judge(credential);
    if (problem !== null) return shop.refuse(response, problem);
    const id = credential.challenge['id'] ?? '';
    if (spent.has(id)) return shop.refuse(response, 'the challenge is used');
    spent.add(id);
    const reference = await shop.settle(credential);
    const receipt = { method: 'evm', reference, status: 'success', timestamp: new Date().toISOString() };
    response.setHeader('Payment-Receipt', Buffer.from(JSON.stringify(receipt)).toString('base64url'));
    return response.end('the goods');
  };

  const server = createServer((request, response) => {
    sell(request.headers, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { url, stop } = await listenLocally(server);
  const shop: ChargingShop = {
    url: `${url}/goods`,
    shown: [],
    challenge: {},
    request: {},
    details: {},
    validSeconds: 300,
    otherSchemes: [],
    interfere: [],
    refuse: (response, detail) =>
      ask(response, {
        type: 'https://paymentauth.org/problems/verification-failed',
        title: 'Verification Failed',
        detail,
      }),
    settle: async ({ payload }) =>
      payload['type'] === 'hash' ? (payload['hash'] as Hex) : settleAuthorization(chain, readAuthorization(payload)),
    close: stop,
  };
  return shop;
}

function readAuthorization({ signature, ...authorization }: Record<string, string>): SignedAuthorization {
  return parseSignedPayment({ authorization, signature }) as SignedAuthorization;
}
