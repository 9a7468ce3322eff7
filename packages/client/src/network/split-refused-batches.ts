import { mayRefuseNumber } from '@tollgate/protocol';

import { parseJson } from './read-body.js';

type Fetch = typeof globalThis.fetch;

/** How long a server that refused a batch is asked one by one. */
const ONE_BY_ONE_MS = 600_000;
const AT_ONCE = 8;

/**
 * A fetch for one RPC server that asks it one by one once it has refused a batch of JSON-RPC calls, and takes its single
 * calls.
 */
export function splitRefusedBatches(fetch: Fetch): Fetch {
  let untilMs = -Infinity;
  return async (input, init) => {
    const calls: unknown = typeof init?.body === 'string' ? parseJson(init.body) : undefined;
    if (!Array.isArray(calls)) return fetch(input, init);
    const isKnown = Date.now() < untilMs;
    const refused = isKnown ? null : await fetch(input, init);
    if (refused && !(await isRefusal(refused))) return refused;
    const answers: string[] = [];
    for (let at = 0; at < calls.length; at += AT_ONCE) {
      const some = calls.slice(at, at + AT_ONCE).map((call) => fetch(input, { ...init, body: JSON.stringify(call) }));
      const responses = await Promise.all(some);
      const failed = responses.find(({ ok }) => !ok);
      // It has another reason.
      if (failed) return refused ?? failed;
      answers.push(...(await Promise.all(responses.map((response) => response.text()))));
    }
    if (!isKnown) untilMs = Date.now() + ONE_BY_ONE_MS;
    return new Response(`[${answers.join()}]`, { headers: { 'content-type': 'application/json' } });
  };
}

/** One answer to several calls, or a status that may come from their number. */
async function isRefusal(response: Response): Promise<boolean> {
  if (!response.ok && !mayRefuseNumber(response.status)) return false;
  const answer: unknown = parseJson(await response.clone().text());
  return response.ok ? typeof answer === 'object' && !Array.isArray(answer) : !Array.isArray(answer);
}
