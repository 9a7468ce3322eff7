import { isLoopbackHost, ProblemError, readConsoleCookies } from '@tollgate/http';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { attachSession, isForwarded, type ConsoleSessions } from '../sessions/console-sessions.js';

const CONSOLE = /^\/console(?:[/?]|$)/;
/** Only the document itself may be opened by a link of another site: it holds nothing, and asks for all it shows. */
const DOCUMENT = /^\/console\/?(?:\?.*)?$/;
/** A form or a link of another site cannot send this header, and a script of another site would need CORS, which is off. */
const WRITE_HEADER = 'x-tollgate-console';
const PLAIN_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Guards everything below `/console`: the name by which it is reached, the site that asks, and below `/console/operator`
 * the session. Another site whose name leads to this address is refused, also where the address is loopback.
 *
 * @param hosts names besides those of loopback by which the console may be reached
 */
export function guardConsole(server: FastifyInstance, sessions: ConsoleSessions, hosts: readonly string[]): void {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  server.addHook('onRequest', async (request, reply) => {
    if (!CONSOLE.test(request.originalUrl)) return;
    void reply.headers(PLAIN_HEADERS);
    assertHost(request, allowed);
    assertSameSite(request);
    if (!isForwarded(request)) return;
    const session = sessions.find(readConsoleCookies(request.headers.cookie));
    if (session === null) throw refuseSession();
    attachSession(request, session);
  });
}

export function refuseSession(): ProblemError {
  const detail = 'You are not logged in, or your session has ended. Log in with an API key.';
  return new ProblemError({ status: 401, code: 'api_key_refused', detail });
}

/** Whether the browser reached the console by a loopback name. */
export function isOnLoopback({ headers }: FastifyRequest): boolean {
  return isLoopbackHost(nameOf(headers.host));
}

function assertHost(request: FastifyRequest, allowed: ReadonlySet<string>): void {
  const name = nameOf(request.headers.host);
  if (isOnLoopback(request) || allowed.has(name)) return;
  const detail =
    'The console is not served under this host name. Open it by a loopback name, or add the name to CONSOLE_HOSTS.';
  throw new ProblemError({ status: 403, code: 'origin_refused', detail });
}

function assertSameSite({ headers, method, originalUrl }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && origin === undefined && DOCUMENT.test(originalUrl)) return;
  const isOwnOrigin = origin === undefined || (URL.canParse(origin) && new URL(origin).host === headers.host);
  const isOwnSite = site === undefined || site === 'same-origin' || (site === 'none' && isRead);
  const isMarked = isRead || headers[WRITE_HEADER] === '1';
  if (isOwnOrigin && isOwnSite && isMarked) return;
  const detail = 'Another site sent this request: only the pages of the console itself may.';
  throw new ProblemError({ status: 403, code: 'origin_refused', detail });
}

/** The name in a `Host` header, in lower case; empty for one that is none. */
function nameOf(host: string | undefined): string {
  return host !== undefined && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}
