import type { Hex } from '@tollgate/protocol';

/** A chain that payments are made on. */
export interface PaymentChain {
  readonly name: string;
  readonly id: number;
  /** The `network` of challenges and proofs in the documented form. */
  readonly network: string;
  /** Transactions are shown at `{explorer}/tx/{hash}`; null: nowhere. */
  readonly explorer: string | null;
  /** Its name on pages and in wallets; null: the network's. */
  readonly title: string | null;
  /** Symbol of its native coin. */
  readonly coin: string;
  /** A public RPC server that wallets may add together with the chain; null: none. */
  readonly walletRpc: string | null;
  /** Blocks that a payment must have, its own included. */
  readonly confirmations: number;
  /** URLs; in a process without a connection to the chain they are as in the file, with `${NAME}`. */
  readonly rpc: readonly string[];
  /** URLs of the servers by which the book is compared with the chain; as `rpc` in a process that does not compare them. Empty: it is not compared. */
  readonly reconcileRpc: readonly string[];
  /** Blocks, with its own, after which a transaction is final for the book; null: RECONCILE_CONFIRMATIONS. */
  readonly reconcileConfirmations: number | null;
  /** As in the file. */
  readonly relayers: string | null;
  /** False where no relayer is named, so that no signed payment could be settled. */
  readonly settles: boolean;
}

/** What a seller accepts: a token on a chain, paid to an account. */
export interface PaymentOption {
  /** Of an entry with several recipients, the first has the entry's name, and each further one a name of its own. */
  readonly name: string;
  /** The name of its entry, by which routes accept it. */
  readonly entry: string;
  readonly chain: PaymentChain;
  /** The token's contract. */
  readonly asset: Hex;
  readonly symbol: string;
  readonly decimals: number;
  /** Name and version in the token's EIP-712 domain. */
  readonly domainName: string;
  readonly domainVersion: string;
  readonly payTo: Hex;
  /** Tokens for each unit of a price, as a decimal number. */
  readonly rate: string;
  /** How it is offered: `transfer`, and the `assetTransferMethod` of signed ones; null: as the settings allow. */
  readonly methods: readonly string[] | null;
}

/** What `PAYMENTS_FILE` says. */
export interface Payments {
  /** Those of the options, in the order of these. */
  readonly chains: readonly PaymentChain[];
  readonly options: readonly PaymentOption[];
}

/** The chains of options, each once, in the order of their first options. */
export function chainsOf<Chain>(options: readonly { readonly chain: Chain }[]): Chain[] {
  return [...new Set(options.map(({ chain }) => chain))];
}

/** The native coin of a chain of which nothing else is known. */
export const DEFAULT_COIN = 'ETH';
