import { LOCK_MARKER } from '@tollgate/protocol';

import type { TicketPageData } from '../../web/page-data.js';
import type { HtmlPage } from '../paywall/offer/html-page.js';
import { renderDocument, type DocumentParts } from './document.js';
import { escapeHtml, renderDataBlock } from './escape-html.js';
import type { TicketTerms } from './pay-tickets.js';
import { encodeTransferCall, renderFacts, showPrice, type SaleTerms } from './sale-facts.js';

/** The page of a ticket, for the phone: it pays by a locked transfer, and reports the transaction. */
export function renderTicketPage(
  document: DocumentParts,
  terms: SaleTerms,
  { ticket, base, nowMs }: { readonly ticket: TicketTerms; readonly base: string; readonly nowMs: number },
): HtmlPage {
  const { chain, token, payment } = terms;
  const { lock, path, priceBaseUnits, expiresAtMs } = ticket;
  const data: TicketPageData = {
    ...{ kind: 'ticket', chain, token, payTo: payment.payTo, base, lock },
    amountBaseUnits: priceBaseUnits.toString(),
    secondsLeft: Math.floor((expiresAtMs - nowMs) / 1000),
  };
  const calldata = `${encodeTransferCall(payment.payTo, priceBaseUnits)}${LOCK_MARKER.slice(2)}${lock.slice(2)}`;
  const main = `<h1>Pay ${escapeHtml(showPrice(priceBaseUnits, token))}</h1>
<p>For the screen that shows the code. The answer appears there, not here.</p>
${renderFacts(terms, `<code>${escapeHtml(path)}</code>, on the other screen`, priceBaseUnits)}
<div id="actions"><noscript><p>JavaScript is off, so this page cannot open a wallet. You can pay by hand.</p></noscript></div>
<p id="status" role="status"></p>
<details><summary>Pay by hand</summary>
<p>Send a transaction on ${escapeHtml(chain.name)} (chain ${chain.id}) to the token's contract <code>${token.address}</code>, with value 0 and
exactly this calldata. Then enter its hash on the other screen.</p>
<pre tabindex="0" role="region" aria-label="Calldata">${calldata}</pre></details>`;
  const title = `Pay – ${document.brand.name}`;
  return renderDocument(document, { title, main, end: renderDataBlock('page-data', data), hasScript: true, base });
}

/** In place of a ticket that cannot pay: the other screen makes a new one. */
export function renderInvalidTicket(document: DocumentParts, base: string): HtmlPage {
  const main = `<h1>This code has expired</h1>
<p>Nothing was paid. Reload the page on the other screen, and scan its new code.</p>`;
  return renderDocument(document, { title: `Expired – ${document.brand.name}`, main, hasScript: false, base });
}
