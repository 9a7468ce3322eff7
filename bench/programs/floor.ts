// The same rules in one process, without queue, gate, logs and metrics: the gateway's and the verifier's own parts behind
// raw Fastify. What the two real processes cost beyond this is the price of their separation.
import { connectChain } from '@tollgate/chain';
import { REDIS_LOGGER } from '@tollgate/common';
import { createFingerprint, createOwner, hashRetryKey, Ledger, type Lease } from '@tollgate/ledger';
import { parseProof, verifyReference, type Hex, type PaymentProof } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';
import { type VerifyPaymentRequest } from '@tollgate/transport';
import { ClientShares, PaymentVerifier, SellerTerms, WaitingRoom } from '@tollgate/verification';
import { fastify } from 'fastify';

import { createHmacSha256 } from '../../apps/gateway/src/paywall/offer/hmac-sha256.js';

const NETWORK = 'chain-testnet';
const PATH = '/api/weather';
const PRICE_BASE_UNITS = '1000';
const LEASE_MS = 30_000;
const DEADLINE_MS = 10_000;
const DAY_MS = 86_400_000;

const settings = process.env as Record<
  'REDIS_URL' | 'RPC_URL' | 'ASSET_ADDRESS' | 'PAY_TO' | 'CHALLENGE_SECRET',
  string
>;
const chainId = Number(process.env['CHAIN_ID']);
const asset = settings.ASSET_ADDRESS.toLowerCase() as Hex;
const payTo = settings.PAY_TO.toLowerCase() as Hex;
const hmac = createHmacSha256();
const secrets = [Buffer.from(settings.CHALLENGE_SECRET)];
const fingerprint = createFingerprint({ method: 'GET', path: PATH, query: '' });

const ledger = new Ledger({
  chainIds: [1328],
  redis: connectRedis({ url: settings.REDIS_URL, role: 'ledger', logger: REDIS_LOGGER }),
  retentionMs: DAY_MS,
});
const nowMs = () => ledger.nowMs();
const { reader: chain } = connectChain({
  urls: [settings.RPC_URL],
  chainId,
  timeoutMs: 3_000,
  batchSize: 50,
  batchesInFlight: 8,
  maxResponseBytes: 16_777_216,
  maxReceiptBytes: 1_048_576,
  logRangeBlocks: 2_000,
  observer: { batchEnded: () => undefined, queueChanged: () => undefined },
  nowMs,
});
const verifier = new PaymentVerifier({
  terms: new SellerTerms(chainId, [{ asset, payTo }]),
  rules: {
    policy: 'transfer',
    confirmations: 1,
    maxTimeoutSeconds: 300,
    redemptionWindowMs: DAY_MS,
    boundRedemptionWindowMs: DAY_MS,
  },
  chain,
  ledger,
  refundLog: console,
  waitingRoom: new WaitingRoom({ waitMs: 3_000, perClient: 16, total: 256, nowMs }),
  shares: new ClientShares({ lookupsPerMinute: 1_200, bytesPerMinute: 8_388_608, nowMs }),
});

const app = fastify();
app.get(PATH, async (request, reply) => {
  const proof = parseProof(String(request.headers['x-payment'] ?? ''), { network: NETWORK });
  const question = createQuestion(proof, request.id, request.ip);
  if (await isAnswered(question)) return reply.code(409).send();
  const verdict = await verifier.verify(question);
  if (verdict.outcome !== 'claimed') return reply.code(402).send(verdict);
  const body = await answer(verdict.lease, proof.payload.txHash);
  return body === null ? reply.code(409).send() : reply.type('application/json; charset=utf-8').send(body);
});

function createQuestion({ payload }: PaymentProof, requestId: string, clientAddress: string): VerifyPaymentRequest {
  const { reference: text } = payload;
  const terms = { method: 'GET', resource: PATH, asset, payTo, network: NETWORK };
  const found = text === undefined ? null : verifyReference({ reference: text, terms, secrets, hmac });
  return {
    requestId,
    owner: createOwner(),
    deadlineMs: nowMs() + DEADLINE_MS,
    network: NETWORK,
    chainId,
    asset,
    payTo,
    priceBaseUnits: PRICE_BASE_UNITS,
    txHash: payload.txHash.toLowerCase() as Hex,
    ...(text !== undefined && found
      ? { reference: { text, issuedAtMs: found.issuedAtMs, priceBaseUnits: String(found.priceBaseUnits) } }
      : {}),
    fingerprint,
    retryKey: null,
    leaseMs: LEASE_MS,
    clientAddress,
  };
}

/** As in the gateway: a request with a reference may ask for an answer that was given before. */
async function isAnswered({ reference, txHash }: VerifyPaymentRequest): Promise<boolean> {
  if (!reference) return false;
  const found = await ledger.find({ chainId, txHash, fingerprint, retryKey: hashRetryKey(reference.text) });
  return found.outcome !== 'none';
}

/** The document, committed before it leaves; null when the lease is lost. */
async function answer(lease: Lease, txHash: string): Promise<Buffer | null> {
  const document = {
    location: 'Sample City',
    temperature: '21 °C',
    conditions: 'Partly cloudy',
    humidity: '60%',
    windSpeed: '12 km/h',
    timestamp: new Date().toISOString(),
    payment: { isValid: true, txHash },
  };
  const body = Buffer.from(JSON.stringify(document));
  const stored = {
    status: 200,
    headers: [['content-type', 'application/json; charset=utf-8']] as [string, string][],
    body,
  };
  return (await ledger.commit(lease, stored)) ? body : null;
}

await ledger.open({ chainId: 1328, blockNumber: await chain.readHead(Date.now() + 10_000) });
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`ready http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`);
