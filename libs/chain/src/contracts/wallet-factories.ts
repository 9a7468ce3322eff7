import { keccak256Hex } from '@tollgate/crypto';
import type { Hex } from '@tollgate/protocol';

import type { ContractCall } from './contract-question.js';

/** What may be called of a contract that deploys wallets, and which contract it must be. */
export interface WalletFactory {
  /** Of the one function that may be called; null for any call. */
  selector: Hex | null;
  /** `keccak256` of the code that must be at its address; null for any code. */
  codeHash: Hex | null;
}

/** By address, in lower case. */
export type WalletFactories = ReadonlyMap<Hex, WalletFactory>;

/** The call that deploys a wallet (EIP-6492). */
export interface Deployment extends ContractCall {
  /** Of the factory, as in `WalletFactory`. */
  codeHash: Hex | null;
}

export const NO_FACTORIES: WalletFactories = new Map();

/** `createAccount(bytes[],uint256)` */
const CREATE_WITH_OWNERS = '0x3ffba36f';
/** `createAccount(address,uint256)` */
const CREATE_WITH_OWNER = '0x5fbfb9cf';

/**
 * The addresses are from the README of github.com/coinbase/smart-wallet, and the Deployments.md and `broadcast/` of
 * github.com/alchemyplatform/light-account; the hashes are of the code that the creation code in their `broadcast/`
 * folders, or for 1.1 the compiled source, puts at just that address: see `docs/decisions/signed-payments.md`.
 */
const KNOWN_FACTORIES: WalletFactories = new Map<Hex, WalletFactory>([
  // Coinbase Smart Wallet 1
  [
    '0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a',
    {
      selector: CREATE_WITH_OWNERS,
      codeHash: '0xc4900c000fd23885462a115b872741ad2b1e7ff2d7889aee18bc4d4bef3728f6',
    },
  ],
  // Coinbase Smart Wallet 1.1
  [
    '0xba5ed110efdba3d005bfc882d75358acbbb85842',
    {
      selector: CREATE_WITH_OWNERS,
      codeHash: '0xb60a629aa7c6af9b550871fd21b67ab84638156683cec68491049cb5d235ed2f',
    },
  ],
  // Light Account 2.0.0, 1.1.0, 1.0.2 and 1.0.1
  [
    '0x0000000000400cdfef5e2714e63d8040b700bc24',
    { selector: CREATE_WITH_OWNER, codeHash: '0xe43b981e54c4bad486e9f27d6f0c2418a82d99b3566b30bf8d71ae90b03f5ab6' },
  ],
  [
    '0x00004ec70002a32400f8ae005a26081065620d20',
    { selector: CREATE_WITH_OWNER, codeHash: '0xc4e5c04a77ba3345bbd5198a296e1ec5ebec5d28f508a4afa7af5c481fc70e1c' },
  ],
  [
    '0x00000055c0b4fa41dde26a74435ff03692292fbd',
    { selector: CREATE_WITH_OWNER, codeHash: '0x752f95c51a4387d846a857116e70a1f7eca50936726ea310acac6f0398127e3a' },
  ],
  [
    '0x000000893a26168158fbeadd9335be5bc96592e2',
    { selector: CREATE_WITH_OWNER, codeHash: '0x17796fdbb8f6afa25c424f46fbe7dd0b44bd2e3a5049b3e6d1269190da58c9bb' },
  ],
]);

/**
 * The known factories, and those that the operator names, which it answers for: any call of theirs, whatever their code.
 * @param named in lower case
 */
export function listFactories(named: Iterable<Hex>): WalletFactories {
  const others = [...named].map((address) => [address, { selector: null, codeHash: null }] as const);
  return new Map([...others, ...KNOWN_FACTORIES]);
}

/** The call as one that may be made; null when its factory or its function is not allowed. */
export function allowDeployment(call: ContractCall, factories: WalletFactories): Deployment | null {
  const factory = factories.get(call.to);
  if (factory === undefined) return null;
  const isAllowed = factory.selector === null || call.data.slice(0, factory.selector.length) === factory.selector;
  return isAllowed ? { ...call, codeHash: factory.codeHash } : null;
}

/** Whether the code at the factory's address is the one that the call is meant for. */
export function isExpectedFactory({ codeHash }: Deployment, code: Hex): boolean {
  return codeHash === null || keccak256Hex(code) === codeHash;
}
