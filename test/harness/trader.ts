import {
  createWalletClient,
  defineChain,
  http,
  publicActions,
  type Account,
  type Chain,
  type Hex,
  type HttpTransport,
  type PublicActions,
  type TransactionReceipt,
  type WalletClient,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet } from '../../devnet/chain.js';

export type Trader = WalletClient<HttpTransport, Chain, Account> &
  PublicActions & {
    address: Hex;
    /** The receipt of a transaction that mines with success; anything else throws. */
    mined(sending: Promise<Hex>): Promise<TransactionReceipt>;
  };

/** A client of the devnet that signs as its account of this number and reads, too. */
export function createTrader(chain: Devnet, index: number): Trader {
  const devnet = defineChain({
    id: chain.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'SEI', symbol: 'SEI', decimals: 18 },
    rpcUrls: { default: { http: [chain.rpcUrl] } },
  });
  const account = privateKeyToAccount(chain.accounts[index]!.privateKey);
  const client = createWalletClient({
    account,
    chain: devnet,
    transport: http(chain.rpcUrl),
    pollingInterval: 20,
  }).extend(publicActions);
  const mined = async (sending: Promise<Hex>) => {
    const receipt = await client.waitForTransactionReceipt({ hash: await sending, timeout: 10_000 });
    if (receipt.status !== 'success') throw new Error(`transaction ${receipt.transactionHash} reverted`);
    return receipt;
  };
  return Object.assign(client, { address: account.address, mined });
}
