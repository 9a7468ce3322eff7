import { Logger } from '@nestjs/common';
import { sendWebFile, type Problem } from '@tollgate/http';
import type { RedisClient } from '@tollgate/redis';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { GatewayEnvironment } from '../config/gateway.config.js';
import type { LockQuestions } from '../options/lock-questions.js';
import type { RenderHtmlPage } from '../paywall/offer/html-page.js';
import { createPublicOrigin } from '../paywall/offer/public-origin.js';
import type { ChallengeSettings } from '../paywall/offer/sold-option.js';
import { overlap, parsePathPattern } from '../paywall/route/paid-path.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { ANSWER_FRAME_PATH, renderAnswerFrame } from './answer-frame.js';
import { type DocumentParts, sendPage } from './document.js';
import { type FrontPageParts, renderFrontPage, renderLlmsText } from './front-page.js';
import { readBrand, loadTestWallet, readWebFiles, ASSETS_PATH } from './page-files.js';
import { createPayPages } from './pay-page.js';
import { PayTickets } from './pay-tickets.js';
import { renderProblemPage } from './problem-page.js';
import { ReportedHashes } from './reported-hashes.js';
import { basePathOf, saleTermsOf } from './sale-terms.js';
import { registerTicketRoutes } from './ticket-routes.js';

export interface PagesParts {
  readonly environment: GatewayEnvironment;
  readonly routes: readonly PaidRoute[];
  readonly redis: RedisClient;
  readonly locks: LockQuestions;
  /** Null where there are no pages. */
  readonly document: DocumentParts | null;
  readonly settings: ChallengeSettings;
}

/**
 * Reads what all pages need. Null where they are turned off or not built.
 *
 * @throws ConfigurationError for a logo or a test wallet that must not be served
 */
export async function preparePages(
  environment: Pick<GatewayEnvironment, 'pages' | 'options'>,
): Promise<DocumentParts | null> {
  // Read in any case, so that a wrong setting is found.
  const [brand, testWallet] = [readBrand(environment.pages), await loadTestWallet(environment)];
  if (!environment.pages.pages) return null;
  const files = readWebFiles();
  return files === null ? null : { files, brand, testWallet };
}

/**
 * Registers the pages for people, but for those whose paths a seller's route has. Returns what renders the page of an
 * unpaid request; null where every client gets the JSON.
 */
export async function registerPages(server: FastifyInstance, parts: PagesParts): Promise<RenderHtmlPage | null> {
  const { environment, routes, redis, locks, document, settings } = parts;
  const logger = new Logger('Pages');
  if (document === null) {
    if (environment.pages.pages) logger.warn('The pages are not built, so browsers get JSON. Run `npm run build`.');
    return null;
  }
  const { files, testWallet } = document;
  if (testWallet !== null) logger.log('TEST_WALLET: pages pay without asking, with accounts of the local anvil.');
  const readOrigin = createPublicOrigin(environment.server.publicUrl);
  const { served, notices } = findOwnPaths(routes);
  for (const notice of notices) logger.warn(notice);
  const terms = saleTermsOf(environment);
  const { signedPayments, options } = settings;
  const signs = (): boolean => signedPayments && options.some(({ agreement }) => agreement.takesAuthorizations);
  const list = (): FrontPageParts => ({ terms, routes, signs: signs() });
  const hasFront = served.has('front');
  const onProblem = { document, list, readOrigin, hasFront };
  server.decorate('renderProblemPage', (request: FastifyRequest, problem: Problem) =>
    renderProblemPage(onProblem, request, problem),
  );
  if (hasFront) {
    serve(server, '/', (request, reply) => sendPage(reply, renderFrontPage(document, list(), readOrigin(request).url)));
  }
  if (served.has('llms')) {
    serve(server, '/llms.txt', (request, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .header('Cache-Control', 'no-cache')
        .send(renderLlmsText(document.brand.name, list(), readOrigin(request).url)),
    );
  }
  if (!served.has('pay')) return null;
  const { logo } = document.brand;
  for (const file of [
    files.script,
    ...(logo === null ? [] : [logo]),
    ...(testWallet === null ? [] : [testWallet.file]),
  ]) {
    serve(server, file.path, (request, reply) => sendWebFile(request, reply, file));
  }
  const frame = renderAnswerFrame(files);
  serve(server, ANSWER_FRAME_PATH, (_request, reply) => sendPage(reply, frame));
  const tickets = new PayTickets(environment.challenge.challengeSecret);
  const reports = new ReportedHashes(redis);
  await registerTicketRoutes(server, { document, terms, tickets, reports, locks, readOrigin });
  const receiptSeconds = environment.acceptance.boundRedemptionWindowSeconds;
  const base = basePathOf(environment.server.publicUrl ?? '');
  return createPayPages({ document, terms, tickets, base, signedPayments, receiptSeconds });
}

function serve(
  server: FastifyInstance,
  path: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  server.get(path, { config: { access: 'free' } }, handler);
}

/** The pages by the paths that each needs. */
const OWN = {
  front: { what: 'The front page (/)', paths: ['/'] },
  llms: { what: '/llms.txt', paths: ['/llms.txt'] },
  pay: {
    what: 'The pay page, and paying from a phone (/pay)',
    paths: ['/pay', '/pay/:ticket', `${ASSETS_PATH}/:file`],
  },
} as const;

export type OwnPage = keyof typeof OWN;

export interface OwnPaths {
  readonly served: ReadonlySet<OwnPage>;
  /** For each page that a seller's route replaces, one sentence for the log. */
  readonly notices: readonly string[];
}

/** Which pages can be served: a seller's own route always wins. */
export function findOwnPaths(routes: readonly PaidRoute[]): OwnPaths {
  const served = new Set<OwnPage>();
  const notices: string[] = [];
  for (const [page, { what, paths }] of Object.entries(OWN) as [OwnPage, (typeof OWN)[OwnPage]][]) {
    const winner = routes.find((route) => paths.some((path) => takes(route.path, path)));
    if (winner === undefined) served.add(page);
    else notices.push(`${what} is off, because your route ${winner.path} has this path.`);
  }
  return { served, notices };
}

function takes(route: string, path: string): boolean {
  return overlap(parsePathPattern(route), parsePathPattern(path));
}
