import {
  decodeJsonHeader,
  lockOf,
  PAYMENT_REQUIRED,
  type Hex,
  type PaymentRequiredV2,
  type RequirementV2,
} from '@tollgate/protocol';

import type { PageDataType, PayOption, PayPageData } from './page-data.js';
import { PageProblem } from './wallet/chain.js';

/** A challenge that was issued now, so that the wallet has the whole time to pay it. */
export interface FreshChallenge {
  readonly option: PayOption;
  readonly lock: Hex;
  /** For signatures; null where the gateway takes none. */
  readonly required: PaymentRequiredV2 | null;
}

const LONGEST_HEADER = 65_536;
const PAGE_DATA: PageDataType = 'application/vnd.tollgate.page+json';

/**
 * Asks for a new challenge of the same resource, and checks that it offers what the page shows.
 *
 * @throws PageProblem where it does not
 */
export async function readFreshChallenge(url: string, shown: PayOption): Promise<FreshChallenge> {
  const response = await fetch(url, { headers: { Accept: PAGE_DATA }, cache: 'no-store', credentials: 'omit' });
  if (response.status !== 402)
    throw new PageProblem(`The gateway answered ${response.status} instead of a price. Reload the page.`);
  const { options } = (await response.json()) as PayPageData;
  const option = options.find(({ amountBaseUnits: amount, token: { address: asset }, payTo, chain }) =>
    isAsShown({ amount, asset, payTo, network: networkOf(chain.id) }, shown),
  );
  if (option === undefined) {
    throw new PageProblem(
      'The price or the recipient has changed, or this token is not taken now. Reload the page to see what is; nothing was paid.',
    );
  }
  return { option, lock: lockOf(option.reference), required: readRequired(response, shown) };
}

function readRequired(response: Response, shown: PayOption): PaymentRequiredV2 | null {
  const header = response.headers.get(PAYMENT_REQUIRED);
  if (header === null) return null;
  const required = decodeJsonHeader(header, LONGEST_HEADER) as unknown as PaymentRequiredV2;
  return { ...required, accepts: required.accepts.filter((offered) => isAsShown(offered, shown)) };
}

/** As x402 version 2 has it (CAIP-2). */
function networkOf(chainId: number): string {
  return `eip155:${chainId}`;
}

function isAsShown(
  { amount, asset, payTo, network }: Pick<RequirementV2, 'amount' | 'asset' | 'payTo' | 'network'>,
  shown: PayOption,
): boolean {
  return (
    amount === shown.amountBaseUnits &&
    network === networkOf(shown.chain.id) &&
    asset.toLowerCase() === shown.token.address.toLowerCase() &&
    payTo.toLowerCase() === shown.payTo.toLowerCase()
  );
}
