import type { Hex } from '@tollgate/protocol';

/** The chain that is paid on, as a wallet must know it. */
export interface ChainFacts {
  readonly id: number;
  readonly name: string;
  /** The RPC server that a wallet without this chain may add; null where the operator names none. */
  readonly rpcUrl: string | null;
  readonly nativeSymbol: string;
  /** Without a trailing slash. */
  readonly explorerUrl: string | null;
}

export interface TokenFacts {
  readonly address: Hex;
  readonly symbol: string;
  readonly decimals: number;
}

interface PriceFacts {
  readonly chain: ChainFacts;
  readonly token: TokenFacts;
  readonly payTo: Hex;
  /** Base units, as decimal text. */
  readonly amountBaseUnits: string;
}

interface PageFacts {
  /** The path that `PUBLIC_URL` adds before every path of the gateway; empty without one. */
  readonly base: string;
  /** How long the payment may take, counted from now. */
  readonly secondsLeft: number;
}

/** What the seller accepts for the request: a token on a chain, with a reference of its own. */
export interface PayOption extends PriceFacts {
  /** For people: `0.01 USDC`, or `at most 0.01 USDC`. */
  readonly price: string;
  readonly reference: string;
  /** The name of the network in proofs. */
  readonly network: string;
  /** The path of the ticket that a phone may pay with; null where it would be too long for a code. */
  readonly ticketUrl: string | null;
  /** Whether a relayer settles signatures, so that the payer needs no gas. */
  readonly signs: boolean;
  /** Whether the payer may send the transfer itself. */
  readonly sends: boolean;
  /** What the ids of the page's elements for this option end with. */
  readonly idEnd: string;
}

/** What the page at a priced URL knows. */
export interface PayPageData extends PageFacts {
  readonly kind: 'pay';
  /** In the seller's order, and never empty. */
  readonly options: readonly [PayOption, ...PayOption[]];
  /** Whether a signature is settled before the seller is asked, so that its error comes after the tokens have moved. */
  readonly settlesFirst: boolean;
  /** How long the gateway gives the answer again for the same payment. */
  readonly receiptSeconds: number;
}

/** What the page of a ticket knows: enough to pay, and nothing that redeems. */
export interface TicketPageData extends PriceFacts, PageFacts {
  readonly kind: 'ticket';
  /** keccak256 of the reference. */
  readonly lock: Hex;
}

export type PageData = PayPageData | TicketPageData;

/** The `Accept` by which the page asks for new data, in place of the JSON of a 402, which has one option alone. */
export type PageDataType = 'application/vnd.tollgate.page+json';
