import { methodOfScheme } from '@tollgate/protocol';

import type { PayPageData } from '../../web/page-data.js';
import { markOf } from '../paywall/offer/challenge-template.js';
import type { HtmlPage, PageRequest, RenderHtmlPage } from '../paywall/offer/html-page.js';
import { renderDocument, type DocumentParts, escapeHtml, renderData, renderDataBlock } from './document.js';
import { createPayOption, issueSales, listOfferedSales, type IssuedSale, type OfferedSale } from './offered-sales.js';
import { PageTemplate } from './page-template.js';
import { pathWithQuery, quote, renderByHand } from './pay-by-hand.js';
import type { PayTickets } from './pay-tickets.js';
import { renderFacts, showRoutePrice, type SaleTerms } from './sale-terms.js';

export interface PayPageParts {
  readonly document: DocumentParts;
  readonly terms: readonly SaleTerms[];
  readonly tickets: PayTickets;
  /** The path of `PUBLIC_URL`. */
  readonly base: string;
  /** Whether signed payments are accepted. */
  readonly signedPayments: boolean;
  readonly receiptSeconds: number;
}

/** What renders the page of an unpaid request, or its data. The constant part of a page is rendered once for what is offered. */
export function createPayPages(parts: PayPageParts): RenderHtmlPage {
  const pages = new WeakMap<PageRequest['offered'], PayPage>();
  return (request) => {
    const { offered } = request;
    const page = pages.get(offered) ?? new PayPage(parts, request);
    pages.set(offered, page);
    return request.form === 'page' ? page.render(request) : page.renderData(request);
  };
}

/** The page of a route while the same options are offered. */
class PayPage {
  readonly #sales: readonly OfferedSale[];
  readonly #template: PageTemplate;
  readonly #headers: readonly string[];

  constructor(
    private readonly parts: PayPageParts,
    private readonly sold: Pick<PageRequest, 'route' | 'offered'>,
  ) {
    this.#sales = listOfferedSales(parts.terms, sold);
    const { body, headers } = this.#renderMarked();
    this.#template = new PageTemplate(body);
    this.#headers = headers;
  }

  render(request: PageRequest): HtmlPage {
    const { method, sentPath, origin, query } = request;
    const asked = pathWithQuery(sentPath, query);
    const texts: Record<string, string> = {
      request: renderRequest(`${method} ${asked}`),
      url: escapeHtml(quote(origin.url + asked)),
    };
    issueSales(this.#sales, request, this.parts).forEach(({ reference, lock, ticketUrl }, at) => {
      texts[`reference${at}`] = escapeHtml(reference);
      texts[`lock${at}`] = lock.slice(2);
      texts[`knownReference${at}`] = renderData(reference);
      texts[`ticketUrl${at}`] = renderData(ticketUrl);
    });
    return { body: this.#template.fill(texts), headers: this.#headers };
  }

  /** What the page's script asks for before it opens a wallet: its data, with new references. */
  renderData(request: PageRequest): HtmlPage {
    return {
      body: renderData(this.#createData(issueSales(this.#sales, request, this.parts))),
      headers: ['Content-Type', 'application/json; charset=utf-8', 'X-Content-Type-Options', 'nosniff'],
    };
  }

  /** What it costs, buttons for wallets, and everything as text for who has neither. */
  #renderMarked(): HtmlPage {
    const { document, base } = this.parts;
    const { route } = this.sold;
    const marked = this.#sales.map((_, at): IssuedSale => ({
      reference: markOf(`reference${at}`),
      lock: `0x${markOf(`lock${at}`)}`,
      ticketUrl: markOf(`ticketUrl${at}`),
    }));
    const { description, mimeType, isMetered } = route;
    const price = showRoutePrice(
      route,
      this.#sales.map(({ terms }) => terms),
    );
    const what = `${markOf('request')} (${escapeHtml(mimeType)})`;
    const facts = this.#sales.map(({ terms, price: total, idEnd }) => renderFacts(terms, { what, total, idEnd }));
    const isOnly = marked.length === 1;
    const byHand = this.#sales.map((sale, at) => renderByHand(sale, marked[at] as IssuedSale, markOf('url'), isOnly));
    const data = this.#createData(marked.map((sale, at) => ({ ...sale, reference: markOf(`knownReference${at}`) })));
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
    return renderDocument(document, { title, main, end, hasScript: true, base });
  }

  #createData(issued: readonly IssuedSale[]): PayPageData {
    const { base, terms, receiptSeconds, signedPayments } = this.parts;
    const [first, ...others] = this.#sales.map((sale, at) =>
      createPayOption(sale, issued[at] as IssuedSale, signedPayments),
    );
    const [term] = terms;
    if (first === undefined || term === undefined) throw new TypeError('a page was asked for that offers nothing');
    return {
      kind: 'pay',
      base,
      options: [first, ...others],
      secondsLeft: term.maxTimeoutSeconds,
      receiptSeconds,
      settlesFirst: this.sold.route.settle === 'before',
    };
  }
}

/** Longer ones scroll, so that what follows stays in sight. */
const LONGEST_INLINE = 300;

/** The request that is bought, as it was sent: the query is part of it. As HTML. */
function renderRequest(request: string): string {
  const text = escapeHtml(request);
  if (text.length <= LONGEST_INLINE) return `<code>${text}</code>`;
  return `<pre tabindex="0" role="region" aria-label="Request">${text}</pre>`;
}
