import type { Address } from 'viem';

import type { ProtocolKind, ProtocolPlugin } from '../protocols/protocol.js';
import type { ListedToken } from '../types/token.js';

/** What the kit knows about one chain: its tokens, and its deployed protocols. */
export interface ChainRegistry {
  chainId: number;
  name: string;
  native: { symbol: string; decimals: 18 };
  explorerUrl: string | null;
  tokens: readonly ListedToken[];
  /** Listed tokens that HTTP 402 gates accept, and the gates' name for the chain; absent if there are none. */
  payments?: { network: string; tokens: readonly Address[] };
  protocols: readonly { [Kind in ProtocolKind]: ProtocolPlugin<Kind> }[ProtocolKind][];
}
