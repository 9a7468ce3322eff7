import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  hashTokenDomain,
  hashTransferAuthorization,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import {
  createPublicClient,
  encodeAbiParameters,
  encodeFunctionData,
  hashTypedData,
  http,
  parseAbi,
  serializeErc6492Signature,
  type Hex,
} from 'viem';
import { sign } from 'viem/accounts';

import type { Devnet, DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction, transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { repositoryRoot } from '../../../tools/devnet/processes/repository.js';

/** Where version 1 of the factory is on every chain. */
export const COINBASE_FACTORY: Hex = '0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a';
/** Deploys what it is called with, by CREATE2: the deployer that anvil has, and the one that the authors used. */
const ANVIL_DEPLOYER: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const AUTHORS_DEPLOYER: Hex = '0x914d7fec6aac8cd542e72bca78b30650d45643d7';

const FACTORY = parseAbi([
  'function createAccount(bytes[] owners, uint256 nonce) payable returns (address)',
  'function getAddress(bytes[] owners, uint256 nonce) view returns (address)',
]);

/** Puts the factory and its implementation on the chain by the very calls that put them on public ones. */
export async function deployCoinbaseFactory(chain: Devnet): Promise<void> {
  const path = join(repositoryRoot(), 'test', 'harness', 'chain', 'coinbase-smart-wallet.json');
  const { calls } = JSON.parse(await readFile(path, 'utf8')) as { calls: Hex[] };
  const deployer = await callRpc(chain.rpcUrl, 'eth_getCode', [ANVIL_DEPLOYER, 'latest']);
  await callRpc(chain.rpcUrl, 'anvil_setCode', [AUTHORS_DEPLOYER, deployer]);
  for (const data of calls) await sendTransaction(chain, { to: AUTHORS_DEPLOYER, data });
}

export interface CoinbaseWallet {
  /** In lower case. */
  address: Hex;
  owner: DevnetAccount;
  /** The factory's calldata that deploys it. */
  deploy: Hex;
}

/** A wallet that has money and is not deployed; another one for each salt. */
export async function fundCoinbaseWallet(
  chain: Devnet,
  { owner, salt, amountBaseUnits }: { owner: DevnetAccount; salt: bigint; amountBaseUnits: bigint },
): Promise<CoinbaseWallet> {
  const args = [[encodeAbiParameters([{ type: 'address' }], [owner.address])], salt] as const;
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const address = await client.readContract({
    address: COINBASE_FACTORY,
    abi: FACTORY,
    functionName: 'getAddress',
    args,
  });
  await transferTokens(chain, { to: address, amountBaseUnits });
  const deploy = encodeFunctionData({ abi: FACTORY, functionName: 'createAccount', args });
  return { address: address.toLowerCase() as Hex, owner, deploy };
}

/** Signs as the wallet's app does: by its owner, for this wallet alone, wrapped with the call that deploys it (EIP-6492). */
export async function signForCoinbaseWallet(
  { chainId, asset }: Pick<Devnet, 'chainId' | 'asset'>,
  { address, owner, deploy }: CoinbaseWallet,
  authorization: TransferAuthorization,
): Promise<SignedAuthorization> {
  const domain = { name: 'Coinbase Smart Wallet', version: '1', chainId, verifyingContract: address };
  const types = { CoinbaseSmartWalletMessage: [{ name: 'hash', type: 'bytes32' }] };
  const token = hashTokenDomain({ name: 'USDC', version: '2', chainId, asset: asset.toLowerCase() as Hex });
  const message = { hash: hashTransferAuthorization(authorization, token) };
  const hash = hashTypedData({ domain, types, primaryType: 'CoinbaseSmartWalletMessage', message });
  // The index of the owner, and its signature.
  const wrapper = [{ type: 'tuple', components: [{ type: 'uint256' }, { type: 'bytes' }] }] as const;
  const signature = encodeAbiParameters(wrapper, [[0n, await sign({ hash, privateKey: owner.privateKey, to: 'hex' })]]);
  const wrapped = serializeErc6492Signature({ address: COINBASE_FACTORY, data: deploy, signature });
  return { kind: 'authorization', authorization, signature: wrapped };
}
