import type { PaymentEnvironment } from '@tollgate/config';
import { formatTokenAmount } from '@tollgate/protocol';

import type { ChainFacts, TokenFacts } from '../../web/page-data.js';
import type { GatewayEnvironment } from '../config/gateway.config.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { escapeHtml } from './document.js';

/** The facts of every sale of this gateway. */
export interface SaleTerms {
  readonly payment: PaymentEnvironment;
  readonly chain: ChainFacts;
  readonly token: TokenFacts;
}

export function saleTermsOf({ payment, pages, explorer }: GatewayEnvironment): SaleTerms {
  const { chainId, network, assetAddress: address, assetSymbol: symbol, assetDecimals: decimals } = payment;
  const { chainName = network, walletRpcUrl, nativeSymbol } = pages;
  const explorerUrl = explorer.explorerUrl?.replace(/\/+$/, '') ?? null;
  const chain = { id: chainId, name: chainName, rpcUrl: walletRpcUrl ?? null, nativeSymbol, explorerUrl };
  return { payment, chain, token: { address, symbol, decimals } };
}

/** A price for people: `0.01 USDC`. */
export function showPrice(priceBaseUnits: bigint, { decimals, symbol }: TokenFacts): string {
  return `${formatTokenAmount(priceBaseUnits, decimals)} ${symbol}`;
}

/** The price of a route; of a metered one the most that a request may cost. */
export function showRoutePrice({ priceBaseUnits, isMetered }: PaidRoute, token: TokenFacts): string {
  return `${isMetered === true ? 'at most ' : ''}${showPrice(priceBaseUnits, token)}`;
}

/** What is paid, to whom and where, as HTML: a payer reads it before its wallet opens. `what` is HTML. */
export function renderFacts({ payment, chain, token }: SaleTerms, what: string, total: string): string {
  return `<dl id="facts">
<dt>For</dt><dd>${what}</dd>
<dt>Total</dt><dd>${escapeHtml(total)}</dd>
<dt>Token</dt><dd>${escapeHtml(token.symbol)} <code>${token.address}</code></dd>
<dt>Recipient</dt><dd><code>${payment.payTo}</code></dd>
<dt>Network</dt><dd>${nameChain(chain)}</dd>
</dl>`;
}

/** As HTML. */
export function nameChain({ name, id }: ChainFacts): string {
  return `${escapeHtml(name)} (chain ${id})`;
}

/** The path of `PUBLIC_URL`, which a proxy in front of the gateway takes off: paths in pages begin with it. */
export function basePathOf(originUrl: string): string {
  return URL.canParse(originUrl) ? new URL(originUrl).pathname.replace(/\/+$/, '') : '';
}
