import { deploymentOf, type PayerSignature, planTransfer, readPayerSignature, splitSignature } from '@tollgate/chain';
import {
  hashTransferAuthorization,
  MAX_UINT256,
  type Hex,
  type SignedAuthorization,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { address, baseUnits, hash32, hexBytes, hexData, natural, parseMessage } from '@tollgate/schemas';
import type { SettlementResult } from '@tollgate/transport';
import { PaymentRefused, type AcceptedAssets } from '@tollgate/verification';
import { z } from 'zod';

import { failed, moved, SETTINGS_DIFFER, type SettleQuestion } from '../../payment-entry.js';
import type { SettlementMethod } from '../settlement-method.js';

type SentAuthorization = Omit<SignedAuthorization, 'signature'> & { signature: PayerSignature };

export const eip3009Settlement: SettlementMethod<SignedAuthorization, SentAuthorization> = {
  kind: 'authorization',
  isSimulatedBySender: false,
  // Some tokens do not revert on a used nonce.
  isProvenBySuccess: false,
  operation: 'settle',

  findMismatch({ authorization: { to, value } }, { payTo }, amount) {
    if (to !== payTo) return 'recipient_mismatch';
    return BigInt(value) === amount ? null : 'amount_mismatch';
  },
  // The token accepts one of two authorizations with one nonce, and each is judged by its own terms.
  describe({ authorization }, { asset, payTo, amountBaseUnits }) {
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    return [asset, payTo, amountBaseUnits, from, to, value, validAfter, validBefore, nonce];
  },
  readPayment({ terms, payment }, { assets, deployments }, { isAccount }) {
    const { kind, authorization, signature } = payment;
    const domainSeparator = findDomain(assets, terms);
    if (typeof domainSeparator !== 'string') return domainSeparator;
    const supposed = isAccount ? splitSignature(signature) : null;
    if (supposed !== null) return { kind, authorization, signature: supposed };
    const hash = hashTransferAuthorization(authorization, domainSeparator);
    const signer = { hash, payer: authorization.from, factories: deployments.factoriesFor(terms) };
    return { kind, authorization, signature: readPayerSignature(signature, signer) };
  },
  isShareable: ({ signature }) => signature.kind === 'account',
  deploymentOf: ({ signature }) => deploymentOf(signature),
  planCall({ asset, payment: { authorization, signature } }, places) {
    return planTransfer(authorization, signature, { ...places, asset });
  },
  async explainFree(chain, { asset, payment: { authorization } }, { seconds, deadlineMs }) {
    const { from, value, validAfter } = authorization;
    if (BigInt(validAfter) >= seconds) return 'authorization_not_yet_valid';
    return (await chain.readBalance(asset, from, deadlineMs)) < BigInt(value) ? 'balance_too_low' : null;
  },
  encodeJob(entries) {
    const input: z.output<typeof job> = {
      entries: entries.map(({ payer: _, payment: { authorization, signature }, ...entry }) => {
        return { ...entry, authorization, signature };
      }),
    };
    return input;
  },
  parseJob(input) {
    const { entries } = parseMessage(job, input);
    return entries.map(({ authorization, signature, ...entry }) => {
      const payment = { kind: 'authorization', authorization, signature } as const;
      return { ...entry, payer: authorization.from, payment };
    });
  },
};

/** The result instead, when gateway and verifier have different settings or do not accept the asset. */
function findDomain(assets: AcceptedAssets, terms: SettleQuestion['terms']): Hex | SettlementResult {
  try {
    return assets.findDomain(terms) ?? SETTINGS_DIFFER;
  } catch (error) {
    if (error instanceof PaymentRefused) return failed(error.failure);
    throw error;
  }
}

const payerSignature = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), v: natural, r: hash32, s: hash32 }),
  z.object({
    kind: z.literal('contract'),
    bytes: hexBytes,
    isWrapped: z.boolean(),
    deployment: z.object({ to: address, data: hexData, codeHash: hash32.nullable() }).nullable(),
  }),
]) satisfies z.ZodType<PayerSignature>;

/** More would shift the fields of the calldata that follow. */
const uint256 = baseUnits.refine((value) => BigInt(value) <= MAX_UINT256);

const transferAuthorization = z.object({
  from: address,
  to: address,
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: hash32,
}) satisfies z.ZodType<TransferAuthorization>;

/** The input of the job of one or more authorizations. */
const job = z.object({
  entries: z.array(
    moved.extend({ asset: address, payTo: address, authorization: transferAuthorization, signature: payerSignature }),
  ),
});
