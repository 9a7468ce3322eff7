import type { DiscoveryResponse, PaymentRequiredV2 } from '@tollgate/protocol';

import { borrowRedis, type BorrowedRedis } from '../../../../test/harness/stack/borrow-redis.js';
import { readProblem } from '../../test/start-agents.js';
import {
  answerJson,
  ASSET,
  createRoute,
  PAY_TO,
  startGateway,
  type RunningGateway,
  startAgreeingVerifier,
} from '../../test/start-gateway.js';

const PUBLIC_URL = 'https://api.example/gate';
const routes = [
  createRoute(() => answerJson('fine')),
  createRoute(() => answerJson('7'), {
    path: '/v1/quotes/:symbol',
    methods: ['GET', 'POST'],
    price: '0.0025',
    description: 'A quote',
  }),
];
const REFERENCE = expect.any(String) as unknown;

describe('the list of paid resources', () => {
  let redis: BorrowedRedis;
  let stopVerifier: () => Promise<void>;
  const gateways: RunningGateway[] = [];
  let url: string;

  beforeAll(async () => {
    redis = await borrowRedis();
    stopVerifier = await startAgreeingVerifier(redis.url);
    ({ url } = await start({ PUBLIC_URL, SIGNED_PAYMENTS: 'true' }));
  });

  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await stopVerifier();
    await redis.stop();
  });

  async function start(env: Record<string, string>): Promise<RunningGateway> {
    const gateway = await startGateway(redis.url, routes, { FACILITATOR: 'true', ...env });
    gateways.push(gateway);
    return gateway;
  }

  const get = (query = '', at = url) => fetch(`${at}/facilitator/discovery/resources${query}`);
  async function list(query = '', at = url): Promise<DiscoveryResponse> {
    const response = await get(query, at);
    expect(response.status).toBe(200);
    return (await response.json()) as DiscoveryResponse;
  }
  const resourcesOf = ({ items }: DiscoveryResponse) => items.map(({ resource }) => resource);

  it('has each route with the requirements of its 402, except for the reference', async () => {
    const { x402Version, items, pagination } = await list();
    expect([x402Version, pagination]).toEqual([2, { limit: 20, offset: 0, total: 2 }]);
    const [weather, quotes] = items;
    const challenge = await fetch(`${url}/api/weather`);
    const header = Buffer.from(challenge.headers.get('payment-required')!, 'base64').toString();
    const { resource, accepts } = JSON.parse(header) as PaymentRequiredV2;
    expect(weather).toEqual({
      resource: resource.url,
      description: resource.description,
      mimeType: resource.mimeType,
      type: 'http',
      x402Version: 2,
      accepts: weather!.accepts,
      metadata: { methods: ['GET'] },
      lastUpdated: new Date(weather!.lastUpdated).toISOString(),
    });
    const withReference = weather!.accepts.map((terms) => {
      const { extra } = terms as { extra: object };
      return { ...terms, extra: { ...extra, reference: REFERENCE } };
    });
    expect(accepts).toEqual(withReference);
    expect(quotes).toMatchObject({
      resource: `${PUBLIC_URL}/v1/quotes/:symbol`,
      metadata: { methods: ['GET', 'POST'] },
      accepts: [{ amount: '2500' }],
    });
  });

  it('has the requirements of the 402 body where signed payments are off', async () => {
    const documented = await start({ PUBLIC_URL });
    const { x402Version, items } = await list('', documented.url);
    expect([x402Version, items[0]!.x402Version]).toEqual([1, 1]);
    const body = (await (await fetch(`${documented.url}/api/weather`)).json()) as { accepts: { extra: object }[] };
    const [{ extra, ...terms } = { extra: {} }] = items[0]!.accepts as { extra: object }[];
    const resource = '/api/weather';
    expect(body.accepts).toEqual([{ ...terms, resource, extra: { ...extra, reference: REFERENCE } }]);
  });

  it('is returned in pages', async () => {
    const all = resourcesOf(await list());
    expect(resourcesOf(await list('?limit=1'))).toEqual(all.slice(0, 1));
    const second = await list('?limit=1&offset=1');
    expect([resourcesOf(second), second.pagination]).toEqual([all.slice(1), { limit: 1, offset: 1, total: 2 }]);
    expect(await list('?offset=2')).toMatchObject({ items: [], pagination: { total: 2 } });
  });

  it.each<[string, number]>([
    ['?type=http', 2],
    ['?type=mcp', 0],
    [`?payTo=${PAY_TO.toUpperCase().replace('0X', '0x')}`, 2],
    [`?payTo=${ASSET}`, 0],
    ['?scheme=exact&network=eip155:1328', 2],
    ['?scheme=upto', 0],
    ['?network=base', 0],
    ['?extensions=bazaar&sort=price', 2],
  ])('filters by %s to %s resources', async (query, total) => {
    const { items, pagination } = await list(query);
    expect([items.length, pagination.total]).toEqual([total, total]);
  });

  it.each([
    ...['?limit=0', '?limit=101', '?limit=-1', '?limit=1.5', '?limit=', '?limit=ten', '?limit=1&limit=2'],
    ...['?offset=-1', '?offset=1e3', '?offset=99999999', '?offset=0x1', `?type=${'x'.repeat(301)}`],
    '?type=http&type=http',
  ])('answers 400 to %s', async (query) => {
    expect(await readProblem(await get(query))).toEqual([400, 'request_invalid']);
  });

  it('is empty without PUBLIC_URL', async () => {
    const nameless = await start({});
    expect(await list('', nameless.url)).toMatchObject({ items: [], pagination: { total: 0 } });
  });
});
