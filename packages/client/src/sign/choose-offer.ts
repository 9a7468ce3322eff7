import { createDomainMissing, PaymentError } from '@tollgate/protocol';

import type { MethodOptions } from '../methods/registry.js';
import { isCharge } from '../offer/charge-requirement.js';
import {
  judgeOffers,
  type AllowedOffer,
  type PayingLimits,
  type ReadWallet,
  type SkippedOffer,
} from '../offer/judge-offers.js';
import { isSignable, methodOfOffer, wayOf } from '../offer/signable-requirement.js';
import type { Offers } from './read-offers.js';

export interface ChosenOffer<OneWallet extends ReadWallet = ReadWallet> {
  chosen: AllowedOffer<OneWallet>;
  /** Those that come before it, of each asset one for each reason. */
  skipped: readonly SkippedOffer[];
  /** Those that come after it. */
  others: readonly (AllowedOffer<OneWallet> | SkippedOffer)[];
}

/** The limits of a payment, and the wallets that may make it. */
export interface ChoiceTerms<OneWallet extends ReadWallet = ReadWallet> extends PayingLimits<OneWallet>, MethodOptions {
  /** Why the caller does not pay an offer that a wallet can pay; null: it does. */
  readonly findProblem?: (allowed: AllowedOffer<OneWallet>) => Promise<PaymentError | null>;
}

/**
 * The first offer within the limits that a wallet can pay, in the order of `assets`. An offer is skipped too if the
 * contract that is to move the token may not, if the token states no domain to sign for, or if its chain does not answer;
 * the next one may cost more, since `maxAmount` permits any price up to it.
 * @throws PaymentError that says of each offer why it is not paid, with the code of the one that is closest to it
 */
export async function chooseOffer<OneWallet extends ReadWallet>(
  terms: ChoiceTerms<OneWallet>,
  { accepts }: Offers,
): Promise<ChosenOffer<OneWallet>> {
  const skipped: SkippedOffer[] = [];
  const silent = new Map<OneWallet, PaymentError>();
  const offers = judgeOffers(accepts, terms);
  for (const [at, judged] of offers.entries()) {
    const completed =
      'problem' in judged
        ? judged.problem
        : (silent.get(judged.wallet) ?? (await complete(terms, judged).catch(takeSilence)));
    if (!(completed instanceof PaymentError))
      return { chosen: completed, skipped: listReasons(skipped), others: offers.slice(at + 1) };
    if (completed.code === 'wallet_unavailable' && 'wallet' in judged) silent.set(judged.wallet, completed);
    skipped.push({ requirement: judged.requirement, asset: judged.asset, problem: completed });
  }
  throw explainSkipped(skipped);
}

/** The offer with all that is needed to pay it, or why it is not paid. */
async function complete<OneWallet extends ReadWallet>(
  terms: ChoiceTerms<OneWallet>,
  allowed: AllowedOffer<OneWallet>,
): Promise<AllowedOffer<OneWallet> | PaymentError> {
  const completed = await readMissing(terms, allowed);
  return completed instanceof PaymentError ? completed : ((await terms.findProblem?.(completed)) ?? completed);
}

async function readMissing<OneWallet extends ReadWallet>(
  terms: ChoiceTerms<OneWallet>,
  allowed: AllowedOffer<OneWallet>,
): Promise<AllowedOffer<OneWallet> | PaymentError> {
  const { requirement, wallet } = allowed;
  if (!isSignable(requirement)) return allowed;
  if (isCharge(requirement)) {
    const extra = await wallet.authorizations?.readDomain(requirement.asset);
    return extra ? { ...allowed, requirement: { ...requirement, extra } } : createDomainMissing(requirement.asset);
  }
  return (await methodOfOffer(requirement).findProblem?.({ ...terms, wallet }, { ...allowed, requirement })) ?? allowed;
}

/** A server offers one token in several ways. */
function listReasons(skipped: readonly SkippedOffer[]): SkippedOffer[] {
  return skipped.filter(({ asset, problem }, at) => {
    const isSame = (other: SkippedOffer): boolean => other.asset === asset && other.problem.message === problem.message;
    return skipped.findIndex(isSame) === at;
  });
}

/** A chain that does not answer keeps no other from being paid on. */
function takeSilence(error: unknown): PaymentError {
  if (error instanceof PaymentError && error.code === 'wallet_unavailable') return error;
  throw error;
}

const FARTHEST = ['over_limit', 'no_trusted_requirement'];

function explainSkipped(skipped: readonly SkippedOffer[]): PaymentError {
  const codes = skipped.map(({ problem }) => problem.code);
  const at = codes.findIndex((code) => !FARTHEST.includes(code));
  const closest = skipped[at === -1 ? Math.max(codes.indexOf('over_limit'), 0) : at]?.problem;
  if (closest === undefined) throw new TypeError('offers are read only where there are some');
  const reasons = listReasons(skipped).map(({ problem }) => problem.message);
  const message = reasons.length === 1 ? closest.message : `No offer can be paid. ${reasons.join(' ')}`;
  return new PaymentError(closest.code, message, {
    ...(closest.hint !== undefined && { hint: closest.hint }),
    details: { ...closest.details, skipped: skipped.map(describe) },
    cause: closest.cause,
  });
}

function describe({ requirement, problem }: SkippedOffer): Record<string, string> {
  const { scheme, network, asset, payTo, maxAmountRequired } = requirement;
  const { code, message: reason } = problem;
  return { scheme, way: wayOf(requirement), network, asset, payTo, maxAmountRequired, code, reason };
}
