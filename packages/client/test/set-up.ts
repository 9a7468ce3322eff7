import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Hex } from '@tollgate/protocol';
import { createPublicClient, erc20Abi, http } from 'viem';

import { startRpcProxy, type RpcProxy } from '../../../test/harness/network/rpc-proxy.js';
import {
  startChain,
  type ChainOptions,
  type Devnet,
  type DevnetAccount,
  type DevnetWithProtocols,
} from '../../../tools/devnet/chain/chain.js';
import { createWallet } from '../src/account/create-wallet.js';
import type { Wallet } from '../src/account/wallet.js';
import type { TrustedAsset } from '../src/offer/trusted-asset.js';
import { listTransfers } from './paid-server.js';

function createReader(rpcUrl: string) {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0, pollingInterval: 20 });
  return {
    client,
    /** Of the native coin without a token. */
    balanceOf: (owner: Hex, address?: Hex): Promise<bigint> =>
      address
        ? client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
        : client.getBalance({ address: owner }),
    allowanceOf: (address: Hex, owner: Hex, spender: Hex): Promise<bigint> =>
      client.readContract({ address, abi: erc20Abi, functionName: 'allowance', args: [owner, spender] }),
    nonceOf: (address: Hex, blockTag: 'latest' | 'pending' = 'pending'): Promise<number> =>
      client.getTransactionCount({ address, blockTag }),
  };
}
type Reader = ReturnType<typeof createReader>;

/** A chain for the tests of a file or a describe, and its reader. Its fields are there once they begin. */
export function useChain(options: ChainOptions & { protocols: true }): DevnetWithProtocols & Reader;
export function useChain(options?: ChainOptions): Devnet & Reader;
export function useChain(options: ChainOptions = {}): Devnet & Reader {
  const chain = {} as Devnet & Reader;
  beforeAll(async () => {
    Object.assign(chain, await startChain(options));
    Object.assign(chain, createReader(chain.rpcUrl));
  });
  afterAll(() => chain.stop?.());
  return chain;
}

/** A proxy before a chain, which intercepts nothing when a test begins. @param path appended to its address */
export function useProxy(chain: Devnet, path = ''): RpcProxy {
  const proxy = {} as RpcProxy;
  beforeAll(async () => {
    Object.assign(proxy, await startRpcProxy(chain.rpcUrl, path));
  });
  beforeEach(() => proxy.reset());
  afterAll(() => proxy.stop?.());
  return proxy;
}

/** What is made before each test or before all, behind one name. */
export function useMade<Value extends object>(make: () => Value | Promise<Value>, before = beforeEach): Value {
  let made = {} as Value;
  before(async () => {
    made = await make();
  });
  return new Proxy(made, {
    get: (_, name) => {
      const value: unknown = Reflect.get(made, name);
      return typeof value === 'function' ? (value.bind(made) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(made, name, value),
    has: (_, name) => name in made,
    ownKeys: () => Reflect.ownKeys(made),
    getOwnPropertyDescriptor: (_, name) => {
      const property = Reflect.getOwnPropertyDescriptor(made, name);
      return property && { ...property, configurable: true };
    },
  });
}

/** A server or a shop of its own for each test. */
export function useServer<Server extends { close(): Promise<void> }>(start: () => Promise<Server>): Server {
  const server = useMade(start);
  afterEach(() => server.close());
  return server;
}

/** Closes after the test what it opened. */
export function useOpened(): <Value extends { close(): Promise<void> }>(opening: Promise<Value>) => Promise<Value> {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  return async (opening) => {
    const value = await opening;
    opened.push(value);
    return value;
  };
}

/** A folder of its own for each test, or for all. */
export function useFolder(before = beforeEach, after = afterEach): () => string {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-'));
  });
  after(() => rm(folder, { recursive: true }));
  return () => folder;
}

export function walletOf(chain: Devnet, { privateKey: account }: Pick<DevnetAccount, 'privateKey'>): Wallet {
  return createWallet({ account, rpcUrl: chain.rpcUrl, chainId: chain.chainId });
}

/** The wallet of an account of the chain. */
export function useWallet(chain: Devnet, payer: () => DevnetAccount): Wallet {
  return useMade(() => walletOf(chain, payer()), beforeAll);
}

/** The token that the shops of the tests take. */
export function assetOf({ chainId, asset: address }: Devnet): TrustedAsset {
  return { network: 'chain-testnet', chainId, address, decimals: 6 };
}

/** The transfers that an account has made since the test began. */
export function useTransfers(chain: Devnet, payer: () => Hex): () => Promise<Hex[]> {
  let before = 0;
  beforeEach(async () => {
    before = (await listTransfers(chain, payer())).length;
  });
  return async () => (await listTransfers(chain, payer())).slice(before);
}

/** Their number. */
export function useTransferCount(chain: Devnet, payer: () => Hex): () => Promise<number> {
  const transfers = useTransfers(chain, payer);
  return async () => (await transfers()).length;
}

/** The same account, which signs transactions alone. */
export function withoutSignatures(wallet: Wallet): Wallet {
  return {
    address: wallet.address,
    chainId: wallet.chainId,
    inTurn: (work) => wallet.inTurn(work),
    sign: (call) => wallet.sign(call),
    broadcast: (transaction) => wallet.broadcast(transaction),
    readOutcome: (txHash) => wallet.readOutcome(txHash),
    readNonceUse: (from, nonce) => wallet.readNonceUse(from, nonce),
  };
}

/** The error with which the work fails. */
export async function failureOf(work: Promise<unknown>): Promise<Record<string, unknown>> {
  return work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as Record<string, unknown>,
  );
}

/** The work fails with this code, and this message: its whole text, or what `expect` has for a part. */
export async function expectFailure(
  work: Promise<unknown>,
  code: unknown,
  message: unknown = expect.any(String),
): Promise<void> {
  await expect(work).rejects.toMatchObject({ code, message });
}
