import type { PaymentOption } from '@tollgate/config';
import { formatTokenAmount } from '@tollgate/protocol';

import type { ChainFacts, TokenFacts } from '../../web/page-data.js';
import type { GatewayEnvironment } from '../config/gateway.config.js';
import { acceptsOption } from '../paywall/route/options-of-route.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { priceOf } from '../paywall/route/price-of.js';
import { escapeHtml } from './document.js';

/** The facts of every sale in one option. */
export interface SaleTerms {
  readonly option: PaymentOption;
  readonly maxTimeoutSeconds: number;
  readonly chain: ChainFacts;
  readonly token: TokenFacts;
}

/** What the gateway sells in, in the seller's order. */
export function saleTermsOf({ payment, options }: GatewayEnvironment): readonly SaleTerms[] {
  const { maxTimeoutSeconds } = payment;
  return options.map((option) => {
    const { asset: address, symbol, decimals, chain } = option;
    const facts = {
      id: chain.id,
      name: chain.title ?? chain.network,
      rpcUrl: chain.walletRpc,
      nativeSymbol: chain.coin,
      explorerUrl: chain.explorer?.replace(/\/+$/, '') ?? null,
    };
    return { option, maxTimeoutSeconds, chain: facts, token: { address, symbol, decimals } };
  });
}

/** The terms of a route's options. */
export function termsOfRoute(terms: readonly SaleTerms[], route: PaidRoute): readonly SaleTerms[] {
  return terms.filter(({ option }) => acceptsOption(route, option));
}

/** A price for people: `0.01 USDC`. */
export function showPrice(priceBaseUnits: bigint, { decimals, symbol }: TokenFacts): string {
  return `${formatTokenAmount(priceBaseUnits, decimals)} ${symbol}`;
}

/** The price of a route in each of these options; of a metered one the most that a request may cost. */
export function showRoutePrice(route: PaidRoute, terms: readonly SaleTerms[]): string {
  const prices = terms.map(({ option, token, chain }) => {
    const price = showPrice(priceOf(route, option), token);
    return terms.length === 1 ? price : `${price} on ${chain.name}`;
  });
  return `${route.isMetered === true ? 'at most ' : ''}${prices.join(' or ')}`;
}

interface PaymentFacts {
  /** HTML. */
  readonly what: string;
  readonly total: string;
  /** What the element's id ends with. */
  readonly idEnd: string;
}

/** What is paid, to whom and where, as HTML: a payer reads it before its wallet opens. */
export function renderFacts({ option, chain, token }: SaleTerms, { what, total, idEnd }: PaymentFacts): string {
  return `<dl id="facts${idEnd}">
<dt>For</dt><dd>${what}</dd>
<dt>Total</dt><dd>${escapeHtml(total)}</dd>
<dt>Token</dt><dd>${escapeHtml(token.symbol)} <code>${token.address}</code></dd>
<dt>Recipient</dt><dd><code>${option.payTo}</code></dd>
<dt>Network</dt><dd>${showChain(chain)}</dd>
</dl>`;
}

/** As HTML. */
export function showChain({ name, id }: ChainFacts): string {
  return `${escapeHtml(name)} (chain ${id})`;
}

/** The path of `PUBLIC_URL`, which a proxy in front of the gateway takes off: paths in pages begin with it. */
export function basePathOf(originUrl: string): string {
  return URL.canParse(originUrl) ? new URL(originUrl).pathname.replace(/\/+$/, '') : '';
}
