import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describeSettings, readEnvironment } from '@tollgate/config';
import { createOwner } from '@tollgate/ledger';
import { lowerHex, type Hex, type SignedPayment } from '@tollgate/protocol';
import {
  COMPARE_SETTINGS,
  queueOfChain,
  RequestReplyClient,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  VERIFY_LOCK,
  VERIFY_PAYMENT,
  VERIFY_QUEUE,
  VERIFY_SIGNED_PAYMENT,
  type LockVerdict,
  type SettlementResult,
  type SettingsComparison,
  type SignedPaymentVerdict,
  type VerifyPaymentVerdict,
} from '@tollgate/transport';
import { encodeFunctionData } from 'viem';

import { accountOf } from '../../../libs/verification/test/conformance/payment-method.js';
import { deploy } from '../../../test/harness/chain/deploy.js';
import { approvePermit2 } from '../../../test/harness/chain/sign-permit.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../tools/devnet/chain/read-balance.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts } from '../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { creationCode } from '../../../tools/devnet/protocols/artifacts.js';
import { VerifierEnvironment } from '../src/config/verifier.config.js';
import { startVerifier } from '../src/start-verifier.js';

const ASK_MS = 20_000;

/** One option of the payments file, as a gateway asks about it. Addresses are lower case. */
export interface AskedOption {
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly assetName: string;
  readonly assetVersion: string;
  /** 0.001 units of the seller's prices. */
  readonly price: bigint;
  readonly settings: string;
}

export type StartedVerifier = Awaited<ReturnType<typeof startVerifier>>;
type Changes = Partial<AskedOption>;

/** A chain with two options, `usdc`, and `wdev` of 18 decimals without EIP-3009, and a client that asks its verifier. */
export class TwoTokens {
  private constructor(
    readonly redis: BorrowedRedis,
    readonly chain: Devnet,
    readonly wdev: Hex,
    private readonly folder: string,
    private readonly clients: Record<'verify' | 'settle', RequestReplyClient>,
  ) {}

  static async start(): Promise<TwoTokens> {
    const [redis, chain] = await Promise.all([borrowRedis(), startChain()]);
    const wdev = await deployCoin(chain, 18);
    await approvePermit2(chain, { owner: accountOf(chain, 0).address });
    const clients = {
      verify: new RequestReplyClient({ redisUrl: redis.url, queue: queueOfChain(VERIFY_QUEUE, chain.chainId) }),
      settle: new RequestReplyClient({ redisUrl: redis.url, queue: queueOfChain(SETTLE_QUEUE, chain.chainId) }),
    };
    await Promise.all([clients.verify.connect(), clients.settle.connect()]);
    return new TwoTokens(redis, chain, lowerHex(wdev), mkdtempSync(join(tmpdir(), 'two-tokens-')), clients);
  }

  async stop(): Promise<void> {
    rmSync(this.folder, { recursive: true });
    await Promise.all([this.clients.verify.close(), this.clients.settle.close()]);
    await Promise.all([this.redis.stop(), this.chain.stop()]);
  }

  /** The settings of a verifier with this payments file. `decimals`: what the file says of both tokens. */
  describe({ decimals = { usdc: 6, wdev: 18 }, chainId = this.chain.chainId } = {}): NodeJS.ProcessEnv {
    const { asset, payTo, relayers } = this.chain;
    const file = join(this.folder, `${chainId}-${decimals.usdc}-${decimals.wdev}.yaml`);
    writeFileSync(
      file,
      `chains:
  elsewhere: { id: 7, network: elsewhere, rpc: '\${NOT_SET_HERE}' }
  devnet: { id: ${chainId}, network: chain-testnet, rpc: '\${DEVNET_RPC}', relayers: '\${DEVNET_KEYS}' }
accepts:
  elsewhere: { chain: elsewhere, token: '${asset}', decimals: 6, payTo: '${payTo}' }
  usdc: { chain: devnet, token: '${asset}', symbol: USDC, version: '2', decimals: ${decimals.usdc}, payTo: '${payTo}' }
  wdev: { chain: devnet, token: '${this.wdev}', symbol: WDEV, decimals: ${decimals.wdev}, rate: '0.0004', methods: [transfer, permit2], payTo: ['${this.vault}', '${this.branch}'] }
`,
    );
    return {
      PAYMENTS_FILE: file,
      CHAIN: 'devnet',
      DEVNET_RPC: this.chain.rpcUrl,
      DEVNET_KEYS: relayers[0]?.privateKey,
      REDIS_URL: this.redis.url,
      RELAYER_LEASE_MS: '4000',
      VERIFIER_PORT: '0',
      LOG_LEVEL: 'silent',
    };
  }

  startVerifier(env = this.describe()): Promise<StartedVerifier> {
    return startVerifier(env);
  }

  /** The recipient of `wdev`. */
  get vault(): Hex {
    return lowerHex(accountOf(this.chain, 8).address);
  }

  /** A further recipient of `wdev`. */
  get branch(): Hex {
    return lowerHex(accountOf(this.chain, 7).address);
  }

  /** What a matching gateway asks by, of the option with this name. */
  option(name: 'usdc' | 'wdev' | 'branch', env = this.describe()): AskedOption {
    const { payment, rules, signedPayments, redis, options } = readEnvironment(VerifierEnvironment, env);
    const option = options.find((one) => one.name === (name === 'branch' ? `wdev ${this.branch}` : name));
    if (option === undefined) throw new Error(`the verifier has no option ${name}`);
    const settings = describeSettings({ payment, acceptance: rules, signedPayments, redis }, option);
    const { asset, payTo, domainName: assetName, domainVersion: assetVersion } = option;
    return { asset, payTo, assetName, assetVersion, settings, price: name === 'usdc' ? 1_000n : 400_000_000_000n };
  }

  askByHash(option: AskedOption, txHash: Hex, changes: Changes = {}): Promise<VerifyPaymentVerdict> {
    const { asset, payTo, price, settings } = { ...option, ...changes };
    const claim = { owner: createOwner(), fingerprint: createOwner(), retryKey: null, leaseMs: 30_000 };
    const terms = {
      network: 'chain-testnet',
      chainId: this.chain.chainId,
      asset,
      payTo,
      priceBaseUnits: String(price),
    };
    return this.#ask(VERIFY_PAYMENT, { ...terms, ...claim, txHash, settings });
  }

  askByLock(option: AskedOption, txHash: Hex, lock: Hex): Promise<LockVerdict> {
    const { asset, payTo, price, settings } = option;
    const terms = { chainId: this.chain.chainId, asset, payTo, priceBaseUnits: String(price) };
    return this.#ask(VERIFY_LOCK, { ...terms, txHash, lock, settings });
  }

  askBySignature(option: AskedOption, payment: SignedPayment, changes: Changes = {}): Promise<SignedPaymentVerdict> {
    const { settings, ...terms } = { ...option, ...changes };
    return this.#ask(VERIFY_SIGNED_PAYMENT, { terms: this.#termsOf(terms), payment, claim: null, settings });
  }

  compare({ settings }: Pick<AskedOption, 'settings'>): Promise<SettingsComparison> {
    return this.#ask(COMPARE_SETTINGS, { settings });
  }

  settle(option: AskedOption, payment: SignedPayment, changes: Changes = {}): Promise<SettlementResult> {
    const { settings, ...terms } = { ...option, ...changes };
    const amountBaseUnits = String(terms.price);
    const question = { requestId: 'test', deadlineMs: Date.now() + ASK_MS, amountBaseUnits, payment, settings };
    const asked = { ...question, terms: this.#termsOf(terms) };
    return this.clients.settle.ask<SettlementResult>(SETTLE_SIGNED_PAYMENT, asked, { timeoutMs: ASK_MS });
  }

  readBalance(asset: Hex, owner: Hex): Promise<bigint> {
    return readBalance({ ...this.chain, asset }, owner);
  }

  /** Replaces the token's code, as behind a proxy. Returns a function that puts it back. */
  async replaceWdev(decimals: number): Promise<() => Promise<void>> {
    const { rpcUrl } = this.chain;
    const codeOf = (address: Hex) => callRpc(rpcUrl, 'eth_getCode', [address, 'latest']);
    const place = async (code: unknown): Promise<void> =>
      void (await callRpc(rpcUrl, 'anvil_setCode', [this.wdev, code]));
    const own = await codeOf(this.wdev);
    await place(await codeOf(await deployCoin(this.chain, decimals)));
    return () => place(own);
  }

  #termsOf({ price, ...terms }: Omit<AskedOption, 'settings'>): object {
    return { ...terms, chainId: this.chain.chainId, priceBaseUnits: String(price) };
  }

  #ask<Answer>(pattern: string, question: object): Promise<Answer> {
    const asked = { requestId: 'test', clientAddress: '127.0.0.1', deadlineMs: Date.now() + ASK_MS, ...question };
    return this.clients.verify.ask<Answer>(pattern, asked, { timeoutMs: ASK_MS });
  }
}

/** A token that its first account has a million of and lets Permit2 move. */
async function deployCoin(chain: Devnet, decimals: number): Promise<Hex> {
  const { TestToken } = await readContracts();
  const token = await deploy(chain, creationCode(TestToken, ['Dev Ether', 'WDEV', decimals]));
  const owner = accountOf(chain, 0).address;
  const args = [owner, 10n ** BigInt(decimals + 6)];
  await sendTransaction(chain, {
    to: token,
    data: encodeFunctionData({ abi: TestToken.abi, functionName: 'mint', args }),
  });
  await approvePermit2(chain, { owner, token });
  return token;
}
