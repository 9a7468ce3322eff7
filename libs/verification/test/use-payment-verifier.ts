import { randomBytes } from 'node:crypto';

import type { ChainReader, RpcBatcher } from '@tollgate/chain';
import { createOwner, Ledger } from '@tollgate/ledger';
import { lowerHex, type Hex } from '@tollgate/protocol';
import type { VerifyPaymentRequest, VerifyPaymentVerdict } from '@tollgate/transport';
import { Redis } from 'ioredis';

import { deployBatchPayer, deployToken, type BatchPayer } from '../../../test/harness/chain/deploy.js';
import { borrowRedis } from '../../../test/harness/stack/borrow-redis.js';
import { startChain, type Devnet, type DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { connectDevnet } from '../../chain/test/connect-devnet.js';
import { startRpcStandIn, type RpcStandIn } from '../../chain/test/rpc-stand-in.js';
import { ClientShares } from '../src/limits/client-shares.js';
import { WaitingRoom } from '../src/limits/waiting-room.js';
import { SellerTerms } from '../src/seller-terms.js';
import { PaymentVerifier } from '../src/transactions/payment-verifier.js';
import type { Rules } from '../src/transactions/transaction-rules.js';

/** The price of the resource in the tests, in base units. */
export const PRICE = 1000n;

/** The recipient of the option in the other token. */
export const OTHER_PAY_TO: Hex = `0x${'5e'.repeat(20)}`;

export interface Asked {
  rules?: Partial<Rules>;
  waitMs?: number;
  request?: Partial<VerifyPaymentRequest>;
  verifier?: PaymentVerifier;
}

interface Parts {
  devnet: Devnet;
  redis: Redis;
  rpc: RpcStandIn;
  ledger: Ledger;
  batcher: RpcBatcher;
  chain: ChainReader;
  wallet: BatchPayer;
  otherToken: Hex;
  /** The devnet's token, and another one with a recipient of its own. */
  terms: SellerTerms;
  createVerifier(
    rules?: Partial<Rules>,
    waitMs?: number,
    room?: { perClient?: number; total?: number },
    share?: { lookupsPerMinute?: number; bytesPerMinute?: number },
  ): PaymentVerifier;
  stop(): Promise<void>;
}

async function startParts(): Promise<Parts> {
  const [devnet, redisServer] = await Promise.all([startChain(), borrowRedis()]);
  const redis = new Redis(redisServer.url);
  const rpc = await startRpcStandIn(devnet.rpcUrl);
  const ledger = new Ledger({
    redis,
    chainIds: [1328],
    retentionMs: 86_400_000,
    timeoutMs: 30_000,
    book: { outboxLimit: 1_000_000 },
  });
  const nowMs = (): number => ledger.nowMs();
  await ledger.open({ chainId: 1328, blockNumber: 0 });
  const chain = connectDevnet(rpc.url, { logRangeBlocks: 2000, nowMs });
  const wallet = await deployBatchPayer(devnet);
  const otherToken = await deployToken(devnet);
  const terms = new SellerTerms(1328, [
    { asset: lowerHex(devnet.asset), payTo: lowerHex(devnet.payTo) },
    { asset: lowerHex(otherToken), payTo: OTHER_PAY_TO },
  ]);
  const createVerifier: Parts['createVerifier'] = (rules = {}, waitMs = 0, room = {}, share = {}) =>
    new PaymentVerifier({
      terms,
      rules: {
        policy: 'transfer',
        confirmations: 1,
        maxTimeoutSeconds: 300,
        redemptionWindowMs: 900_000,
        boundRedemptionWindowMs: 86_400_000,
        ...rules,
      },
      chain: chain.reader,
      ledger,
      refundLog: { log: () => undefined },
      waitingRoom: new WaitingRoom({ waitMs, perClient: 16, total: 256, ...room, nowMs }),
      shares: new ClientShares({ lookupsPerMinute: 1_200, bytesPerMinute: 8_388_608, ...share }),
    });
  const stop = async (): Promise<void> => {
    await chain.close();
    redis.disconnect();
    await Promise.all([rpc.stop(), devnet.stop(), redisServer.stop()]);
  };
  const { batcher, reader } = chain;
  return { devnet, redis, rpc, ledger, batcher, chain: reader, wallet, otherToken, terms, createVerifier, stop };
}

/**
 * Verifiers with their own chain, ledger and RPC server for all tests of a file: started before the first, stopped
 * after the last. The RPC server's fault is cleared before each.
 */
export function usePaymentVerifier() {
  let started: Parts | undefined;
  const parts = (): Parts => {
    if (started === undefined) throw new Error('the parts exist in tests and hooks, not while they are declared');
    return started;
  };
  beforeAll(async () => {
    started = await startParts();
  });
  afterAll(() => started?.stop());
  beforeEach(() => parts().rpc.fail(undefined));

  const payer = (): DevnetAccount => {
    const [first] = parts().devnet.accounts;
    if (first === undefined) throw new Error('the chain has no accounts');
    return first;
  };
  const createVerifier: Parts['createVerifier'] = (...settings) => parts().createVerifier(...settings);

  const createRequest = (txHash: Hex, changes: Partial<VerifyPaymentRequest> = {}): VerifyPaymentRequest => {
    const { devnet, ledger } = parts();
    return {
      requestId: 'test',
      owner: createOwner(),
      deadlineMs: ledger.nowMs() + 60_000,
      network: 'chain-testnet',
      chainId: 1328,
      asset: devnet.asset.toLowerCase() as Hex,
      payTo: devnet.payTo.toLowerCase() as Hex,
      priceBaseUnits: String(PRICE),
      txHash,
      fingerprint: createOwner(),
      retryKey: null,
      leaseMs: 30_000,
      clientAddress: '127.0.0.1',
      ...changes,
    };
  };

  const ask = (txHash: Hex, { rules, waitMs, request, verifier }: Asked = {}): Promise<VerifyPaymentVerdict> =>
    (verifier ?? createVerifier(rules, waitMs)).verify(createRequest(txHash, request));

  const headTimeMs = async (): Promise<number> => {
    const block = await callRpc(parts().devnet.rpcUrl, 'eth_getBlockByNumber', ['latest', false]);
    return Number((block as { timestamp: Hex }).timestamp) * 1000;
  };
  /** The request as a gateway would pass it on; its content is not checked here. */
  const createReferenceNow = async (changes: { issuedAtMs?: number; priceBaseUnits?: string } = {}) => {
    const issuedAtMs = changes.issuedAtMs ?? (await headTimeMs());
    const text = `chain-${issuedAtMs}-${randomBytes(16).toString('hex')}`;
    return { text, issuedAtMs, priceBaseUnits: changes.priceBaseUnits ?? String(PRICE) };
  };
  /** The records of refused payments, each with its fields by name. */
  const refusals = async (): Promise<Partial<Record<string, string>>[]> =>
    (await parts().redis.xrange('tollgate:{refused}:refused-payments', '-', '+')).map(([, fields]) => {
      const entries: [string, string][] = [];
      for (let at = 0; at + 1 < fields.length; at += 2) entries.push([fields[at] ?? '', fields[at + 1] ?? '']);
      return Object.fromEntries(entries);
    });

  /** Makes the ledger one that has existed since long before every payment. */
  const ageLedger = async (): Promise<void> => {
    const { redis } = parts();
    for (const key of await redis.keys('*:birth:*')) await redis.hset(key, { at: 1, block: 0 });
  };

  return { parts, payer, ageLedger, createVerifier, createRequest, ask, headTimeMs, createReferenceNow, refusals };
}
