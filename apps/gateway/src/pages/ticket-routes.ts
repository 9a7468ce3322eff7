import { clientNetwork, handleError, RateLimit, sendProblem, type Problem, problemOf } from '@tollgate/http';
import { encodeLockedTransfer, isHash, isRecord, lockOf, readReference, lowerHex } from '@tollgate/protocol';
import { StoreUnavailableError } from '@tollgate/redis';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { TicketPageData } from '../../web/page-data.js';
import type { LockQuestions } from '../options/lock-questions.js';
import type { HtmlPage } from '../paywall/offer/html-page.js';
import type { ReadPublicOrigin } from '../paywall/offer/public-origin.js';
import { type DocumentParts, sendPage, renderDocument, escapeHtml, renderDataBlock } from './document.js';
import type { PayTickets, TicketTerms } from './pay-tickets.js';
import { LOOK_EVERY_MS, type HashReport, type ReportedHashes } from './reported-hashes.js';
import { basePathOf, type SaleTerms, renderFacts, showPrice } from './sale-terms.js';

export interface TicketRoutesParts {
  readonly document: DocumentParts;
  readonly terms: readonly SaleTerms[];
  readonly tickets: PayTickets;
  readonly reports: ReportedHashes;
  readonly locks: LockQuestions;
  readonly readOrigin: ReadPublicOrigin;
}

const LARGEST_BODY_BYTES = 1024;
/** One page asks every 1.5 s, and several people may share an address. */
const QUESTIONS_PER_MINUTE = 600;
const REPORTS_PER_MINUTE = 30;
/** A transaction that was sent just before the ticket expired is still reported. */
const REPORT_GRACE_MS = 600_000;

const INVALID: Problem = {
  status: 400,
  code: 'request_invalid',
  detail: 'The body is not the JSON that this path takes.',
};
const EXPIRED: Problem = { status: 404, code: 'not_found', detail: 'This ticket is not valid, or has expired.' };
const AWAY: Problem = {
  status: 503,
  code: 'service_unavailable',
  detail: 'Redis does not answer.',
  retryAfterMs: 2000,
};

const FULL: Problem = {
  status: 503,
  code: 'service_unavailable',
  detail: 'Too many transactions are reported, and this one has not paid yet. Enter its hash on the other screen.',
  retryAfterMs: LOOK_EVERY_MS,
};

/**
 * `GET /pay/<ticket>`: the page that pays from a phone. `POST /pay/<ticket>`: the phone reports its transaction, and
 * learns nothing. `POST /pay`: the payer asks for the reported transactions, with the reference in the body, where no
 * log and no history has it.
 */
export async function registerTicketRoutes(server: FastifyInstance, parts: TicketRoutesParts): Promise<void> {
  const [questions, reported] = [new RateLimit(QUESTIONS_PER_MINUTE), new RateLimit(REPORTS_PER_MINUTE)];
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    scope.setErrorHandler(handleError);
    const config = { access: 'free' } as const;
    const options = { config, bodyLimit: LARGEST_BODY_BYTES };
    scope.get<TicketRequest>('/pay/:ticket', { config, exposeHeadRoute: false }, (request, reply) =>
      showTicket(parts, request, reply),
    );
    scope.post<TicketRequest>('/pay/:ticket', options, (request, reply) =>
      limited(reported, request, reply, () => report(parts, request, reply)),
    );
    scope.post('/pay', options, (request, reply) =>
      limited(questions, request, reply, () => answerReports(parts, request, reply)),
    );
  });
}

interface TicketRequest {
  Params: { ticket: string };
}

function showTicket(
  parts: TicketRoutesParts,
  request: FastifyRequest<TicketRequest>,
  reply: FastifyReply,
): FastifyReply {
  const base = basePathOf(parts.readOrigin(request).url);
  const nowMs = Date.now();
  const read = readTicket(parts, request.params.ticket);
  if (read === null || read.ticket.expiresAtMs <= nowMs) {
    return sendPage(reply.code(404), renderInvalidTicket(parts.document, base));
  }
  const { ticket, terms } = read;
  return sendPage(reply, renderTicketPage(parts.document, terms, { ticket, base, nowMs }));
}

async function report(
  parts: TicketRoutesParts,
  request: FastifyRequest<TicketRequest>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const read = readTicket(parts, request.params.ticket);
  if (read === null || read.ticket.expiresAtMs + REPORT_GRACE_MS <= Date.now()) return sendProblem(reply, EXPIRED);
  const txHash = readField(request.body, 'txHash');
  if (!isHash(txHash)) return sendProblem(reply, INVALID);
  const reported = { lock: read.ticket.lock, txHash, network: clientNetwork(request.ip) };
  const isTaken = (await parts.reports.report(reported)) || (await takePaid(parts, reported, read, request));
  if (!isTaken) return sendProblem(reply, FULL);
  // The same for every report that is taken: whether others were made is nothing that a ticket's holder may know.
  return reply.code(202).header('Cache-Control', 'no-store').send({ accepted: true });
}

/** Beyond the bounds of what strangers may claim, a transaction is noted that has paid: at most one look for each pause. */
async function takePaid(
  { reports, locks }: TicketRoutesParts,
  { lock, txHash }: HashReport,
  { ticket: { priceBaseUnits }, terms: { option } }: ReadTicket,
  { id: requestId, ip: clientAddress }: FastifyRequest,
): Promise<boolean> {
  if (!(await reports.mayLook(lock))) return false;
  const isPaid = await locks.isPaid({ lock, txHash, option: option.name, priceBaseUnits, requestId, clientAddress });
  return isPaid && reports.notePaid(lock, txHash);
}

async function answerReports(
  { reports }: TicketRoutesParts,
  { body }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reference = readField(body, 'reference');
  // The reference is the preimage of the lock that a ticket holds, so a ticket is not enough to ask.
  if (typeof reference !== 'string' || readReference(reference) === null) return sendProblem(reply, INVALID);
  return reply.header('Cache-Control', 'no-store').send({ txHashes: await reports.find(lockOf(reference)) });
}

interface ReadTicket {
  readonly ticket: TicketTerms;
  /** Of the option that it is for. */
  readonly terms: SaleTerms;
}

/** Null for a ticket of another gateway, or for terms that the settings no longer have. */
function readTicket({ tickets, terms }: TicketRoutesParts, text: string): ReadTicket | null {
  const ticket = tickets.read(text);
  if (ticket === null) return null;
  const current = terms.find(
    ({ option }) =>
      ticket.chainId === option.chain.id &&
      ticket.network === option.chain.network &&
      ticket.asset === lowerHex(option.asset) &&
      ticket.payTo === lowerHex(option.payTo),
  );
  return current === undefined ? null : { ticket, terms: current };
}

async function limited(
  limit: RateLimit,
  request: FastifyRequest,
  reply: FastifyReply,
  serve: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const waitMs = limit.take(request.ip);
  if (waitMs > 0) return sendProblem(reply, { ...problemOf(429), retryAfterMs: waitMs });
  try {
    return await serve();
  } catch (error) {
    if (error instanceof StoreUnavailableError) return sendProblem(reply, AWAY);
    throw error;
  }
}

/** A field of a JSON object; undefined for any other body. */
function readField(body: unknown, name: string): unknown {
  if (typeof body !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}

/** The page of a ticket, for the phone: it pays by a locked transfer, and reports the transaction. */
function renderTicketPage(
  document: DocumentParts,
  terms: SaleTerms,
  { ticket, base, nowMs }: { readonly ticket: TicketTerms; readonly base: string; readonly nowMs: number },
): HtmlPage {
  const { chain, token, option } = terms;
  const { lock, path, priceBaseUnits, expiresAtMs } = ticket;
  const data: TicketPageData = {
    kind: 'ticket',
    chain,
    token,
    payTo: option.payTo,
    base,
    lock,
    amountBaseUnits: priceBaseUnits.toString(),
    secondsLeft: Math.floor((expiresAtMs - nowMs) / 1000),
  };
  const calldata = encodeLockedTransfer({ to: option.payTo, amountBaseUnits: priceBaseUnits, lock });
  const price = showPrice(priceBaseUnits, token);
  const main = `<h1>Pay ${escapeHtml(price)}</h1>
<p>For the screen that shows the code. The answer appears there, not here.</p>
${renderFacts(terms, { what: `<code>${escapeHtml(path)}</code>, on the other screen`, total: price, idEnd: '' })}
<div id="actions"><noscript><p>JavaScript is off, so this page cannot open a wallet. You can pay by hand.</p></noscript></div>
<p id="status" role="status"></p>
<details><summary>Pay by hand</summary>
<p>Send a transaction on ${escapeHtml(chain.name)} (chain ${chain.id}) to the token's contract <code>${token.address}</code>, with value 0 and
exactly this calldata. Then enter its hash on the other screen.</p>
<pre id="calldata" tabindex="0" role="region" aria-label="Calldata">${calldata}</pre></details>`;
  const title = `Pay – ${document.brand.name}`;
  return renderDocument(document, { title, main, end: renderDataBlock('page-data', data), hasScript: true, base });
}

/** In place of a ticket that cannot pay: the other screen makes a new one. */
function renderInvalidTicket(document: DocumentParts, base: string): HtmlPage {
  const main = `<h1>This code has expired</h1>
<p>If you have not paid with it, reload the page on the other screen, and scan its new code.</p>`;
  return renderDocument(document, { title: `Expired – ${document.brand.name}`, main, hasScript: false, base });
}
