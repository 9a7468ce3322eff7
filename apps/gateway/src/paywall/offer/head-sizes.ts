import type { GatewayEnvironment } from '../../config/gateway.config.js';
import { MAX_PATH_BYTES } from '../route/paid-path.js';
import type { PaidRoute } from '../route/paid-route.js';
import { Challenges } from './challenges.js';
import { challengeSettingsOf, PaidEndpoint } from './paid-endpoint.js';
import { publicOriginOf } from './public-origin.js';

/** What a proxy reads of a head unless it is configured otherwise: nginx answers 502 in place of a longer one. */
const COMMON_BYTES = 4_096;
const MOST_BYTES = 8_192;
/** The longest host that a request may name, with a port. */
const LONGEST_HOST = `${'h'.repeat(253)}:65535`;
/** The head beside the challenge's own headers at its longest: a page for another origin, with the request's id. */
const OTHER_BYTES = 1_450;

/** The bytes of a 402's head, at most. @param headers those of its challenge: alternating names and values */
export function headBytesOf(headers: readonly string[]): number {
  // A name and its value are followed by two bytes each.
  return headers.reduce((bytes, text) => bytes + text.length + 2, OTHER_BYTES);
}

/** Whether the head of a 402 is longer than proxies can be asked to pass on: its client could not pay. */
export function isHeadTooLong(headers: readonly string[]): boolean {
  return headBytesOf(headers) > MOST_BYTES;
}

export interface JudgedHeads {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Judges the heads of the routes' 402s: those that are too long whatever the path, and those that need a setting of the proxy. */
export function judgeHeads(environment: GatewayEnvironment, routes: readonly PaidRoute[]): JudgedHeads {
  const heads = routes.map((route) => ({
    path: route.path,
    least: measureHead(environment, route, route.path),
    most: measureHead(environment, route, `/${'x'.repeat(MAX_PATH_BYTES - 1)}`),
  }));
  const problems = heads.flatMap(({ path, least }) =>
    least <= MOST_BYTES
      ? []
      : `${path}: the head of its 402 has ${least.toLocaleString('en')} bytes, and proxies pass on 8,192. Shorten its description, its mimeType or PUBLIC_URL.`,
  );
  const long = heads.find(({ most }) => most > COMMON_BYTES);
  if (long === undefined) return { problems, warnings: [] };
  const warning = `${long.path}: the head of its 402 may be longer than 4 KiB, and a stock nginx answers 502 then. Raise its proxy_buffer_size (docs/operations/install.md).`;
  return { problems, warnings: [warning] };
}

function measureHead(environment: GatewayEnvironment, route: PaidRoute, resource: string): number {
  const { challenge, options, server } = environment;
  // As if all were offered. Every account is as long as the relayer's, which is not known yet.
  const agreement = { isFresh: () => true, takesAuthorizations: true };
  const offered = options.map((option) => ({ option, agreement, relayer: { address: option.payTo } }));
  const endpoint = new PaidEndpoint(route, challengeSettingsOf(environment, offered));
  const origin = publicOriginOf(server.publicUrl ?? `https://${LONGEST_HOST}`);
  const asked = { endpoint, method: endpoint.headMethod, resource: endpoint.path.literal ?? resource, origin };
  return headBytesOf(new Challenges(challenge.challengeSecret).render(asked)?.headers ?? []);
}
