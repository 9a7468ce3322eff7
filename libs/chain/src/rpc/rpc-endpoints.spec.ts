import { refusal, startRpcProxy, type RpcProxy, type RpcReply } from '../../../../test/harness/network/rpc-proxy.js';
import { startDeafServer } from '../../../../test/harness/network/silent-server.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { RpcEndpoint } from './rpc-endpoint.js';
import { combineObservers, RpcEndpoints } from './rpc-endpoints.js';

const BLOCKS = [1, 2, 3].map(() => ({ method: 'eth_getBlockByNumber', params: ['latest', false] }));
const LIMITS = { timeoutMs: 5000, maxBytes: 65_536 };

describe('several RPC servers', () => {
  let devnet: Devnet;
  let proxies: RpcProxy[];
  let endpoints: RpcEndpoint[];
  let servers: RpcEndpoints;
  let nowMs = 0;

  const connect = ({ rpcUrl }: RpcProxy, callsPerRequest?: number) =>
    new RpcEndpoint({ url: rpcUrl, connections: 4, ...(callsPerRequest && { callsPerRequest }) }, devnet.chainId);
  const ask = async () =>
    (await servers.ask({ calls: BLOCKS, lookups: 1, untilMs: Infinity, maxBytes: LIMITS.maxBytes })).served;

  beforeAll(async () => {
    devnet = await startChain();
  });
  afterAll(() => devnet.stop());

  beforeEach(async () => {
    proxies = await Promise.all([1, 2].map(() => startRpcProxy(devnet.rpcUrl)));
    endpoints = proxies.map((proxy) => connect(proxy));
    servers = new RpcEndpoints(endpoints, LIMITS.timeoutMs, combineObservers(), () => nowMs);
  });
  afterEach(async () => {
    await servers.close();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  it('are asked one call at a time where a server does not support batches', async () => {
    const endpoint = connect(proxies[0]!, 1);
    const { results, headBlockNumber } = await endpoint.ask(BLOCKS, LIMITS);
    await endpoint.close();
    expect(results.map(({ kind }) => kind)).toEqual(['result', 'result', 'result']);
    expect(headBlockNumber).toBeGreaterThanOrEqual(0);
    expect(proxies[0]!.calls.map(({ method }) => method).sort()).toEqual([
      'eth_blockNumber',
      'eth_chainId',
      ...BLOCKS.map(({ method }) => method),
    ]);
  });

  const NO_BATCHES = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batches are not supported' } };
  it.each<[string, number, RpcReply]>([
    ['no batches, by an error', 1, { body: JSON.stringify(NO_BATCHES) }],
    ['no batches, by an error with status 400', 1, { status: 400, body: JSON.stringify(NO_BATCHES) }],
    ['no batches, by status 405', 1, { status: 405, body: 'only objects' }],
    ['two calls at most, by status 413', 2, { status: 413, body: '' }],
  ])('are asked with fewer calls at once where a server takes %s, which is remembered', async (_, most, reply) => {
    const sizes: number[] = [];
    proxies[0]!.intercept('*', async (call, forward) => {
      sizes.push([call].flat().length);
      return sizes.at(-1)! > most ? reply : { body: await forward() };
    });
    const endpoint = connect(proxies[0]!);
    const { results } = await endpoint.ask(BLOCKS, LIMITS);
    expect(results.map(({ kind }) => kind)).toEqual(['result', 'result', 'result']);
    expect(Math.max(...sizes)).toBe(5);
    sizes.length = 0;
    await endpoint.ask(BLOCKS, LIMITS);
    await endpoint.close();
    expect(Math.max(...sizes)).toBe(most);
  });

  it('are left where they refuse a single call as well', async () => {
    proxies[0]!.intercept('*', () => ({ status: 400, body: '<html>Bad Request</html>' }));
    expect(await ask()).toBe(1);
    expect(proxies[0]!.calls).toHaveLength(2);
  });

  it('tell by status 400 what they tell by 200', async () => {
    const message = 'insufficient funds for gas * price + value';
    const answer = refusal(-32000, message) as { body: string };
    proxies[0]!.intercept('*', () => ({ ...answer, status: 400 }));
    const endpoint = connect(proxies[0]!);
    expect(await endpoint.post(BLOCKS.slice(0, 1), LIMITS)).toMatchObject({ results: [{ kind: 'error', message }] });
    await endpoint.close();
  });

  it.each([
    ['goes on', 60_000],
    ['is set back', -3_600_000],
  ])('return to the first one once it answers again, where the clock %s', async (_, stepMs) => {
    proxies[0]!.intercept('*', () => 'broken');
    expect([await ask(), servers.next]).toEqual([1, 1]);
    proxies[0]!.reset();
    nowMs += stepMs;
    await ask();
    while (servers.next !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await ask()).toBe(0);
  });

  it('are asked in time where no connection with the first one comes about', async () => {
    const deaf = await startDeafServer();
    const first = new RpcEndpoint({ url: deaf.url, connections: 1 }, devnet.chainId);
    const both = new RpcEndpoints([first, endpoints[1]!], 4_000, combineObservers(), () => performance.now());
    const batch = { calls: BLOCKS, lookups: 1, untilMs: performance.now() + 60_000, maxBytes: LIMITS.maxBytes };
    const answers = await Promise.all([both.ask(batch), both.ask(batch)]);
    expect(answers.map(({ served }) => served)).toEqual([1, 1]);
    await first.close();
    await deaf.stop();
  });

  it('are refused requests at once while a hundred that were given up wait for a connection', async () => {
    const deaf = await startDeafServer();
    const endpoint = new RpcEndpoint({ url: deaf.url, connections: 2, connectTimeoutMs: 60_000 }, devnet.chainId);
    const reasonOf = () =>
      endpoint.ask(BLOCKS, { ...LIMITS, timeoutMs: 1 }).then(
        () => 'none',
        (error: Error) => error.message,
      );
    const reasons = await Promise.all(Array.from({ length: 100 }, reasonOf));
    expect(new Set(reasons)).toEqual(new Set(['The RPC server did not answer in time.']));
    expect(await reasonOf()).toBe('Too many requests wait for a connection to the RPC server.');
    // Every connection that fails takes those with it that waited for it.
    await deaf.stop();
    await waitFor('it is tried again', async () => !(await reasonOf()).startsWith('Too many'));
    await endpoint.close();
  });

  it('are asked on while a hundred requests that were given up wait behind one that takes long', async () => {
    let answer: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => (answer = resolve));
    proxies[0]!.intercept('*', async (_, forward) => {
      await answering;
      return { body: await forward() };
    });
    const endpoint = new RpcEndpoint({ url: proxies[0]!.rpcUrl, connections: 1 }, devnet.chainId);
    const ask = (timeoutMs: number) => endpoint.ask(BLOCKS, { ...LIMITS, timeoutMs });
    const slow = ask(60_000);
    await waitFor('it is asked', () => proxies[0]!.calls.length === 1);
    const given = await Promise.allSettled(Array.from({ length: 100 }, () => ask(1)));
    expect(given.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    const next = ask(60_000);
    answer();
    expect((await Promise.all([slow, next])).map(({ results }) => results.length)).toEqual([3, 3]);
    await endpoint.close();
  });

  it('keep to the one that is preferred', async () => {
    servers.prefer(1);
    nowMs += 60_000;
    expect([await ask(), await ask()]).toEqual([1, 1]);
    expect(proxies[0]!.calls).toEqual([]);
  });
});
