import { type Hex, proofMessage } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { PRICE } from '../use-payment-verifier.js';
import type { SentMethod, Verifiers } from './payment-method.js';

/** A mined transfer, locked to a challenge, or shown for it by a signature under its hash. */
export interface ShownTransfer {
  txHash: Hex;
  payer: Hex;
  reference: { text: string; issuedAtMs: number; priceBaseUnits: string };
  signature?: Hex;
}

const NO_VALIDITY = { lacks: 'a transfer is mined or not: it has no validity' };

/** A client's own transaction: its hash is the proof. */
export function transfer(used: Verifiers): SentMethod<ShownTransfer> {
  const { parts, payer, askAboutHash, createReferenceNow } = used;
  const send = async (from: Hex | undefined, transferred: { to?: Hex; amountBaseUnits: bigint }, token?: Hex) =>
    from === parts().wallet.address
      ? parts().wallet.pay([transferred])
      : transferTokens(parts().devnet, { ...transferred, ...(from && { from }), ...(token && { token }) });
  const signFor = ({ privateKey }: DevnetAccount, reference: string, txHash: Hex) =>
    privateKeyToAccount(privateKey).signMessage({ message: proofMessage(reference, txHash) });
  return {
    name: 'a transfer',
    codes: {
      'one unit less than the price': 'amount_too_low',
      'one unit more than the price': 'claimed',
      'more than the payer has': 'transaction_failed',
      'another token': 'transfer_missing',
      'another chain': { lacks: 'the hash of a transaction is looked for on one chain alone' },
      'another recipient': 'transfer_missing',
      'a start in the future': NO_VALIDITY,
      'a start beyond all time': NO_VALIDITY,
      'an expiry two days ago': NO_VALIDITY,
      'an expiry in the past': NO_VALIDITY,
      'an expiry too soon to settle it': NO_VALIDITY,
      "a signature of another account's key": 'signature_invalid',
    },
    pay: async ({ signer = payer(), from, to, token, amount = PRICE } = {}) => {
      const reference = await createReferenceNow();
      const isLocked = from === undefined;
      const sent = { amountBaseUnits: amount, ...(to && { to }), ...(isLocked && { lockReference: reference.text }) };
      const txHash = await send(from ?? signer.address, sent, token);
      const shown = { txHash, reference, payer: (from ?? signer.address).toLowerCase() as Hex };
      return isLocked ? shown : { ...shown, signature: await signFor(signer, reference.text, txHash) };
    },
    settle: ({ txHash }) => Promise.resolve(txHash),
    ask: ({ txHash, reference, signature }, { rules = {}, waitMs = 0, terms, claim, request } = {}) => {
      const { confirmations = 1, redemptionWindowMs } = rules;
      const windows = redemptionWindowMs === undefined ? {} : { boundRedemptionWindowMs: redemptionWindowMs };
      const shown = { reference, ...(signature && { signature }), ...terms, ...claim, ...request };
      return askAboutHash(txHash, { rules: { confirmations, ...windows }, waitMs, request: shown });
    },
    claimed: ({ payer: from }) => ({ bound: true, payer: from, amountBaseUnits: String(PRICE) }),
    idOf: ({ txHash }) => ({ kind: 'transfer', chainId: 1328, txHash, logIndex: 0 }),
    nameOf: ({ txHash }) => txHash,
    // With the receipt.
    longestRefusal: 6_000,
    refusalRequests: 2,
  };
}
