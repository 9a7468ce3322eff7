/**
 * Why a node does not take a signed transaction.
 * - `known`: it has these very bytes.
 * - `nonce_used`: a transaction of the account with this nonce, or a later one, is mined.
 * - `insufficient_funds`: the account cannot pay the value and the most that the gas may cost.
 * - `fee_below_base`: the base fee has risen above the fee cap; the same call with new fees is taken.
 * - `replacement`: its pool has another transaction with this nonce, and the fees are not high enough to replace it.
 * - `underpriced`: the fees are below the pool's own minimum.
 * - `in_flight`: the account has delegated code, and the node takes one transaction at a time from it.
 * - `invalid`: it will never take these bytes.
 */
export type SendRefusal =
  | 'known'
  | 'nonce_used'
  | 'insufficient_funds'
  | 'fee_below_base'
  | 'replacement'
  | 'underpriced'
  | 'in_flight'
  | 'invalid';

/** Tried in this order; the texts of geth, erigon, reth, Nethermind, Besu and anvil. */
const SEND_REFUSALS: readonly (readonly [RegExp, SendRefusal])[] = [
  [
    /already known|already imported|already exists|known transaction|alreadyknown|existing txn with same hash/i,
    'known',
  ],
  [/nonce (is )?too low|oldnonce|nonce already (used|been used)/i, 'nonce_used'],
  [
    /in-?flight transaction limit|gapped-nonce tx from delegated|delegation (authority has pending|nonce gap)|delegatorhaspendingtx|notcurrentnoncefordelegation/i,
    'in_flight',
  ],
  [
    /replacement (transaction|fee)|to replace existing|could not replace existing|replacementnotallowed/i,
    'replacement',
  ],
  [
    /insufficient (funds|balance)|insufficientfunds|exceeds (account )?balance|upfront cost exceeds|overdraws from account/i,
    'insufficient_funds',
  ],
  [
    /less than (the )?(block )?base ?fee|below (the )?(block )?base ?fee|lower than the (current |block )?base ?fee/i,
    'fee_below_base',
  ],
  [/underpriced|fee ?too ?low|gas price (too low|below)|insufficient fee|below chain minimum/i, 'underpriced'],
  [
    /intrinsic ?gas|floor data gas|exceeds (the )?(block )?gas limit|exceeds block'?s? (max gas|gas limit)|gas limit (is )?too (high|low)|gas limit( \(\d+\))? is greater than the|gaslimitexceeded|gas limit exceeds|gas ?uint(64)? ?overflow|oversized data|input data too large|initcode (size|too large)|higher than (the )?(fee cap|max fee)|type (is )?not (supported|activated)|unsupported transaction type|exceeds the configured cap|invalid (sender|signature|chain ?id)|nonce has max value/i,
    'invalid',
  ],
];

/** What a node means by the message of its answer to `eth_sendRawTransaction`; null where the words decide nothing. */
export function readSendRefusal(message: string): SendRefusal | null {
  return SEND_REFUSALS.find(([words]) => words.test(message))?.[1] ?? null;
}

const UNKNOWN_BLOCK =
  /(header|block)( \S+)? (could )?not (be )?found|unknown block|missing trie|blockoutofrange|cannot query unfinalized|block height is \d+ but requested/i;

/** Whether a node says that it does not have the block, or the state of the block, that it was asked about. */
export function isUnknownBlock(message: string): boolean {
  return UNKNOWN_BLOCK.test(message);
}

const TOO_MANY_CALLS: readonly number[] = [400, 405, 406, 413, 415, 422, 501];

/** Whether a node may answer with this HTTP status because it takes fewer calls in a request, or no batches. */
export function mayRefuseNumber(status: number): boolean {
  return TOO_MANY_CALLS.includes(status);
}
