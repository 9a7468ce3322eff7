import { formatTokenAmount } from '@tollgate/protocol';

import type { HtmlPage } from '../paywall/offer/html-page.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { priceOf } from '../paywall/route/price-of.js';
import { renderDocument, type DocumentParts, escapeHtml } from './document.js';
import { createExampleRequest } from './example-request.js';
import { basePathOf, showChain, showRoutePrice, termsOfRoute, type SaleTerms } from './sale-terms.js';

/** What is sold, at which price, and how to pay: for people. */
export function renderFrontPage(document: DocumentParts, parts: FrontPageParts, originUrl: string): HtmlPage {
  const { terms, routes } = parts;
  const { name } = document.brand;
  const base = basePathOf(originUrl);
  const main =
    routes.length === 0
      ? `<h1>Nothing is sold here</h1>\n<p>${escapeHtml(name)} has no paid routes.</p>`
      : `<h1>Pay per request</h1>
<p>What ${escapeHtml(name)} sells. Each request is paid on its own, in ${listTokens(terms)}. No account is needed.</p>
${renderSold(parts, base)}
<h2>Pay in this browser</h2>
<p>Open a link of the table, and pay with a wallet in this browser or on your phone.</p>
${renderWays(listWays(parts, originUrl))}
<h2>For programs</h2>
<p><a href="${escapeHtml(`${base}/llms.txt`)}">llms.txt</a> says the same as plain text. <a href="${escapeHtml(`${base}/docs`)}">The HTTP API</a> lists every field.</p>`;
  return renderDocument(document, { title: name, main, hasScript: false, base });
}

/** As HTML. Further recipients of a token change nothing for a payer. */
function listTokens(terms: readonly SaleTerms[]): string {
  const tokens = terms.map(({ token, chain }) => `${escapeHtml(token.symbol)} on ${showChain(chain)}`);
  return [...new Set(tokens)].join(' or ');
}

/** A table of the routes. */
export function renderSold({ terms, routes }: FrontPageParts, base: string): string {
  return `<table><thead><tr><th scope="col">Request</th><th scope="col">Price</th><th scope="col">What you get</th></tr></thead>
<tbody>
${routes.map((route) => renderRow(route, terms, base)).join('\n')}
</tbody></table>`;
}

export function renderWays(ways: readonly WayToPay[]): string {
  return ways
    .map(
      ({ title, text, code }) =>
        `<h2>${escapeHtml(title)}</h2>\n<p>${escapeHtml(text)}</p>\n${renderCode(title, code)}`,
    )
    .join('\n');
}

function renderRow(route: PaidRoute, terms: readonly SaleTerms[], base: string): string {
  const { path, methods, description } = route;
  const isOpenable = methods.includes('GET') && !/[:*]/.test(path);
  const shown = `<code>${escapeHtml(`${methods.join(', ')} ${path}`)}</code>`;
  const request = isOpenable ? `<a href="${escapeHtml(base + path)}">${shown}</a>` : shown;
  const note = methods.includes('GET') ? '' : ' (for programs)';
  return `<tr><td>${request}</td><td>${escapeHtml(showRoutePrice(route, termsOfRoute(terms, route)))}</td><td>${escapeHtml(description)}${note}</td></tr>`;
}

function renderCode(title: string, code: string): string {
  return `<pre tabindex="0" role="region" aria-label="${escapeHtml(title)}">${escapeHtml(code)}</pre>`;
}

/** The same as `renderFrontPage`, for language models and agents. */
export function renderLlmsText(name: string, parts: FrontPageParts, originUrl: string): string {
  const { terms, routes } = parts;
  const list = routes.map((route) => {
    const { path, methods, description } = route;
    return `- \`${methods.join(', ')} ${originUrl}${path}\`: ${showRoutePrice(route, termsOfRoute(terms, route))}. ${oneLine(description)}`;
  });
  const how = listWays(parts, originUrl).map(
    ({ title, text, code }) => `## ${title}\n\n${text}\n\n\`\`\`\n${code}\n\`\`\``,
  );
  return `# ${name}

> HTTP resources that are paid per request: 402, payment, answer. No account is needed.

${terms.map(describeTerms).join('\n')}
One payment buys one answer. A 503 means: send the same request again, and do not pay again.

## What is sold

${list.length === 0 ? 'Nothing is sold here.' : list.join('\n')}

${how.join('\n\n')}

## Reference

- [OpenAPI document](${originUrl}/docs/openapi.json)
`;
}

function describeTerms({ token, chain, option }: SaleTerms): string {
  return `Token: ${token.symbol} (${token.decimals} decimals), contract ${token.address}, on ${chain.name}, chain id ${chain.id}. Recipient: ${option.payTo}.`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** What is sold, by whom, for the pages that list it. */
export interface FrontPageParts {
  readonly terms: readonly SaleTerms[];
  readonly routes: readonly PaidRoute[];
  readonly signs: boolean;
}

/** One way to pay from a program, as text. */
export interface WayToPay {
  readonly title: string;
  readonly text: string;
  readonly code: string;
}

/** The ways to pay the first route, so that the commands can be pasted. */
export function listWays({ terms, routes, signs }: FrontPageParts, originUrl: string): WayToPay[] {
  const example = createExampleRequest(routes, originUrl);
  if (example === null) return [];
  const { method, url, route } = example;
  const [curl, init] = method === 'GET' ? ['curl', ''] : [`curl -X ${method}`, `, { method: '${method}' }`];
  const [first] = termsOfRoute(terms, route);
  if (first === undefined) return [];
  const { option, chain, token } = first;
  const { network } = option.chain;
  const asset = `{ network: '${network}', chainId: ${chain.id}, address: '${token.address}', decimals: ${token.decimals} }`;
  const price = formatTokenAmount(priceOf(route, option), token.decimals);
  const signed: WayToPay = {
    title: 'With @x402/fetch',
    text: 'The client signs, and the gateway settles the payment: no gas.',
    code: `import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { registerExactEvmScheme } from '@x402/evm/exact/client';

const client = new x402Client();
registerExactEvmScheme(client, { signer: account });
const response = await wrapFetchWithPayment(fetch, client)('${url}'${init});`,
  };
  return [
    {
      title: 'With curl',
      text: 'Ask for the price, send the transfer that it names, and ask again with the hash of the transaction.',
      code: `# 402: accepts[0] has payTo, asset, maxAmountRequired and extra.reference
${curl} -i '${url}'
# After the transfer:
PROOF='{"x402Version":1,"scheme":"exact","network":"${network}","payload":{"txHash":"0xHASH","reference":"REFERENCE"}}'
${curl} -H "X-Payment: $(printf %s "$PROOF" | base64 | tr -d '\\n')" '${url}'`,
    },
    {
      title: 'With @tollgate/client',
      text: 'It pays at most what you allow, and never twice for one request.',
      code: `import { createWallet, fetchWithPayment } from '@tollgate/client';

const wallet = createWallet({ account, rpcUrl, chainId: ${chain.id} });
const pay = fetchWithPayment(fetch, wallet, {
  assets: [${asset}],
  maxAmount: '${price}',
});
const response = await pay('${url}'${init});`,
    },
    ...(signs ? [signed] : []),
    {
      title: 'As an agent',
      text: 'Any x402 or MPP client works. Read the price from the 402, pay only what your policy allows, and keep extra.reference, which gets the same answer again.',
      code: `${method} ${url}`,
    },
  ];
}
