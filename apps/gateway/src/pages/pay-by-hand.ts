import { encodeLockedTransfer } from '@tollgate/protocol';

import { escapeHtml } from './document.js';
import type { IssuedSale, OfferedSale } from './offered-sales.js';

/**
 * How to pay without the page's buttons. Without JavaScript there is no field for the hash: a form that sends it would
 * need a rule of its own in the page's policy, and would carry the reference through the browser's history.
 *
 * @param quotedUrl the request's URL as HTML, quoted for a shell
 * @param isOnly whether nothing else is offered, so that the option need not be named
 */
export function renderByHand(
  { terms, sold, idEnd, price }: OfferedSale,
  { reference, lock }: IssuedSale,
  quotedUrl: string,
  isOnly: boolean,
): string {
  const { option, token, chain, maxTimeoutSeconds } = terms;
  const { priceBaseUnits } = sold;
  const locked = { to: option.payTo, amountBaseUnits: priceBaseUnits, lock };
  const minutes = Math.max(1, Math.floor(maxTimeoutSeconds / 60));
  const named = isOnly ? '' : `: ${escapeHtml(`${price} on ${chain.name}`)}`;
  return `<details id="manual${idEnd}"><summary>Pay by hand${named}</summary>
<p>Within ${minutes} minute${minutes === 1 ? '' : 's'}, send a transaction on ${escapeHtml(chain.name)} (chain ${chain.id}) to the token's contract
<code>${token.address}</code>, with value 0 and exactly this calldata. It transfers ${priceBaseUnits} base units to <code>${option.payTo}</code>,
locked to this page.</p>
<pre id="calldata${idEnd}" tabindex="0" role="region" aria-label="Calldata${named}">${encodeLockedTransfer(locked)}</pre>
<div id="by-hand${idEnd}"></div>
<p>Or get the answer in a shell, with the hash of your transaction in place of <code>0xHASH</code>:</p>
<pre tabindex="0" role="region" aria-label="Command${named}">${escapeHtml(renderCommand(option.chain.network, reference))} ${quotedUrl}</pre>
</details>`;
}

export function pathWithQuery(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** The command without the URL, which follows. */
function renderCommand(network: string, reference: string): string {
  const proof = { x402Version: 1, scheme: 'exact', network, payload: { txHash: '0xHASH', reference } };
  const header = `X-Payment: $(printf %s ${quote(JSON.stringify(proof))} | base64 | tr -d '\\n')`;
  return `curl -H "${header}"`;
}

/** One argument of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
