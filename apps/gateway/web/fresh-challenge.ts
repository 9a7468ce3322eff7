import {
  decodeJsonHeader,
  lockOf,
  parseChallenge,
  PAYMENT_REQUIRED,
  type Hex,
  type PaymentRequiredV2,
  type PaymentRequirement,
  type RequirementV2,
} from '@tollgate/protocol';

import { PageProblem } from './chain.js';
import type { PayPageData } from './page-data.js';

/** A challenge that was issued now, so that the wallet has the whole time to pay it. */
export interface FreshChallenge {
  readonly requirement: PaymentRequirement;
  readonly lock: Hex;
  /** For signatures; null where the gateway takes none. */
  readonly required: PaymentRequiredV2 | null;
}

const LONGEST_HEADER = 65_536;

/**
 * Asks for a new challenge of the same resource, and checks that its terms are those which the page shows.
 *
 * @throws PageProblem where price, token or recipient have changed
 */
export async function readFreshChallenge(url: string, shown: PayPageData): Promise<FreshChallenge> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    cache: 'no-store',
    credentials: 'omit',
  });
  if (response.status !== 402)
    throw new PageProblem(`The gateway answered ${response.status} instead of a price. Reload the page.`);
  const [requirement] = parseChallenge(await response.json()).accepts;
  if (requirement === undefined || !isAsShown({ ...requirement, amount: requirement.maxAmountRequired }, shown)) {
    throw new PageProblem(
      'The price or the recipient has changed. Reload the page to see the new one; nothing was paid.',
    );
  }
  return { requirement, lock: lockOf(requirement.extra.reference), required: readRequired(response, shown) };
}

function readRequired(response: Response, shown: PayPageData): PaymentRequiredV2 | null {
  const header = response.headers.get(PAYMENT_REQUIRED);
  if (header === null) return null;
  const required = decodeJsonHeader(header, LONGEST_HEADER) as unknown as PaymentRequiredV2;
  const network = `eip155:${shown.chain.id}`;
  const accepts = required.accepts.filter((option) => option.network === network && isAsShown(option, shown));
  return { ...required, accepts };
}

function isAsShown(
  { amount, asset, payTo }: Pick<RequirementV2, 'amount' | 'asset' | 'payTo'>,
  shown: PayPageData,
): boolean {
  return (
    amount === shown.amountBaseUnits &&
    asset.toLowerCase() === shown.token.address.toLowerCase() &&
    payTo.toLowerCase() === shown.payTo.toLowerCase()
  );
}
