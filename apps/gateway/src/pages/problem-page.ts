import { titleOf, type Problem } from '@tollgate/http';
import type { FastifyRequest } from 'fastify';

import { prefersHtml, type HtmlPage } from '../paywall/offer/html-page.js';
import type { ReadPublicOrigin } from '../paywall/offer/public-origin.js';
import { type DocumentParts, escapeHtml, renderDocument } from './document.js';
import { type FrontPageParts, listWays, renderSold, renderWays } from './front-page.js';
import { basePathOf } from './sale-terms.js';

export interface ProblemPageParts {
  readonly document: DocumentParts;
  readonly list: () => FrontPageParts;
  readonly readOrigin: ReadPublicOrigin;
  /** Whether the front page is served, which lists what is sold. */
  readonly hasFront: boolean;
}

/** A small page for a browser that opens an address and gets an error; null for every other client, which gets the JSON. */
export function renderProblemPage(parts: ProblemPageParts, request: FastifyRequest, problem: Problem): HtmlPage | null {
  if (!prefersHtml(request.raw.headers)) return null;
  const { document, list, readOrigin, hasFront } = parts;
  const listed = list();
  const { url } = readOrigin(request);
  const base = basePathOf(url);
  const routes = problem.status === 405 ? listed.routes.filter(({ path }) => path === request.routeOptions.url) : [];
  const [way] = listWays({ ...listed, routes }, url);
  const title = nameProblem(problem, request.method);
  const main = `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(problem.detail)}</p>
${way === undefined ? '' : `${renderSold({ ...listed, routes }, base)}\n${renderWays([way])}`}
${hasFront ? `<p><a href="${escapeHtml(`${base}/`)}">What is sold here</a></p>` : ''}
<p class="hint">Status ${problem.status}, <code>${problem.code}</code>, request <code>${escapeHtml(request.id)}</code></p>`;
  return renderDocument(document, { title: `${title} – ${document.brand.name}`, main, hasScript: false, base });
}

function nameProblem({ status }: Problem, method: string): string {
  if (status === 404) return 'There is nothing at this address';
  return status === 405 && method === 'GET' ? 'A browser cannot open this address' : titleOf(status);
}
