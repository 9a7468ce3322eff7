import { lockOf } from '@tollgate/protocol';

import type { PayOption } from '../../web/page-data.js';
import type { PageRequest } from '../paywall/offer/html-page.js';
import { isTakenBy, type SoldOption } from '../paywall/offer/sold-option.js';
import type { PayTickets } from './pay-tickets.js';
import { showRoutePrice, type SaleTerms } from './sale-terms.js';

/** The request as it is sold in one option. */
export interface OfferedSale {
  readonly terms: SaleTerms;
  readonly sold: SoldOption;
  readonly reference: string;
  /** For people: `0.01 USDC`. */
  readonly price: string;
  /** Whether the payer may send the transfer itself. */
  readonly sends: boolean;
  /** What the ids of the page's elements for it end with: nothing for the first. */
  readonly idEnd: string;
}

/** A sale for each option of the request's challenge. */
export function listOfferedSales(
  terms: readonly SaleTerms[],
  { route, offered, references }: Pick<PageRequest, 'route' | 'offered' | 'references'>,
): OfferedSale[] {
  return offered.map((sold, at) => {
    const { option } = sold.judged;
    const own = terms.find((one) => one.option.name === option.name);
    const reference = references[at];
    if (reference === undefined || own === undefined) throw new TypeError(`the option ${option.name} is not sold here`);
    const price = showRoutePrice(route, [own]);
    return {
      terms: own,
      sold,
      reference,
      price,
      sends: isTakenBy(option, 'transfer'),
      idEnd: at === 0 ? '' : `-${at}`,
    };
  });
}

export interface PayOptionParts {
  readonly tickets: PayTickets;
  /** Whether signed payments are accepted. */
  readonly signedPayments: boolean;
  /** The resource's path. */
  readonly resource: string;
  readonly base: string;
}

/** What the page's script knows of a sale. */
export function createPayOption(
  { terms, sold, reference, price, sends, idEnd }: OfferedSale,
  { tickets, signedPayments, resource, base }: PayOptionParts,
): PayOption {
  const { option, chain, token, maxTimeoutSeconds } = terms;
  const { payTo } = option;
  const { network } = option.chain;
  const { priceBaseUnits } = sold;
  const ticket = tickets.create({
    lock: lockOf(reference),
    path: resource,
    priceBaseUnits,
    asset: token.address,
    payTo,
    chainId: chain.id,
    network,
    expiresAtMs: Date.now() + maxTimeoutSeconds * 1000,
  });
  return {
    chain,
    token,
    payTo,
    network,
    reference,
    price,
    amountBaseUnits: priceBaseUnits.toString(),
    ticketUrl: ticket === null || !sends ? null : `${base}/pay/${ticket}`,
    signs: signedPayments && sold.facts.exact !== null,
    sends,
    idEnd,
  };
}
