import { randomBytes } from 'node:crypto';

import type { VerifyPaymentRequest, VerifyPaymentVerdict } from '@tollgate/common';
import { createOwner, hashRetryKey, Ledger } from '@tollgate/ledger';
import { createHashLock, proofMessage, type Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { concatHex, encodeFunctionData, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { startChain, type Devnet } from '../../../../devnet/chain.js';
import { deployBatchPayer, deployToken, type BatchPayer } from '../../../../devnet/deploy.js';
import { callRpc } from '../../../../devnet/json-rpc.js';
import { startRedis, type RedisServer } from '../../../../devnet/redis.js';
import { encodeTransfer, sendTransaction, transferTokens } from '../../../../devnet/transfer-tokens.js';
import { changeResult, startRpcStandIn, type RpcStandIn } from '../../testing/rpc-stand-in.js';
import { connectChain, type ConnectedChain } from '../chain/connect-chain.js';
import type { Rules } from './judge-payment.js';
import { PaymentVerifier } from './payment-verifier.js';
import { WaitingRoom } from './waiting-room.js';

const PRICE = 1000n;
const AUTHORIZE = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

interface Asked {
  rules?: Partial<Rules>;
  waitMs?: number;
  request?: Partial<VerifyPaymentRequest>;
  verifier?: PaymentVerifier;
}

describe('verifying a payment', () => {
  let devnet: Devnet;
  let redisServer: RedisServer;
  let redis: Redis;
  let rpc: RpcStandIn;
  let chain: ConnectedChain;
  let ledger: Ledger;
  let wallet: BatchPayer;
  let otherToken: Hex;

  beforeAll(async () => {
    [devnet, redisServer] = await Promise.all([startChain(), startRedis()]);
    redis = new Redis(redisServer.url);
    rpc = await startRpcStandIn(devnet.rpcUrl);
    ledger = new Ledger({ redis, retentionMs: 86_400_000 });
    await ledger.open({ headBlockNumber: 0 });
    chain = connectChain({
      urls: [rpc.url],
      chainId: 1328,
      timeoutMs: 3000,
      batchSize: 50,
      batchesInFlight: 8,
      maxResponseBytes: 16_777_216,
      observer: { batchEnded: () => undefined, queueChanged: () => undefined },
      nowMs: () => ledger.nowMs(),
    });
    wallet = await deployBatchPayer(devnet);
    otherToken = await deployToken(devnet);
  });

  afterAll(async () => {
    await chain.close();
    redis.disconnect();
    await Promise.all([rpc.stop(), devnet.stop(), redisServer.stop()]);
  });

  beforeEach(() => rpc.fail(undefined));

  const payer = () => devnet.accounts[0]!;
  const createVerifier = (rules: Partial<Rules> = {}, waitMs = 0, room: { perClient?: number; total?: number } = {}) =>
    new PaymentVerifier({
      terms: { chainId: 1328, asset: devnet.asset.toLowerCase(), payTo: devnet.payTo.toLowerCase() },
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
      waitingRoom: new WaitingRoom({ waitMs, perClient: 16, total: 256, ...room, nowMs: () => ledger.nowMs() }),
    });

  const createRequest = (txHash: Hex, changes: Partial<VerifyPaymentRequest> = {}): VerifyPaymentRequest => ({
    requestId: 'test',
    owner: createOwner(),
    deadlineMs: ledger.nowMs() + 8000,
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
  });

  const ask = (txHash: Hex, { rules, waitMs, request, verifier }: Asked = {}): Promise<VerifyPaymentVerdict> =>
    (verifier ?? createVerifier(rules, waitMs)).verify(createRequest(txHash, request));

  /** As the gateway would hand it over; what it holds is not looked at here. */
  const createReferenceNow = async (changes: { issuedAtMs?: number; priceBaseUnits?: string } = {}) => {
    const issuedAtMs = changes.issuedAtMs ?? Number(await headTimeMs());
    const text = `chain-${issuedAtMs}-${randomBytes(16).toString('hex')}`;
    return { text, issuedAtMs, priceBaseUnits: changes.priceBaseUnits ?? String(PRICE) };
  };
  const headTimeMs = async () => {
    const block = (await callRpc(devnet.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
    return Number(block.timestamp) * 1000;
  };
  const refusals = async () =>
    (await redis.xrange('tollgate:{refused}:refused-payments', '-', '+')).map(([, fields]) => {
      const entries: [string, string][] = [];
      for (let at = 0; at < fields.length; at += 2) entries.push([fields[at]!, fields[at + 1]!]);
      return Object.fromEntries(entries);
    });

  describe('with a bare transfer', () => {
    it('claims one that pays the price, in one round trip', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      rpc.requests.length = 0;
      expect(await ask(txHash)).toEqual({
        outcome: 'claimed',
        bound: false,
        payer: payer().address.toLowerCase(),
        lease: {
          id: { kind: 'transfer', chainId: 1328, txHash, logIndex: 0 },
          owner: expect.any(String),
          generation: expect.any(Number),
          untilMs: expect.any(Number),
        },
      });
      expect(rpc.requests).toHaveLength(1);
    });

    it('claims one that pays more', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: 10n * PRICE });
      expect(await ask(txHash)).toMatchObject({ outcome: 'claimed' });
    });

    it('refuses one that pays one unit less', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE - 1n });
      expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'amount_too_low' });
    });

    it('refuses a failed transaction, under every policy', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: 10n ** 30n });
      for (const policy of ['receipt', 'transfer', 'bound'] as const) {
        expect(await ask(txHash, { rules: { policy } })).toEqual({ outcome: 'refused', failure: 'transaction_failed' });
      }
    });

    it('refuses another token, though it has the same name', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, token: otherToken });
      expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'transfer_missing' });
    });

    it('refuses another recipient', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, to: devnet.accounts[3]!.address });
      expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'transfer_missing' });
    });

    it('refuses a transaction that transfers nothing', async () => {
      const txHash = await sendTransaction(devnet, { to: devnet.payTo, data: '0x' });
      expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'transfer_missing' });
    });

    it('is claimed once, and claimed again by the same owner only', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const request = createRequest(txHash);
      const first = await createVerifier().verify(request);
      expect(first).toMatchObject({ outcome: 'claimed' });
      expect(await createVerifier().verify(request)).toMatchObject({ outcome: 'claimed', lease: { generation: 1 } });
      expect(await ask(txHash)).toMatchObject({ outcome: 'busy' });
      if (first.outcome === 'claimed') await ledger.commit(first.lease, null);
      expect(await ask(txHash, { request: { fingerprint: request.fingerprint } })).toEqual({
        outcome: 'refused',
        failure: 'payment_used',
      });
    });

    it('is refused under policy bound', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const reference = await createReferenceNow();
      expect(await ask(txHash, { rules: { policy: 'bound' } })).toEqual({ outcome: 'refused', failure: 'not_bound' });
      expect(await ask(txHash, { rules: { policy: 'bound' }, request: { reference } })).toEqual({
        outcome: 'refused',
        failure: 'not_bound',
      });
    });

    it('pays the price of today, whatever reference is shown with it', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE / 2n });
      const reference = await createReferenceNow({ priceBaseUnits: String(PRICE / 2n) });
      expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'amount_too_low' });
    });

    it('sells three answers to three transfers in one transaction', async () => {
      const txHash = await wallet.pay([1, 2, 3].map(() => ({ amountBaseUnits: PRICE })));
      const verdicts = await Promise.all([1, 2, 3, 4].map(() => ask(txHash)));
      expect(verdicts.map(({ outcome }) => outcome).sort()).toEqual(['busy', 'claimed', 'claimed', 'claimed']);
      expect(verdicts).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ outcome: 'claimed', payer: wallet.address.toLowerCase(), bound: false }),
        ]),
      );
    });
  });

  describe('with a hash lock', () => {
    it('claims with the reference that opens it', async () => {
      const reference = await createReferenceNow();
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
      for (const policy of ['bound', 'transfer'] as const) {
        const request = { ...createRequest(txHash, { reference }), owner: 'same-owner', fingerprint: 'same' };
        expect(await createVerifier({ policy }).verify(request)).toMatchObject({ outcome: 'claimed', bound: true });
      }
    });

    it.each(['transfer', 'bound'] as const)('refuses another reference, and none, under policy %s', async (policy) => {
      const reference = await createReferenceNow();
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
      const other = await createReferenceNow();
      const refused = { outcome: 'refused', failure: 'lock_mismatch' };
      expect(await ask(txHash, { rules: { policy }, request: { reference: other } })).toEqual(refused);
      expect(await ask(txHash, { rules: { policy } })).toEqual(refused);
      const signature = await privateKeyToAccount(payer().privateKey).signMessage({
        message: proofMessage(other.text, txHash),
      });
      expect(await ask(txHash, { rules: { policy }, request: { reference: other, signature } })).toEqual(refused);
    });

    it('gives the answer again to who shows the reference again', async () => {
      const reference = await createReferenceNow();
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
      const request = { reference, fingerprint: 'one-resource' };
      const first = await ask(txHash, { request });
      if (first.outcome !== 'claimed') throw new Error(first.outcome);
      await ledger.commit(first.lease, { status: 200, headers: [], body: Buffer.from('answer') });
      expect(await ask(txHash, { request })).toMatchObject({ outcome: 'answered', id: first.lease.id });
      expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'conflict' });
      const found = { chainId: 1328, txHash, fingerprint: 'one-resource', retryKey: hashRetryKey(reference.text) };
      expect(await ledger.find(found)).toMatchObject({ outcome: 'answered' });
    });

    it('honours the price that was given out', async () => {
      const reference = await createReferenceNow({ priceBaseUnits: '600' });
      const txHash = await transferTokens(devnet, { amountBaseUnits: 600n, lockReference: reference.text });
      expect(await ask(txHash, { request: { reference } })).toMatchObject({ outcome: 'claimed', bound: true });
    });

    it('does not take a lower price than the one given out', async () => {
      const reference = await createReferenceNow({ priceBaseUnits: '3000' });
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
      expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'amount_too_low' });
    });

    it('finds each lock of a batch by its transfer', async () => {
      const [one, two] = [await createReferenceNow(), await createReferenceNow()];
      const txHash = await wallet.pay([
        { amountBaseUnits: PRICE, lockReference: one.text },
        { amountBaseUnits: PRICE, lockReference: two.text },
        { amountBaseUnits: PRICE },
      ]);
      const [second, first, bare] = [
        await ask(txHash, { request: { reference: two } }),
        await ask(txHash, { request: { reference: one } }),
        await ask(txHash),
      ];
      expect(second).toMatchObject({ outcome: 'claimed', bound: true, lease: { id: { logIndex: 1 } } });
      expect(first).toMatchObject({ outcome: 'claimed', bound: true, lease: { id: { logIndex: 0 } } });
      expect(bare).toMatchObject({ outcome: 'claimed', bound: false, lease: { id: { logIndex: 2 } } });
    });

    it('ignores trailing bytes that are no lock', async () => {
      const data = concatHex([encodeTransfer(devnet, { amountBaseUnits: PRICE }), `0x${'62735f'.repeat(12)}`]);
      const txHash = await sendTransaction(devnet, { to: devnet.asset, data });
      expect(await ask(txHash)).toMatchObject({ outcome: 'claimed', bound: false });
    });

    it('is not looked at under policy receipt', async () => {
      const reference = await createReferenceNow();
      const txHash = await transferTokens(devnet, { amountBaseUnits: 1n, lockReference: reference.text });
      expect(await ask(txHash, { rules: { policy: 'receipt' } })).toMatchObject({
        outcome: 'claimed',
        bound: false,
        payer: payer().address.toLowerCase(),
        lease: { id: { kind: 'transaction', chainId: 1328, txHash } },
      });
    });
  });

  describe('with a signature', () => {
    const sign = (privateKey: Hex, reference: string, txHash: Hex) =>
      privateKeyToAccount(privateKey).signMessage({ message: proofMessage(reference, txHash) });

    it("binds by the payer's (EIP-191)", async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const reference = await createReferenceNow();
      const signature = await sign(payer().privateKey, reference.text, txHash);
      const verdict = await ask(txHash, { rules: { policy: 'bound' }, request: { reference, signature } });
      expect(verdict).toMatchObject({ outcome: 'claimed', bound: true });
    });

    it.each(['transfer', 'bound'] as const)("refuses a stranger's, or one over something else (%s)", async (policy) => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const reference = await createReferenceNow();
      const invalid: Hex[] = [
        await sign(devnet.accounts[2]!.privateKey, reference.text, txHash),
        await sign(payer().privateKey, 'chain-1-other', txHash),
        await sign(payer().privateKey, reference.text, `0x${'11'.repeat(32)}`),
        `0x${'00'.repeat(65)}`,
        '0x1234',
      ];
      for (const signature of invalid) {
        const verdict = await ask(txHash, { rules: { policy }, request: { reference, signature } });
        expect(verdict).toEqual({ outcome: 'refused', failure: 'signature_invalid' });
      }
    });

    it('binds by the one of a contract wallet (EIP-1271)', async () => {
      const txHash = await wallet.pay([{ amountBaseUnits: PRICE }]);
      const reference = await createReferenceNow();
      const signature = await sign(payer().privateKey, reference.text, txHash);
      const wrong = await sign(devnet.accounts[2]!.privateKey, reference.text, txHash);
      const rules = { policy: 'bound' } as const;
      expect(await ask(txHash, { rules, request: { reference, signature: wrong } })).toEqual({
        outcome: 'refused',
        failure: 'signature_invalid',
      });
      expect(await ask(txHash, { rules, request: { reference, signature } })).toMatchObject({
        outcome: 'claimed',
        bound: true,
        payer: wallet.address.toLowerCase(),
      });
    });

    // Prevents: a payer's contract that fails by design passes for a failing RPC server, and drives everybody off it.
    it.each([
      ['stops at an invalid instruction', '0xfe'],
      ['runs for ever', '0x5b600056'],
      ['says more than anybody reads', '0x62ffffff6000f3'],
    ])('takes a contract that %s for a no, in one round trip', async (_, code) => {
      const broken = await deployBatchPayer(devnet);
      const txHash = await broken.pay([{ amountBaseUnits: PRICE }]);
      await callRpc(devnet.rpcUrl, 'anvil_setCode', [broken.address, code]);
      const request = { reference: await createReferenceNow(), signature: `0x${'22'.repeat(64)}1b` } as const;
      rpc.requests.length = 0;
      expect(await ask(txHash, { request })).toEqual({ outcome: 'refused', failure: 'signature_invalid' });
      expect(rpc.requests.filter((methods) => methods.includes('eth_call'))).toHaveLength(1);
    });

    it('takes a contract that reverts for a no, and trouble of the chain for none', async () => {
      const txHash = await wallet.pay([{ amountBaseUnits: PRICE }]);
      const reference = await createReferenceNow();
      const request = { reference, signature: `0x${'22'.repeat(64)}1b` } as const;
      const answerCall = (error: { code: number; message: string }) =>
        rpc.fail({
          kind: 'rewrite',
          rewrite: (answers) => answers.map((one) => (one.method === 'eth_call' ? { id: one.id, error } : one)),
        });
      answerCall({ code: 3, message: 'execution reverted' });
      expect(await ask(txHash, { request })).toEqual({ outcome: 'refused', failure: 'signature_invalid' });
      answerCall({ code: -32005, message: 'limit exceeded' });
      expect(await ask(txHash, { request })).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
    });
  });

  describe('with an EIP-3009 authorization', () => {
    it('keys the transfer by the authorization that caused it', async () => {
      const account = privateKeyToAccount(devnet.accounts[1]!.privateKey);
      const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
      const message = {
        from: account.address,
        to: devnet.payTo,
        value: PRICE,
        validAfter: 0n,
        validBefore: 10_000_000_000n,
        nonce,
      };
      const signature = await account.signTypedData({
        domain: { name: 'USDC', version: '2', chainId: 1328, verifyingContract: devnet.asset },
        types: AUTHORIZATION_TYPES,
        primaryType: 'TransferWithAuthorization',
        message,
      });
      const { from, to, value, validAfter, validBefore } = message;
      const data = encodeFunctionData({
        abi: AUTHORIZE,
        functionName: 'transferWithAuthorization',
        args: [from, to, value, validAfter, validBefore, nonce, signature],
      });
      const txHash = await sendTransaction(devnet, { to: devnet.asset, data });

      expect(await ask(txHash)).toMatchObject({
        outcome: 'claimed',
        payer: from.toLowerCase(),
        lease: {
          id: {
            kind: 'authorization',
            chainId: 1328,
            asset: devnet.asset.toLowerCase(),
            from: from.toLowerCase(),
            nonce,
          },
        },
      });
    });
  });

  describe('while the chain catches up', () => {
    const inManualBlocks = async (work: () => Promise<void>) => {
      await callRpc(devnet.rpcUrl, 'evm_setAutomine', [false]);
      try {
        await work();
      } finally {
        await callRpc(devnet.rpcUrl, 'evm_setAutomine', [true]);
        await callRpc(devnet.rpcUrl, 'evm_mine');
      }
    };
    const send = async () => {
      const data = encodeTransfer(devnet, { amountBaseUnits: PRICE });
      const transaction = { from: payer().address, to: devnet.asset, data, gas: '0x30d40' };
      return (await callRpc(devnet.rpcUrl, 'eth_sendTransaction', [transaction])) as Hex;
    };
    const untilAsked = async (times: number) => {
      while (rpc.requests.length < times) await new Promise((resolve) => setTimeout(resolve, 10));
    };

    it('waits for the receipt, and claims when it comes', async () => {
      await inManualBlocks(async () => {
        const txHash = await send();
        rpc.requests.length = 0;
        const verdict = ask(txHash, { waitMs: 7000 });
        await untilAsked(2);
        await callRpc(devnet.rpcUrl, 'evm_mine');
        expect(await verdict).toMatchObject({ outcome: 'claimed' });
      });
    });

    it('refuses for now when the receipt does not come', async () => {
      const missing = { outcome: 'refused', failure: 'receipt_missing', retryAfterMs: 1000 };
      const unknown: Hex = `0x${randomBytes(32).toString('hex')}`;
      rpc.requests.length = 0;
      expect(await ask(unknown, { waitMs: 600 })).toEqual(missing);
      expect(rpc.requests.length).toBeGreaterThan(1);
    });

    it('caps the waits of a client and in all, and lets the waiting share batches', async () => {
      const verifier = createVerifier({}, 700, { perClient: 4, total: 6 });
      const done: string[] = [];
      rpc.requests.length = 0;
      const askFrom = (clientAddress: string) =>
        ask(`0x${randomBytes(32).toString('hex')}`, { verifier, request: { clientAddress } }).then(() =>
          done.push(clientAddress),
        );
      const asked = [1, 2, 3, 4, 5, 6, 7].map(() => askFrom('10.0.0.1'));
      asked.push(...[1, 2, 3].map(() => askFrom('10.0.0.2')));
      await untilAsked(2);
      expect(done.sort()).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2']);
      await Promise.all(asked);
      const looks = rpc.requests.map((methods) => methods.filter((one) => one === 'eth_getTransactionReceipt').length);
      expect(looks).toEqual([10, ...looks.slice(1).map(() => 6)]);
      expect(looks.length).toBeLessThanOrEqual(5);
    });

    it('waits for confirmations', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const rules = { confirmations: 3 };
      expect(await ask(txHash, { rules })).toEqual({
        outcome: 'refused',
        failure: 'not_confirmed',
        retryAfterMs: 1000,
      });
      rpc.requests.length = 0;
      const verdict = ask(txHash, { rules, waitMs: 7000 });
      await untilAsked(2);
      await callRpc(devnet.rpcUrl, 'anvil_mine', ['0x2']);
      expect(await verdict).toMatchObject({ outcome: 'claimed' });
    });

    it('keeps the name of a payment whose transaction moves within its block', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const first = await ask(txHash);
      rpc.fail(
        changeResult('eth_getTransactionReceipt', (receipt: { logs: object[] }) => ({
          ...receipt,
          logs: receipt.logs.map((log) => ({ ...log, logIndex: '0x2a' })),
        })),
      );
      expect(first).toMatchObject({ outcome: 'claimed' });
      expect(await ask(txHash)).toMatchObject({ outcome: 'busy' });
    });
  });

  describe('and its age', () => {
    const MINUTE = 60_000;
    /** Mines the transfer in a block of that age, as if the ledger had been kept since long before. */
    const payAgo = async (ageMs: number, lockReference?: string) => {
      for (const key of await redis.keys('*:birth')) await redis.hset(key, { at: 1, block: 0 });
      await callRpc(devnet.rpcUrl, 'anvil_setTime', [Math.floor((ledger.nowMs() - ageMs) / 1000)]);
      try {
        return await transferTokens(devnet, {
          amountBaseUnits: PRICE,
          ...(lockReference === undefined ? {} : { lockReference }),
        });
      } finally {
        await callRpc(devnet.rpcUrl, 'anvil_setTime', [Math.floor(ledger.nowMs() / 1000)]);
      }
    };

    it('refuses and records a bare transfer of 20 minutes ago, but not under policy receipt', async () => {
      const txHash = await payAgo(20 * MINUTE);
      expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'payment_too_old' });
      expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([
        expect.objectContaining({
          failure: 'payment_too_old',
          payer: payer().address.toLowerCase(),
          amountBaseUnits: String(PRICE),
        }),
      ]);
      expect(await ask(txHash, { rules: { policy: 'receipt' } })).toMatchObject({ outcome: 'claimed' });
    });

    it('claims a bound payment of 20 minutes ago, but not one of 25 hours ago', async () => {
      for (const [ageMs, expected] of [
        [20 * MINUTE, { outcome: 'claimed', bound: true }],
        [25 * 60 * MINUTE, { outcome: 'refused', failure: 'payment_too_old' }],
      ] as const) {
        const reference = await createReferenceNow({ issuedAtMs: ledger.nowMs() - ageMs - MINUTE });
        const txHash = await payAgo(ageMs, reference.text);
        expect(await ask(txHash, { request: { reference } })).toMatchObject(expected);
      }
    });

    // Prevents a refund for an answer that was sold: the ledger forgets a spent payment when its window is long over.
    it('says of a refused payment that the ledger may have forgotten that it was spent', async () => {
      const detailOf = async (txHash: Hex) => {
        expect(await ask(txHash)).toMatchObject({ outcome: 'refused' });
        return (await refusals()).find(({ payment }) => payment?.includes(txHash))?.detail;
      };
      const forgotten = expect.stringContaining('may have been spent') as string;
      expect(await detailOf(await payAgo(20 * MINUTE))).toBeUndefined();
      expect(await detailOf(await payAgo(25 * 60 * MINUTE))).toEqual(forgotten);
      const fromBefore = await payAgo(MINUTE);
      const births = await redis.keys('*:birth');
      for (const key of births) await redis.hset(key, { at: ledger.nowMs() - 1000 });
      expect(await detailOf(fromBefore)).toEqual(forgotten);
      for (const key of births) await redis.hset(key, { at: 1 });
    });

    it('refuses and records a payment from before the ledger', async () => {
      const txHash = await payAgo(MINUTE);
      for (const key of await redis.keys('*:birth')) await redis.hset(key, { at: ledger.nowMs() - 1000 });
      expect(await ask(txHash)).toEqual({ outcome: 'refused', failure: 'older_than_ledger' });
      expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toMatchObject([
        { failure: 'older_than_ledger' },
      ]);
    });

    it('records a bound payment that came after its time', async () => {
      const issuedAtMs = (await headTimeMs()) - 600_000;
      const reference = await createReferenceNow({ issuedAtMs });
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
      for (let times = 0; times < 2; times++) {
        expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'payment_late' });
      }
      expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([
        expect.objectContaining({
          failure: 'payment_late',
          payer: payer().address.toLowerCase(),
          amountBaseUnits: String(PRICE),
        }),
      ]);
    });

    // Prevents a refund for an answer that was sold: a payer may sign any number of references, and one in time is served.
    it('records no late payment that another signature can still redeem', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      const askWith = async (issuedAtMs: number) => {
        const reference = await createReferenceNow({ issuedAtMs });
        const message = proofMessage(reference.text, txHash);
        const signature = await privateKeyToAccount(payer().privateKey).signMessage({ message });
        return ask(txHash, { rules: { policy: 'bound' }, request: { reference, signature } });
      };
      expect(await askWith((await headTimeMs()) - 600_000)).toEqual({ outcome: 'refused', failure: 'payment_late' });
      expect(await askWith(await headTimeMs())).toMatchObject({ outcome: 'claimed' });
      expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([]);
    });

    it('allows for clocks that differ a little', async () => {
      const issuedAtMs = (await headTimeMs()) - 300_000;
      const reference = await createReferenceNow({ issuedAtMs });
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
      expect(await ask(txHash, { request: { reference } })).toMatchObject({ outcome: 'claimed' });
    });
  });

  describe('when nobody can tell', () => {
    it('is unavailable without the chain', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      rpc.fail({ kind: 'status', status: 503 });
      expect(await ask(txHash)).toEqual({ outcome: 'unavailable', reason: 'rpc_http_error' });
      rpc.fail(changeResult('eth_chainId', () => '0x1'));
      expect(await ask(txHash)).toEqual({ outcome: 'unavailable', reason: 'rpc_wrong_chain' });
      rpc.fail(undefined);
      expect(await ask(txHash)).toMatchObject({ outcome: 'claimed' });
    });

    it('is unavailable to a gateway that is set up for something else', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE, to: devnet.accounts[3]!.address });
      const payTo = devnet.accounts[3]!.address.toLowerCase() as Hex;
      rpc.requests.length = 0;
      for (const request of [{ payTo }, { chainId: 1 }, { asset: payTo }]) {
        expect(await ask(txHash, { request })).toEqual({ outcome: 'unavailable', reason: 'settings_differ' });
      }
      expect(rpc.requests).toHaveLength(0);
    });

    it('asks nobody after the deadline', async () => {
      const txHash = await transferTokens(devnet, { amountBaseUnits: PRICE });
      rpc.requests.length = 0;
      const request = { deadlineMs: ledger.nowMs() - 1 };
      expect(await ask(txHash, { request })).toEqual({ outcome: 'unavailable', reason: 'deadline_passed' });
      expect(rpc.requests).toHaveLength(0);
    });

    it('names a lock that is not there in vain', async () => {
      // A bundle's calldata may hold locks that no transfer stands behind.
      const [mine, theirs] = [await createReferenceNow(), await createReferenceNow()];
      const call = encodeTransfer(devnet, { amountBaseUnits: PRICE, lockReference: mine.text });
      const stray = encodeTransfer(devnet, { amountBaseUnits: PRICE });
      const data = concatHex([call, stray, createHashLock(theirs.text)]);
      const txHash = await sendTransaction(devnet, { to: devnet.asset, data });
      for (const reference of [mine, theirs]) {
        expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'lock_mismatch' });
      }
    });
  });
});
