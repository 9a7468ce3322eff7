import { keccak256OfBytes } from '@tollgate/crypto';
import type { Hex } from '@tollgate/protocol';

import type { PayOption } from '../../web/page-data.js';
import type { PageRequest } from '../paywall/offer/html-page.js';
import type { SoldOption } from '../paywall/offer/sold-option.js';
import type { PayTickets } from './pay-tickets.js';
import { showRoutePrice, type SaleTerms } from './sale-terms.js';

/** A route as it is sold in one option: the same for each request. */
export interface OfferedSale {
  readonly terms: SaleTerms;
  readonly sold: SoldOption;
  /** For people: `0.01 USDC`. */
  readonly price: string;
  /** What the ids of the page's elements for it end with: nothing for the first. */
  readonly idEnd: string;
}

/** A sale for each option that the route is offered in. */
export function listOfferedSales(
  terms: readonly SaleTerms[],
  { route, offered }: Pick<PageRequest, 'route' | 'offered'>,
): OfferedSale[] {
  return offered.map((sold, at) => {
    const { option } = sold.judged;
    const own = terms.find((one) => one.option.name === option.name);
    if (own === undefined) throw new TypeError(`the option ${option.name} is not sold here`);
    return { terms: own, sold, price: showRoutePrice(route, [own]), idEnd: at === 0 ? '' : `-${at}` };
  });
}

/** What a sale has of its own in each request. */
export interface IssuedSale {
  readonly reference: string;
  readonly lock: Hex;
  /** The path of the ticket for a phone; null where it would be too long for a code. */
  readonly ticketUrl: string | null;
}

/** The sales of one request. */
export function issueSales(
  sales: readonly OfferedSale[],
  { references, resource }: Pick<PageRequest, 'references' | 'resource'>,
  { tickets, base }: { readonly tickets: PayTickets; readonly base: string },
): IssuedSale[] {
  return sales.map(({ terms: { option, maxTimeoutSeconds }, sold: { priceBaseUnits } }, at) => {
    const reference = references[at] ?? '';
    // As `lockOf` of the protocol, whose hash is of JavaScript.
    const lock = keccak256OfBytes(Buffer.from(reference));
    const { asset, payTo, chain } = option;
    const expiresAtMs = Date.now() + maxTimeoutSeconds * 1000;
    const { id: chainId, network } = chain;
    const ticket = tickets.create({
      lock,
      path: resource,
      priceBaseUnits,
      asset,
      payTo,
      chainId,
      network,
      expiresAtMs,
    });
    return { reference, lock, ticketUrl: ticket === null ? null : `${base}/pay/${ticket}` };
  });
}

/** What the page's script knows of a sale. */
export function createPayOption(
  { terms, sold, price, idEnd }: OfferedSale,
  { reference, ticketUrl }: IssuedSale,
  signedPayments: boolean,
): PayOption {
  const { option, chain, token } = terms;
  return {
    chain,
    token,
    payTo: option.payTo,
    network: option.chain.network,
    reference,
    price,
    amountBaseUnits: sold.priceBaseUnits.toString(),
    ticketUrl,
    signs: signedPayments && sold.facts.exact !== null,
    idEnd,
  };
}
