import { splitRefusedBatches } from './split-refused-batches.js';

const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] });
const CALLS = Array.from({ length: 20 }, (_, id) => call(id));
const answer = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: `0x${id}` });
const error = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } });

describe('a batch of calls', () => {
  let bodies: unknown[];
  beforeEach(() => {
    bodies = [];
  });

  const ask = (fetch: typeof globalThis.fetch) =>
    splitRefusedBatches((_, init) => {
      bodies.push(JSON.parse(init?.body as string));
      return fetch(_, init);
    });
  const post = (body: unknown) => ['http://node', { method: 'POST', body: JSON.stringify(body) }] as const;
  const single = (init: RequestInit | undefined) => Response.json(answer(JSON.parse(init?.body as string)));
  const isBatch = () => Array.isArray(bodies.at(-1));

  it.each([
    ['an error', () => new Response(error)],
    ['an error with status 400', () => new Response(error, { status: 400 })],
    ['status 405', () => new Response('only objects', { status: 405 })],
  ])('goes one by one to a server that answers it with %s, from then on', async (_, refuse) => {
    const fetch = ask(async (__, init) => (isBatch() ? refuse() : single(init)));
    for (const asked of [21, 20]) {
      bodies = [];
      expect(await (await fetch(...post(CALLS))).json()).toEqual(CALLS.map(answer));
      expect(bodies).toHaveLength(asked);
    }
  });

  it('stays as it is at a server that takes it, and an answer with errors is one', async () => {
    const answers = [answer(CALLS[0]!), { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'reverted' } }];
    const fetch = ask(async () => Response.json(answers, { status: 400 }));
    expect(await (await fetch(...post(CALLS.slice(0, 2)))).json()).toEqual(answers);
    expect(bodies).toHaveLength(1);
  });

  it.each([400, 429, 503])('fails with status %s at a server that answers a single call so too', async (status) => {
    const fetch = ask(async () => new Response('no', { status }));
    const response = await fetch(...post(CALLS));
    expect([response.status, await response.text()]).toEqual([status, 'no']);
    expect(bodies.length).toBeLessThanOrEqual(9);
  });
});
