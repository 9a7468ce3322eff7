import {
  AUTHORIZATION_CANCELED,
  AUTHORIZATION_USED,
  AuthorizedTransfers,
  findAuthorizations,
  readTransferLog,
  type Hex,
  type SignedAuthorization,
} from '@tollgate/protocol';

import { encodeAddress } from '../../contracts/abi-encoding.js';
import { unwrapSignature } from '../../contracts/payer-signature.js';
import type { LogSearch } from '../../logs/search-logs.js';
import { ChainUnavailableError } from '../../rpc/chain-unavailable-error.js';
import type {
  ChainMethod,
  PaymentUse,
  PromisedMove,
  SearchedChain,
  TransferCause,
  UseLookUp,
} from '../chain-method.js';
import { notShown, UNSENT, wasSent } from '../sent-payment.js';
import { askForNonce, readNonce } from './authorization-view.js';
import { carriesAuthorization, encodeTransfer } from './plan-transfer.js';

type Terms = Omit<SignedAuthorization, 'signature'>;

/** EIP-3009: the token keeps the nonces, and its logs name them. */
export const eip3009OnChain: ChainMethod<Terms> = {
  kind: 'authorization',
  senderOf: () => null,
  askForNonceOf({ authorization: { from: payer, nonce } }, asset) {
    return { ask: (blockNumber) => askForNonce({ asset, payer, nonce }, blockNumber), read: readNonce };
  },
  findUse: findAuthorizationUse,
  readMoves(logs) {
    const transfers = new AuthorizedTransfers(logs);
    return { of: (promised) => (transfers.include(transferOf(promised)) ? valueOf(promised) : null) };
  },
  findCauses(logs, { chainId, asset }) {
    const causes = new Map<number, TransferCause>();
    for (const [position, nonce] of findAuthorizations(logs, asset)) {
      const transfer = logs[position] && readTransferLog(logs[position]);
      const id = transfer && ({ kind: 'authorization', chainId, asset, from: transfer.from, nonce } as const);
      if (id) causes.set(position, { kind: 'authorization', id, settler: asset });
    }
    return causes;
  },
  calldata: null,
  isIn: (calldata, { authorization }) => carriesAuthorization(calldata, authorization),
  isSignedIn({ input }, { authorization, signature }) {
    const bytes = unwrapSignature(signature)?.bytes ?? signature;
    const data = encodeTransfer(authorization, { kind: 'contract', bytes });
    // At any byte, since it may be one of several calls, such as the one behind a wallet's deployment.
    return input.includes(data.slice('0x'.length));
  },
};

const transferOf = ({ asset, payTo, payment: { authorization } }: PromisedMove<Terms>) => ({
  asset,
  payTo,
  authorization,
});
const valueOf = ({ payment: { authorization } }: PromisedMove<Terms>): bigint => BigInt(authorization.value);

async function findAuthorizationUse(
  chain: SearchedChain,
  { promised, sent = UNSENT, asker, sinceMs, deadlineMs }: UseLookUp<Terms>,
  headBlockNumber: number,
): Promise<PaymentUse> {
  const { asset, payment } = promised;
  const { authorization } = payment;
  const payer: Hex = `0x${encodeAddress(authorization.from)}`;
  const search: LogSearch = {
    address: asset,
    topics: [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], [payer], [authorization.nonce]],
    headBlockNumber,
    sinceMs,
    deadlineMs,
  };
  const isCharged = !wasSent(sent);
  if (isCharged) asker?.assertLeft();
  const [log] = await chain.searchPast(search);
  if (log === undefined) {
    if (isCharged) asker?.foundNothing();
    // The nonce went into the relayer's transaction or before it, so its log is recent.
    if (sent.job === 'open' && sent.txHashes.length > 0) throw notShown();
    // A token takes this authorization only after that time, so the server lags behind if it was taken. A cancellation, or
    // an earlier authorization with its nonce, may lie before the searched range: the second search decides, unless a
    // relayer may have sent this one.
    const isSure = sent.job === 'over' && chain.foundNothingTwice(search);
    if (Number(authorization.validAfter) * 1000 >= sinceMs && !isSure) {
      const message = 'The RPC server says that the nonce is used, and returned no log of it.';
      throw new ChainUnavailableError('rpc_inconsistent', message);
    }
    const facts = { amountBaseUnits: valueOf(promised), detail: sent.job === 'forgotten' ? NOT_FOUND : TOO_OLD };
    return { outcome: 'doubtful', failure: 'payment_too_old', txHash: null, facts };
  }
  const { txHash } = log;
  if (log.topics[0] === AUTHORIZATION_CANCELED) return { outcome: 'cancelled', txHash };

  const { mined } = await chain.readTransaction(txHash, deadlineMs);
  if (mined === null) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server returned the logs but not their transaction.');
  }
  const { receipt, input } = mined;
  if (!new AuthorizedTransfers(receipt.logs).include(transferOf(promised))) return { outcome: 'used', txHash };
  const minedAtMs = await chain.readBlockTime(receipt, deadlineMs);
  const { blockNumber } = receipt;
  return { outcome: 'settled', txHash, blockNumber, minedAtMs, amountBaseUnits: valueOf(promised), input };
}

// What an operator reads before it refunds one whose transaction is not found.
const NOT_FOUND = 'a relayer may have sent it, and its transaction is not found';
const TOO_OLD = 'the nonce was used before the searched time range: it may have paid another recipient';
