import type { TrustedAsset } from '@tollgate/client';
import {
  createReads,
  type AllowedOffer,
  type Offers,
  type ReadWallet,
  type SkippedOffer,
} from '@tollgate/client/internal';
import { PaymentError } from '@tollgate/protocol';

import { explainFailure } from '../chain/explain-failure.js';
import type { PaymentLimits } from '../payments/payment-limits.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { PaymentDraftContext } from './define/operation.js';
import { namesInOffers } from './further-chains.js';

export type PaymentPlace = PaymentDraftContext & { payments: PaymentLimits };

/**
 * The account on the chains that it pays on; only on the kit's own if all offers are for that.
 * @throws AgentKitError `PROTOCOL_UNAVAILABLE` where no chain has a token that gates accept
 */
export async function listPaying(
  context: PaymentDraftContext,
  { accepts }: Offers = { accepts: [] },
): Promise<{ paying: [PaymentPlace, ...PaymentPlace[]]; problems: readonly string[] }> {
  const names = namesInOffers(context);
  const isOwn = isPaying(context) && accepts.every(({ network }) => names.includes(network));
  const { contexts, problems } = (!isOwn && (await context.elsewhere?.())) || { contexts: [], problems: [] };
  const [first, ...others] = [context, ...contexts].filter(isPaying);
  if (first) return { paying: [first, ...others], problems };
  const lack = `Chain ${context.chainId} has no token that HTTP 402 gates accept.`;
  throw new AgentKitError('PROTOCOL_UNAVAILABLE', [lack, ...problems].join(' '));
}

const isPaying = (context: PaymentDraftContext): context is PaymentPlace =>
  context.payments !== undefined && context.payments.tokens.length > 0;

/** What is read of the account on a chain before an offer is chosen. */
export interface Reads extends ReadWallet {
  context: PaymentPlace;
}

export const listAssets = ({ chainId, payments: { network, tokens } }: PaymentPlace): TrustedAsset[] =>
  tokens.map(({ address, decimals }) => ({ network, chainId, address, decimals }));

export function createReadsOn(context: PaymentPlace): Reads {
  const { client, chainId, account } = context;
  const { authorizations, permits } = createReads(account, client, chainId);
  const ask = async <Answer>(reading: Promise<Answer>): Promise<Answer> =>
    reading.catch((error: unknown) => {
      throw toProblem(error);
    });
  return {
    context,
    chainId,
    authorizations: { readDomain: (asset) => ask(authorizations.readDomain(asset)) },
    permits: { readAllowance: (asset) => ask(permits.readAllowance(asset)) },
  };
}

/**
 * Whatever keeps the kit from paying an offer, in the terms of the paying client.
 * @param chainId to be named in the reason; null: none
 */
export function toProblem(error: unknown, chainId: number | null = null): PaymentError {
  const cause = explainFailure(error);
  const code = cause.code === 'NETWORK_ERROR' ? 'wallet_unavailable' : 'cannot_pay';
  return new PaymentError(code, `${chainId === null ? '' : `On chain ${chainId}: `}${cause.message}`, { cause });
}

/** Why those after the chosen one are not paid: of each other token one for each reason. */
export function listReasons({ asset: paid }: AllowedOffer, others: readonly (AllowedOffer | SkippedOffer)[]): string[] {
  const reasons = others.flatMap((other) => {
    if (other.asset === paid) return [];
    if ('problem' in other) return [other.problem.message];
    return [`The offer of ${other.asset.address} on chain ${other.asset.chainId} comes after the one that is paid.`];
  });
  return [...new Set(reasons)];
}
