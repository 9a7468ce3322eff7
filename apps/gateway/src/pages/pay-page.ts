import { encodeLockedTransfer, lockOf, methodOfScheme } from '@tollgate/protocol';

import type { PayPageData } from '../../web/page-data.js';
import type { HtmlPage, PageRequest } from '../paywall/offer/html-page.js';
import type { SoldOption } from '../paywall/offer/sold-option.js';
import { renderDocument, type DocumentParts, escapeHtml, renderDataBlock } from './document.js';
import type { PayTickets } from './pay-tickets.js';
import { basePathOf, nameChain, renderFacts, showRoutePrice, type SaleTerms } from './sale-terms.js';

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
  const { document } = parts;
  const { route, origin } = request;
  const sale = findSale(parts, request);
  const { terms } = sale;
  const { description, mimeType, isMetered } = route;
  const base = basePathOf(origin.url);
  const data = createData(parts, request, sale, base);
  const price = showRoutePrice(route, [terms]);
  const what = `${renderRequest(request)} (${escapeHtml(mimeType)})`;
  const metered = `<p class="hint">With a signature by ${methodOfScheme('upto')?.title} you pay what the answer costs. Every other way to pay costs all of it.</p>`;
  const main = `<h1 id="title">Pay ${escapeHtml(price)}</h1>
<p>${escapeHtml(description)}</p>
${renderFacts(terms, what, price)}
${isMetered === true && data.signs ? metered : ''}
<div id="actions"><noscript><p>JavaScript is off, so this page cannot open a wallet. You can pay by hand.</p></noscript></div>
<p id="status" role="status"></p>
<section id="answer" aria-labelledby="answer-title" hidden><h2 id="answer-title">Your answer</h2><div id="answer-body"></div></section>
<section id="receipt" aria-labelledby="receipt-title" hidden><h2 id="receipt-title">Receipt</h2>
<dl><dt>For</dt><dd>${what}</dd><dt>Paid</dt><dd id="receipt-amount"></dd><dt>To</dt><dd>${escapeHtml(document.brand.name)} <code id="receipt-recipient"></code></dd>
<dt>From</dt><dd id="receipt-payer"></dd><dt>At</dt><dd id="receipt-time"></dd><dt>Network</dt><dd>${nameChain(terms.chain)}</dd>
<dt>Transaction</dt><dd id="receipt-transaction"></dd></dl></section>
<details id="phone" hidden><summary>Pay with your phone</summary>
<div id="code"></div></details>
${renderByHand(sale, request)}`;
  const title = `Pay – ${document.brand.name}`;
  return renderDocument(document, { title, main, end: renderDataBlock('page-data', data), hasScript: true, base });
}

/** Longer ones scroll, so that what follows stays in sight. */
const LONGEST_INLINE = 300;

/** The request that is bought, as it was sent: the query is part of it. As HTML. */
function renderRequest({ method, sentPath, query }: PageRequest): string {
  const text = escapeHtml(`${method} ${pathWithQuery(sentPath, query)}`);
  if (text.length <= LONGEST_INLINE) return `<code>${text}</code>`;
  return `<pre tabindex="0" role="region" aria-label="Request">${text}</pre>`;
}

function pathWithQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** The sale that the page offers. */
interface PageSale {
  readonly terms: SaleTerms;
  readonly sold: SoldOption;
  readonly reference: string;
}

/** The first of the offered options. */
function findSale({ terms }: PayPageParts, { offered, references }: PageRequest): PageSale {
  const [sold] = offered;
  const [reference] = references;
  const own = terms.find(({ option }) => option.name === sold?.judged.option.name);
  if (sold === undefined || reference === undefined || own === undefined)
    throw new TypeError('a page was asked for that offers nothing');
  return { terms: own, sold, reference };
}

function createData(
  parts: PayPageParts,
  { route, resource }: PageRequest,
  { terms, sold, reference }: PageSale,
  base: string,
): PayPageData {
  const { option, chain, token, maxTimeoutSeconds } = terms;
  const { payTo } = option;
  const { network } = option.chain;
  const { priceBaseUnits } = sold;
  const ticket = parts.tickets.create({
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
    kind: 'pay',
    chain,
    token,
    payTo,
    network,
    reference,
    base,
    amountBaseUnits: priceBaseUnits.toString(),
    secondsLeft: maxTimeoutSeconds,
    ticketUrl: ticket === null ? null : `${base}/pay/${ticket}`,
    signs: parts.signedPayments && sold.facts.exact === 'eip3009',
    receiptSeconds: parts.receiptSeconds,
    settlesFirst: route.settle === 'before',
  };
}

/**
 * How to pay without this page's buttons. Without JavaScript there is no field for the hash: a form that sends it would
 * need a rule of its own in the page's policy, and would carry the reference through the browser's history.
 */
function renderByHand({ terms, sold, reference }: PageSale, { sentPath, origin, query }: PageRequest): string {
  const { option, token, chain, maxTimeoutSeconds } = terms;
  const { priceBaseUnits } = sold;
  const locked = { to: option.payTo, amountBaseUnits: priceBaseUnits, lock: lockOf(reference) };
  const url = origin.url + pathWithQuery(sentPath, query);
  const minutes = Math.max(1, Math.floor(maxTimeoutSeconds / 60));
  return `<details id="manual"><summary>Pay by hand</summary>
<p>Within ${minutes} minute${minutes === 1 ? '' : 's'}, send a transaction on ${escapeHtml(chain.name)} (chain ${chain.id}) to the token's contract
<code>${token.address}</code>, with value 0 and exactly this calldata. It transfers ${priceBaseUnits} base units to <code>${option.payTo}</code>,
locked to this page.</p>
<pre id="calldata" tabindex="0" role="region" aria-label="Calldata">${encodeLockedTransfer(locked)}</pre>
<div id="by-hand"></div>
<p>Or get the answer in a shell, with the hash of your transaction in place of <code>0xHASH</code>:</p>
<pre tabindex="0" role="region" aria-label="Command">${escapeHtml(renderCommand(option.chain.network, reference, url))}</pre>
</details>`;
}

function renderCommand(network: string, reference: string, url: string): string {
  const proof = { x402Version: 1, scheme: 'exact', network, payload: { txHash: '0xHASH', reference } };
  const header = `X-Payment: $(printf %s ${quote(JSON.stringify(proof))} | base64 | tr -d '\\n')`;
  return `curl -H "${header}" ${quote(url)}`;
}

/** One argument of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
