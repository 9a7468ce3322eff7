import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

import {
  decodeJsonHeader,
  encodeJsonHeader,
  EXACT_PROXY_ADDRESS,
  isPaymentIdentifier,
  PAYMENT_IDENTIFIER,
  parsePaymentPayload,
  UPTO_PROXY_ADDRESS,
  type JsonRecord,
  type SignedAuthorization,
  type SignedPayment,
  type SignedPermit,
} from '@tollgate/protocol';
import { encodeFunctionData, parseAbi, type Hex } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { listenLocally } from '../../../tools/devnet/processes/listen-locally.js';

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const structs = [
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
] as const;
const exactAbi = parseAbi([
  ...structs,
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
]);
const uptoAbi = parseAbi([
  ...structs,
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
]);

export interface SigningShop {
  url: string;
  /** Every payment that was received, as it was sent. */
  shown: { header: string; headers: IncomingHttpHeaders; payment: SignedPayment; extensions: JsonRecord }[];
  /** Fields to change in the offer. */
  offer: Record<string, unknown>;
  /** Fields to change in further offers behind it, one entry for each. */
  others: Record<string, unknown>[];
  /** The extensions of the offer in version 2. If they require a payment identifier, one must be sent. */
  extensions: Record<string, unknown>;
  /** The actual charge of a payment by use. */
  charge: bigint;
  /** Each handles one request with a payment instead of the shop. */
  interfere: ((response: ServerResponse, payment: SignedPayment) => void | Promise<void>)[];
  /** Settles the signed payment; throws when nothing moves. */
  settle(payment: SignedPayment): Promise<Hex>;
  close(): Promise<void>;
}

/**
 * A shop behind a version of the published protocol, like common middlewares: it stores nothing, and relies on the
 * token to refuse a used payment.
 */
export async function startSigningShop(chain: Devnet, version: 1 | 2): Promise<SigningShop> {
  const common = () => ({
    scheme: 'exact',
    asset: chain.asset,
    payTo: chain.payTo,
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  });
  const challenge = (error?: string) => {
    const said = error === undefined ? {} : { error };
    if (version === 2) {
      const offer = { ...common(), network: 'eip155:1328', amount: '1000', ...shop.offer };
      const others = shop.others.map((changes) => ({ ...offer, ...changes }));
      return {
        x402Version: 2,
        ...said,
        resource: { url: shop.url },
        accepts: [offer, ...others],
        extensions: shop.extensions,
      };
    }
    const texts = { resource: shop.url, description: 'Goods', mimeType: 'text/plain' };
    const offer = { ...common(), ...texts, network: 'sei-testnet', maxAmountRequired: '1000', ...shop.offer };
    return { x402Version: 1, ...said, accepts: [offer] };
  };
  const ask = (response: ServerResponse, error?: string) => {
    const body = challenge(error);
    if (version === 1) return response.writeHead(402).end(JSON.stringify(body));
    return response.writeHead(402, { 'PAYMENT-REQUIRED': encodeJsonHeader(body) }).end('{}');
  };
  const sell = async (headers: IncomingHttpHeaders, response: ServerResponse) => {
    const header = headers[version === 1 ? 'x-payment' : 'payment-signature'];
    if (typeof header !== 'string') return ask(response);
    const presented = parsePaymentPayload(decodeJsonHeader(header, 65_536));
    const { payment } = presented;
    const extensions = presented.version === 2 ? presented.extensions : {};
    shop.shown.push({ header, headers, payment, extensions });
    if (shop.extensions[PAYMENT_IDENTIFIER] !== undefined && !isPaymentIdentifier(identifierIn(extensions))) {
      return response.writeHead(400).end('no payment identifier');
    }
    const interference = shop.interfere.shift();
    if (interference) return interference(response, payment);
    const isSettled = await shop.settle(payment).then(
      () => true,
      () => false,
    );
    return isSettled ? response.end('the goods') : ask(response, 'settlement_failed');
  };
  const server = createServer((request, response) => {
    sell(request.headers, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { url, stop } = await listenLocally(server);
  const shop: SigningShop = {
    url: `${url}/goods`,
    shown: [],
    offer: {},
    others: [],
    extensions: { kept: { as: 'is' } },
    charge: 400n,
    interfere: [],
    settle: (payment) => {
      if (payment.kind === 'permit2') return settlePermit(chain, payment, shop.charge);
      if (payment.kind === 'authorization') return settleAuthorization(chain, payment);
      throw new Error(`no client signs a ${payment.kind}`);
    },
    close: stop,
  };
  return shop;
}

/** From now on the shop knows a payment that it has settled, and answers it again, as the specification asks for. */
export function rememberSettled(shop: SigningShop): void {
  const settled = new Map<string, Promise<Hex>>();
  const settle = shop.settle.bind(shop);
  shop.settle = (payment) => {
    const { signature } = payment;
    const known = settled.get(signature) ?? settle(payment);
    settled.set(signature, known);
    return known;
  };
}

/** The id that a payment names itself by. */
export function identifierIn(extensions: JsonRecord): unknown {
  const { info } = (extensions[PAYMENT_IDENTIFIER] ?? {}) as { info?: { id?: unknown } };
  return info?.id;
}

/** Settles an authorization, and returns the transaction's hash; throws when nothing moved. */
export async function settleAuthorization(chain: Devnet, payment: SignedAuthorization): Promise<Hex> {
  const { from, to, value, validAfter, validBefore, nonce } = payment.authorization;
  const numbers = [BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const;
  const args = [from, to, ...numbers, nonce, payment.signature] as const;
  const data = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args });
  return send(chain, chain.asset, data);
}

/** Settles a permit by the shop's facilitator; `charge`: the part to take of a payment by use. */
async function settlePermit(chain: Devnet, { scheme, permit2Authorization, signature }: SignedPermit, charge: bigint) {
  const { from, permitted, nonce, deadline, witness } = permit2Authorization;
  const amount = BigInt(permitted.amount);
  const permit = { permitted: { ...permitted, amount }, nonce: BigInt(nonce), deadline: BigInt(deadline) };
  const times = { to: witness.to, validAfter: BigInt(witness.validAfter) };
  if (scheme === 'exact') {
    const args = [permit, from, times, signature] as const;
    return send(chain, EXACT_PROXY_ADDRESS, encodeFunctionData({ abi: exactAbi, functionName: 'settle', args }));
  }
  const { facilitator } = permit2Authorization.witness;
  const args = [permit, charge, from, { ...times, facilitator }, signature] as const;
  return send(chain, UPTO_PROXY_ADDRESS, encodeFunctionData({ abi: uptoAbi, functionName: 'settle', args }));
}

/** The account that settles for the shop. */
export function facilitatorOf({ bulkSenders: [first] }: Devnet): Hex {
  if (first === undefined) throw new Error('the devnet has no senders');
  return first;
}

async function send(chain: Devnet, to: Hex, data: Hex): Promise<Hex> {
  const hash = await sendTransaction(chain, { from: facilitatorOf(chain), to, data });
  const receipt = (await callRpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash])) as { status: string };
  if (receipt.status !== '0x1') throw new Error('nothing was moved');
  return hash;
}
