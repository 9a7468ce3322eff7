import type { HtmlPage } from '../paywall/offer/html-page.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { renderDocument, type DocumentParts } from './document.js';
import { escapeHtml } from './escape-html.js';
import { basePathOf, showPrice, type SaleTerms } from './sale-facts.js';
import { listWays, type FrontPageParts } from './ways-to-pay.js';

/** What is sold, at which price, and how to pay: for people. */
export function renderFrontPage(document: DocumentParts, parts: FrontPageParts, originUrl: string): HtmlPage {
  const { terms, routes } = parts;
  const { name } = document.brand;
  const base = basePathOf(originUrl);
  const rows = routes.map((route) => renderRow(route, terms, base)).join('\n');
  const main = `<h1>Pay per request</h1>
<p>What ${escapeHtml(name)} sells. Each request is paid on its own, in ${escapeHtml(terms.token.symbol)} on ${escapeHtml(terms.chain.name)} (chain ${terms.chain.id}). No account is needed.</p>
<table><thead><tr><th scope="col">Request</th><th scope="col">Price</th><th scope="col">What you get</th></tr></thead>
<tbody>
${rows}
</tbody></table>
<h2>Pay in this browser</h2>
<p>Open a link of the table, and pay with a wallet in this browser or on your phone.</p>
${listWays(parts, originUrl)
  .map(
    ({ title, text, code }) => `<h2>${escapeHtml(title)}</h2>\n<p>${escapeHtml(text)}</p>\n${renderCode(title, code)}`,
  )
  .join('\n')}
<h2>For programs</h2>
<p><a href="${escapeHtml(`${base}/llms.txt`)}">llms.txt</a> says the same as plain text. <a href="${escapeHtml(`${base}/docs`)}">The HTTP API</a> lists every field.</p>`;
  return renderDocument(document, { title: name, main, hasScript: false, base });
}

function renderRow(
  { path, methods, priceBaseUnits, description, isMetered }: PaidRoute,
  terms: SaleTerms,
  base: string,
) {
  const isOpenable = methods.includes('GET') && !/[:*]/.test(path);
  const shown = `<code>${escapeHtml(`${methods.join(', ')} ${path}`)}</code>`;
  const request = isOpenable ? `<a href="${escapeHtml(base + path)}">${shown}</a>` : shown;
  const price = `${isMetered === true ? 'at most ' : ''}${showPrice(priceBaseUnits, terms.token)}`;
  const note = methods.includes('GET') ? '' : ' (for programs)';
  return `<tr><td>${request}</td><td>${escapeHtml(price)}</td><td>${escapeHtml(description)}${note}</td></tr>`;
}

function renderCode(title: string, code: string): string {
  return `<pre tabindex="0" role="region" aria-label="${escapeHtml(title)}">${escapeHtml(code)}</pre>`;
}

/** The same as `renderFrontPage`, for language models and agents. */
export function renderLlmsText(name: string, parts: FrontPageParts, originUrl: string): string {
  const { terms, routes } = parts;
  const { payment, chain, token } = terms;
  const list = routes.map(
    ({ path, methods, priceBaseUnits, description, isMetered }) =>
      `- \`${methods.join(', ')} ${originUrl}${path}\`: ${isMetered === true ? 'at most ' : ''}${showPrice(priceBaseUnits, token)}. ${oneLine(description)}`,
  );
  const how = listWays(parts, originUrl).map(
    ({ title, text, code }) => `## ${title}\n\n${text}\n\n\`\`\`\n${code}\n\`\`\``,
  );
  return `# ${name}

> HTTP resources that are paid per request: 402, payment, answer. No account is needed.

Token: ${token.symbol} (${token.decimals} decimals), contract ${token.address}, on ${chain.name}, chain id ${chain.id}. Recipient: ${payment.payTo}.
One payment buys one answer. A 503 means: send the same request again, and do not pay again.

## What is sold

${list.join('\n')}

${how.join('\n\n')}

## Reference

- [OpenAPI document](${originUrl}/docs/openapi.json)
`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
