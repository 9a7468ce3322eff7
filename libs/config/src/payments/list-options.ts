import { lowerHex } from '@tollgate/protocol';

import type { AcceptanceEnvironment } from '../acceptance.environment.js';
import type { ExplorerEnvironment } from '../explorer.environment.js';
import type { PaymentEnvironment } from '../payment.environment.js';
import type { RpcEnvironment } from '../rpc.environment.js';
import { DEFAULT_COIN, type PaymentOption } from './payments.js';

export interface PaymentsEnvironments {
  readonly payment: PaymentEnvironment;
  readonly acceptance: Pick<AcceptanceEnvironment, 'confirmations'>;
  readonly explorer?: ExplorerEnvironment;
  /** Of a process with pages: what a wallet must know of the chain. */
  readonly pages?: { readonly chainName?: string; readonly nativeSymbol: string; readonly walletRpcUrl?: string };
  /** Of a process that reads the chains. */
  readonly rpc?: Pick<RpcEnvironment, 'rpcUrl'>;
  /** Of the process that compares the book with them. */
  readonly reconcile?: { readonly reconcileRpcUrl: readonly string[] };
}

/** The same with addresses in lower case, as verifiers and the book have them. */
export function listOptionsInLowerCase(environments: PaymentsEnvironments): readonly PaymentOption[] {
  return listOptions(environments).map((option) => ({
    ...option,
    asset: lowerHex(option.asset),
    payTo: lowerHex(option.payTo),
  }));
}

/** The options of `PAYMENTS_FILE`, or the one that the other settings describe. */
export function listOptions(environments: PaymentsEnvironments): readonly PaymentOption[] {
  const { payment, acceptance, explorer, pages, rpc, reconcile } = environments;
  if (payment.payments !== null) return payment.payments.options;
  const { chainId: id, network, assetSymbol: symbol, assetDecimals: decimals, domainName, payTo } = payment;
  const name = 'default';
  const { confirmations } = acceptance;
  const shown = {
    title: pages?.chainName ?? null,
    coin: pages?.nativeSymbol ?? DEFAULT_COIN,
    walletRpc: pages?.walletRpcUrl ?? null,
  };
  const connection = { explorer: explorer?.explorerUrl ?? null, rpc: rpc?.rpcUrl ?? [], relayers: null, settles: true };
  const token = { asset: payment.assetAddress, symbol, decimals, domainName, domainVersion: payment.assetVersion };
  const compared = { reconcileRpc: reconcile?.reconcileRpcUrl ?? [], reconcileConfirmations: null };
  const chain = { name, id, network, confirmations, ...shown, ...connection, ...compared };
  return [{ name, entry: name, chain, ...token, payTo, rate: '1', methods: null }];
}
