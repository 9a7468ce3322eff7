import { methodOfScheme } from '@tollgate/protocol';

import type { PayPageData } from '../../web/page-data.js';
import type { HtmlPage, PageRequest } from '../paywall/offer/html-page.js';
import { renderDocument, type DocumentParts, escapeHtml, renderDataBlock } from './document.js';
import { createPayOption, listOfferedSales, type OfferedSale } from './offered-sales.js';
import { pathWithQuery, renderByHand } from './pay-by-hand.js';
import type { PayTickets } from './pay-tickets.js';
import { basePathOf, renderFacts, showRoutePrice, type SaleTerms } from './sale-terms.js';

export interface PayPageParts {
  readonly document: DocumentParts;
  readonly terms: readonly SaleTerms[];
  readonly tickets: PayTickets;
  /** Whether signed payments are accepted. */
  readonly signedPayments: boolean;
  readonly receiptSeconds: number;
}

/** The page of an unpaid request: what it costs, buttons for wallets, and everything as text for who has neither. */
export function renderPayPage(parts: PayPageParts, request: PageRequest): HtmlPage {
  const { document, terms } = parts;
  const { route, origin } = request;
  const sales = listOfferedSales(terms, request);
  const data = createData(parts, request, sales);
  const { description, mimeType, isMetered } = route;
  const price = showRoutePrice(
    route,
    sales.map((sale) => sale.terms),
  );
  const what = `${renderRequest(request)} (${escapeHtml(mimeType)})`;
  const facts = sales.map((sale) => renderFacts(sale.terms, { what, total: sale.price, idEnd: sale.idEnd }));
  const byHand = sales.filter(({ sends }) => sends).map((sale) => renderByHand(sale, request, sales.length === 1));
  const metered = `<p class="hint">With a signature by ${methodOfScheme('upto')?.title} you pay what the answer costs. Every other way to pay costs all of it.</p>`;
  const main = `<h1 id="title">Pay ${escapeHtml(price)}</h1>
<p>${escapeHtml(description)}</p>
${facts.join('\n')}
${isMetered === true && data.options.some(({ signs }) => signs) ? metered : ''}
<div id="actions"><noscript><p>JavaScript is off, so this page cannot open a wallet. You can pay by hand.</p></noscript></div>
<p id="status" role="status"></p>
<section id="answer" aria-labelledby="answer-title" hidden><h2 id="answer-title">Your answer</h2><div id="answer-body"></div></section>
<section id="receipt" aria-labelledby="receipt-title" hidden><h2 id="receipt-title">Receipt</h2>
<dl><dt>For</dt><dd>${what}</dd><dt>Paid</dt><dd id="receipt-amount"></dd><dt>To</dt><dd>${escapeHtml(document.brand.name)} <code id="receipt-recipient"></code></dd>
<dt>From</dt><dd id="receipt-payer"></dd><dt>At</dt><dd id="receipt-time"></dd><dt>Network</dt><dd id="receipt-network"></dd>
<dt>Transaction</dt><dd id="receipt-transaction"></dd></dl></section>
<details id="phone" hidden><summary>Pay with your phone</summary>
<div id="code"></div></details>
${byHand.join('\n')}`;
  const title = `Pay – ${document.brand.name}`;
  const end = renderDataBlock('page-data', data);
  return renderDocument(document, { title, main, end, hasScript: true, base: basePathOf(origin.url) });
}

/** What the page's script asks for before it opens a wallet: its data, with new references. */
export function renderPayData(parts: PayPageParts, request: PageRequest): HtmlPage {
  const data = createData(parts, request, listOfferedSales(parts.terms, request));
  return {
    body: JSON.stringify(data),
    headers: ['Content-Type', 'application/json; charset=utf-8', 'X-Content-Type-Options', 'nosniff'],
  };
}

/** Longer ones scroll, so that what follows stays in sight. */
const LONGEST_INLINE = 300;

/** The request that is bought, as it was sent: the query is part of it. As HTML. */
function renderRequest({ method, sentPath, query }: PageRequest): string {
  const text = escapeHtml(`${method} ${pathWithQuery(sentPath, query)}`);
  if (text.length <= LONGEST_INLINE) return `<code>${text}</code>`;
  return `<pre tabindex="0" role="region" aria-label="Request">${text}</pre>`;
}

function createData(
  { tickets, signedPayments, receiptSeconds, terms }: PayPageParts,
  { route, resource, origin }: PageRequest,
  sales: readonly OfferedSale[],
): PayPageData {
  const base = basePathOf(origin.url);
  const [first, ...others] = sales.map((sale) => createPayOption(sale, { tickets, signedPayments, resource, base }));
  const [term] = terms;
  if (first === undefined || term === undefined) throw new TypeError('a page was asked for that offers nothing');
  return {
    kind: 'pay',
    base,
    options: [first, ...others],
    secondsLeft: term.maxTimeoutSeconds,
    receiptSeconds,
    settlesFirst: route.settle === 'before',
  };
}
