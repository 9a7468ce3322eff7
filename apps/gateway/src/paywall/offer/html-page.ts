import type { IncomingHttpHeaders } from 'node:http';

import type { PageDataType } from '../../../web/page-data.js';
import type { PaidRoute } from '../route/paid-route.js';
import type { PublicOrigin } from './public-origin.js';
import type { SoldOption } from './sold-option.js';

/** A page for people. */
export interface HtmlPage {
  /** ASCII. */
  readonly body: string;
  /** Alternating names and values, the content type included. */
  readonly headers: readonly string[];
}

/** What a client that is shown pages asks for: the page itself, or new data for one that is open. */
export type PageForm = 'page' | 'data';

/** An unpaid request that gets a page, or the data of one. */
export interface PageRequest {
  readonly form: PageForm;
  readonly route: PaidRoute;
  readonly method: string;
  /** The path in canonical form. */
  readonly resource: string;
  /** The path that the upstream is asked for. */
  readonly sentPath: string;
  readonly origin: PublicOrigin;
  /** The options of its challenge, in the seller's order, and a reference for each. */
  readonly offered: readonly SoldOption[];
  readonly references: readonly string[];
  /** As the client sent it, without `?`. */
  readonly query: string;
}

export type RenderHtmlPage = (request: PageRequest) => HtmlPage;

const PAGE_DATA: PageDataType = 'application/vnd.tollgate.page+json';

/** Null for a program, which gets the JSON of a 402. */
export function pageFormOf(headers: IncomingHttpHeaders): PageForm | null {
  if (headers.accept === PAGE_DATA) return 'data';
  return prefersHtml(headers) ? 'page' : null;
}

/**
 * Whether a browser opens the URL as a page: `Accept` prefers HTML to JSON, and `Sec-Fetch-Dest`, if it is sent, is
 * `document`. Nearly all clients are programs, whose `Accept` does not name HTML, so that is checked first.
 */
export function prefersHtml(headers: IncomingHttpHeaders): boolean {
  const { accept } = headers;
  if (accept === undefined || !/text\/html/i.test(accept)) return false;
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') return false;
  return qualityOf('text/html', accept) > qualityOf('application/json', accept);
}

/**
 * The quality that the header gives a type: by its most specific range, 0 without one (RFC 9110, section 12.5.1). By
 * hand, since libraries put types in an order and do not tell which two have the same quality.
 */
function qualityOf(type: string, accept: string): number {
  const ranges = [type, `${type.split('/')[0]}/*`, '*/*'];
  let best = { rank: ranges.length, quality: 0 };
  for (const part of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim());
    const rank = ranges.indexOf(range);
    if (rank === -1 || rank >= best.rank) continue;
    best = { rank, quality: readQuality(parameters) };
  }
  return best.quality;
}

function readQuality(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const quality = Number(given.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 0;
}
