import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import {
  challengeErrorFor,
  createChallenge,
  findHashLocks,
  matchesHashLock,
  parseProof,
  PaymentError,
  type Hex,
  type PaymentFailure,
  type PaymentProof,
} from '@tollgate/protocol';
import { createPublicClient, erc20Abi, http, parseEventLogs } from 'viem';

import { listenLocally } from '../../../tools/devnet/processes/listen-locally.js';

/** The server's settings for a chain. */
export interface PaidChain {
  rpcUrl: string;
  asset: Hex;
  payTo: Hex;
}

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  proof: PaymentProof | null;
}

/** Answers instead of the server; true when it did. */
export type Interference = (response: ServerResponse, request: SeenRequest) => boolean | Promise<boolean>;

export interface PaidServer {
  origin: string;
  url: string;
  seen: SeenRequest[];
  paid: () => SeenRequest[];
  /** Each handles one paid request, in order. */
  interfere: Interference[];
  /** Fields to change in the challenge. */
  challenge: Record<string, unknown>;
  /** Where unpaid requests are redirected to. */
  redirectUnpaidTo: string | null;
  /** The body of every 402 to an unpaid request. */
  answerUnpaidWith: string | null;
  close(): Promise<void>;
}

const PRICE = 1000n;

/**
 * A server that follows the documented protocol: it sells `/api/weather` and everything below, checks real receipts,
 * accepts a transaction once, and returns the stored answer for the same idempotency key. `/free` costs nothing,
 * `/missing` does not exist.
 */
export async function startPaidServer(chain: PaidChain): Promise<PaidServer> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const redeemed = new Map<string, { key: string | undefined; body: string }>();
  let issued = 0;

  const requirementFor = (path: string) => ({
    scheme: 'exact' as const,
    network: 'chain-testnet',
    maxAmountRequired: String(PRICE),
    resource: path,
    description: 'Current weather',
    mimeType: 'application/json',
    payTo: chain.payTo,
    maxTimeoutSeconds: 300,
    asset: chain.asset,
    extra: { name: 'USDC', version: '2', reference: `chain-${Date.now()}-${(issued += 1).toString(36)}` },
  });

  const refuse = (response: ServerResponse, path: string, failure?: PaymentFailure): void => {
    const challenge = createChallenge(requirementFor(path), failure && challengeErrorFor(failure));
    const [requirement] = challenge.accepts;
    const body = { ...challenge, accepts: [{ ...requirement, ...server.challenge }] };
    response.writeHead(402, { 'content-type': 'application/json', ...(failure && { 'X-Payment-Failure': failure }) });
    response.end(JSON.stringify(body));
  };

  const judge = async ({ payload }: PaymentProof): Promise<PaymentFailure | null> => {
    const receipt = await client.getTransactionReceipt({ hash: payload.txHash }).catch(() => null);
    if (!receipt) return 'receipt_missing';
    if (receipt.status !== 'success') return 'transaction_failed';
    const transfers = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs });
    const isPaid = transfers.some(
      ({ address, args }) =>
        address.toLowerCase() === chain.asset.toLowerCase() &&
        args.to.toLowerCase() === chain.payTo.toLowerCase() &&
        args.value >= PRICE,
    );
    if (!isPaid) return 'transfer_missing';
    const { input } = await client.getTransaction({ hash: payload.txHash });
    const locks = findHashLocks(input);
    const { reference } = payload;
    return locks.every(({ lock }) => reference !== undefined && matchesHashLock(lock, reference))
      ? null
      : 'lock_mismatch';
  };

  const sell = async (request: SeenRequest, response: ServerResponse): Promise<void> => {
    if (!request.proof) {
      if (server.redirectUnpaidTo) return void response.writeHead(302, { location: server.redirectUnpaidTo }).end();
      if (server.answerUnpaidWith !== null) return void response.writeHead(402).end(server.answerUnpaidWith);
      return refuse(response, request.url);
    }
    const failure = await judge(request.proof);
    if (failure) return refuse(response, request.url, failure);
    const key = request.headers['idempotency-key'] as string | undefined;
    const txHash = request.proof.payload.txHash.toLowerCase();
    const stored = redeemed.get(txHash);
    if (stored && stored.key !== key) return refuse(response, request.url, 'payment_used');
    const body = stored?.body ?? JSON.stringify({ conditions: 'Clear', number: redeemed.size + 1 });
    redeemed.set(txHash, { key, body });
    response.writeHead(200, { 'content-type': 'application/json', ...(stored && { 'Idempotent-Replayed': 'true' }) });
    response.end(body);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const header = request.headers['x-payment'];
    const { method = '', url = '', headers } = request;
    const seen: SeenRequest = { method, url, headers, body: Buffer.concat(chunks).toString(), proof: null };
    server.seen.push(seen);
    try {
      if (header !== undefined) seen.proof = parseProof(String(header), { network: 'chain-testnet' });
    } catch (error) {
      if (!(error instanceof PaymentError)) throw error;
      return refuse(response, url, error.code as PaymentFailure);
    }
    if (url.startsWith('/free')) return void response.end('free');
    if (url.startsWith('/missing')) return void response.writeHead(404).end('missing');
    if (seen.proof && (await server.interfere.shift()?.(response, seen))) return;
    await sell(seen, response);
  };

  const listener = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  const { url: origin, stop } = await listenLocally(listener);
  const server: PaidServer = {
    origin,
    url: `${origin}/api/weather`,
    seen: [],
    paid: () => server.seen.filter(({ proof }) => proof !== null),
    interfere: [],
    challenge: {},
    redirectUnpaidTo: null,
    answerUnpaidWith: null,
    close: stop,
  };
  return server;
}

/** The hashes of all transfers from this payer to the recipient, oldest first. */
export async function listTransfers(chain: PaidChain, from: Hex): Promise<Hex[]> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const logs = await client.getContractEvents({
    address: chain.asset,
    abi: erc20Abi,
    eventName: 'Transfer',
    args: { from, to: chain.payTo },
    fromBlock: 0n,
  });
  return logs.map(({ transactionHash }) => transactionHash);
}
