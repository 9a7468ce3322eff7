import {
  createWalletClient,
  defineChain,
  http,
  numberToHex,
  publicActions,
  type Account,
  type Chain,
  type Hex,
  type PublicActions,
  type TransactionReceipt,
  type Transport,
  type WalletClient,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { awaitReceipt } from '../payments/await-receipt.js';

export type Trader = WalletClient<Transport, Chain, Account> &
  PublicActions & {
    address: Hex;
    /** The receipt of a transaction that was mined with success; throws otherwise. */
    mined(sending: Promise<Hex>): Promise<TransactionReceipt>;
  };

/** A client of the devnet that signs as its account of this number, and reads too. */
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
    transport: withGasToSpare(http(chain.rpcUrl)),
    pollingInterval: 20,
  }).extend(publicActions);
  const mined = async (sending: Promise<Hex>) => {
    const receipt = await awaitReceipt(client, await sending);
    if (receipt.status !== 'success') throw new Error(`transaction ${receipt.transactionHash} reverted`);
    return receipt;
  };
  return Object.assign(client, { address: account.address, mined });
}

/**
 * Rewards, interest and price records need more gas in a later second than at the estimate: adds half as much again.
 */
function withGasToSpare(transport: Transport): Transport {
  const more = (gas: Hex) => numberToHex((BigInt(gas) * 3n) / 2n);
  return (parameters) => {
    const inner = transport(parameters);
    const request = async (call: { method: string }): Promise<unknown> => {
      const answer: unknown = await inner.request(call);
      if (call.method === 'eth_estimateGas') return more(answer as Hex);
      if (call.method !== 'eth_fillTransaction') return answer;
      const filled = answer as { tx: { gas: Hex } };
      return { ...filled, tx: { ...filled.tx, gas: more(filled.tx.gas) } };
    };
    return { ...inner, request: request as typeof inner.request };
  };
}
