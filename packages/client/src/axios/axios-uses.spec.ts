import { Agent } from 'node:http';
import { Readable } from 'node:stream';

import axios, { AxiosError, type AxiosInstance, type AxiosRequestConfig } from 'axios';

import { startEchoShop, type EchoedRequest, type EchoShop } from '../../test/echo-shop.js';
import { assetOf, useChain, useServer, useTransferCount, useWallet } from '../../test/set-up.js';
import { payWithAxios } from '../axios.js';
import { MemoryPaymentStore } from '../store/payment-store.js';

/** What the caller sees of a use of axios. */
type Seen = Record<string, unknown>;
type Use = (api: AxiosInstance, shop: EchoShop) => Promise<Seen>;

/** The whole of a stream. */
async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const get = async (api: AxiosInstance, name: string, config: AxiosRequestConfig = {}): Promise<Seen> => {
  const { status, data } = await api.get<unknown>(name, config);
  return { status, data };
};
const failureOf = async (work: Promise<unknown>): Promise<Seen> => {
  const error = (await work.catch((thrown: unknown) => thrown)) as AxiosError;
  const { code, message, response, config } = error;
  return {
    isOfAxios: error instanceof AxiosError,
    code,
    message,
    url: config?.url,
    status: response?.status,
    data: response?.data,
  };
};

const USES: Record<string, Use> = {
  params: (api) => get(api, 'json', { params: { city: 'Zürich', days: [1, 2] } }),
  'a base URL of the request': (api, shop) =>
    get(api, 'json', { baseURL: `${shop.origin}${new URL(api.defaults.baseURL ?? '').pathname}` }),
  'a JSON body': async (api) => ({ data: (await api.post<unknown>('json', { city: 'Zürich' })).data }),
  'transformRequest, run once': async (api) => {
    let runs = 0;
    const transformRequest = (data: unknown) => `${(runs += 1)}: ${String(data)}`;
    return { status: (await api.put('json', 'text', { transformRequest })).status, runs };
  },
  'transformResponse, run once': async (api) => {
    let runs = 0;
    const seen = await get(api, 'json', { transformResponse: (data: unknown) => `${(runs += 1)}: ${String(data)}` });
    return { ...seen, runs };
  },
  'a status that validateStatus accepts': (api) => get(api, 'missing', { validateStatus: (status) => status < 500 }),
  'a status that validateStatus refuses': (api) => failureOf(api.get('missing')),
  'interceptors, run once': async (api) => {
    const runs: string[] = [];
    api.interceptors.request.use((config) => {
      runs.push('request');
      return config;
    });
    api.interceptors.response.use(
      (response) => {
        runs.push(`answer ${response.status}`);
        return response;
      },
      (error: AxiosError) => {
        runs.push(`error ${error.response?.status}`);
        throw error;
      },
    );
    await api.get('json');
    await api.get('missing').catch(() => undefined);
    return { runs };
  },
  'an asynchronous interceptor that adds a header': async (api) => {
    api.interceptors.request.use(async (config) => {
      await new Promise(setImmediate);
      config.headers.set('X-Token', 'fresh');
      return config;
    });
    return get(api, 'json');
  },
  'a request that is sent again with the config of its error': async (api) => {
    let isAgain = false;
    api.interceptors.response.use(undefined, (error: AxiosError) => {
      if (isAgain) throw error;
      isAgain = true;
      return api.request({ ...error.config, url: 'json' });
    });
    return get(api, 'missing');
  },
  'a form of the platform': async (api) => {
    const form = new FormData();
    form.append('note', 'text');
    form.append('file', new Blob(['content'], { type: 'text/plain' }), 'file.txt');
    return { data: (await api.post<unknown>('json', form)).data };
  },
  'a form that axios makes': async (api) => ({
    data: (await api.postForm<unknown>('json', { note: 'text', file: Buffer.from('content') })).data,
  }),
  'a form in the URL': async (api) => ({
    data: (await api.post<unknown>('json', new URLSearchParams({ a: 'é', b: '2' }))).data,
  }),
  'a body of bytes': async (api) => ({
    data: (
      await api.post<unknown>('json', Buffer.from([0, 255]), {
        headers: { 'Content-Type': 'application/octet-stream' },
      })
    ).data,
  }),
  'basic authentication': (api) => get(api, 'json', { auth: { username: 'user', password: 'pass' } }),
  'an answer in bytes': async (api) => {
    const { data } = await api.get<Buffer>('bytes', { responseType: 'arraybuffer' });
    return { isBuffer: Buffer.isBuffer(data), data: [...data] };
  },
  'an answer as text': (api) => get(api, 'json', { responseType: 'text', transformResponse: [] }),
  'an answer as a stream': async (api) => {
    const { data, status } = await api.get<Readable>('json', { responseType: 'stream' });
    return { isStream: data instanceof Readable, text: await readAll(data), status };
  },
  'a long answer as a stream': async (api) => {
    const { data } = await api.get<Readable>('long', { responseType: 'stream' });
    return { length: (await readAll(data)).length };
  },
  'an answer that is compressed': (api) => get(api, 'packed'),
  'an answer that is too long': (api) => failureOf(api.get('long', { maxContentLength: 1000 })),
  cookies: async (api) => {
    const { headers } = await api.get<unknown>('cookies', { headers: { Cookie: 'session=1' } });
    return { cookies: headers['set-cookie'] };
  },
  'an agent': async (api) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let connections = 0;
    const create = agent.createConnection.bind(agent);
    agent.createConnection = (...parameters) => {
      connections += 1;
      return create(...parameters);
    };
    const seen = await get(api, 'json', { httpAgent: agent });
    agent.destroy();
    return { ...seen, connections };
  },
  'a proxy': (api, shop) => get(api, 'json', { proxy: { host: '127.0.0.1', port: Number(new URL(shop.origin).port) } }),
  'a redirect that is followed': (api) => get(api, 'moved'),
  'a redirect that is not followed': (api) => failureOf(api.get('moved', { maxRedirects: 0 })),
  'a timeout': (api) => failureOf(api.get('silent', { timeout: 300 })),
  'an abort': async (api) => {
    const controller = new AbortController();
    const call = api.get('silent', { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    return failureOf(call);
  },
  'a cancel token': async (api) => {
    const source = axios.CancelToken.source();
    const call = api.get('silent', { cancelToken: source.token });
    setTimeout(() => source.cancel('enough'), 100);
    return failureOf(call);
  },
  'the adapter for fetch': async (api) => ({
    data: (await api.post<unknown>('json', { a: 1 }, { adapter: 'fetch' })).data,
  }),
};

describe('each use of axios is the same with a payment as without:', () => {
  const chain = useChain();
  const shop = useServer(() => startEchoShop(chain));
  const payer = () => chain.accounts[5]!;
  const wallet = useWallet(chain, payer);
  const transfers = useTransferCount(chain, () => payer().address);

  function create(part: 'free' | 'paid'): AxiosInstance {
    const api = axios.create({ baseURL: `${shop.origin}/${part}/`, headers: { 'X-Own': 'yes' } });
    if (part === 'free') return api;
    const assets = [assetOf(chain)];
    payWithAxios(api, wallet, { assets, maxAmount: '0.001', store: new MemoryPaymentStore() });
    return api;
  }
  /** A request as the server got it, without what a payment adds, and with each boundary of a form in one wording. */
  const sentOf = ({ method, url, headers, body }: EchoedRequest) => {
    const boundary = /boundary=([^;]+)/.exec(headers['content-type'] ?? '')?.[1] ?? '';
    const same = (text: string) => (boundary === '' ? text : text.replaceAll(boundary, 'BOUNDARY'));
    const kept = Object.entries(headers).filter(
      ([name]) => !['payment-signature', 'idempotency-key', 'content-length', 'connection'].includes(name),
    );
    const entries = kept.map(([name, value]): [string, string] => [name, same(String(value))]);
    return {
      method,
      url: url.replace(/^\/(free|paid)/, ''),
      headers: Object.fromEntries(entries),
      body: same(body.toString('latin1')),
    };
  };

  it.each(Object.entries(USES))('%s', async (_name, use) => {
    const free = await use(create('free'), shop);
    const sent = shop.seen.splice(0).map(sentOf);
    const paid = await use(create('paid'), shop);
    expect(paid).toEqual(free);
    const [first, last] = [shop.seen.at(0), shop.seen.at(-1)].map((one) => one && sentOf(one));
    expect(first).toEqual(sent[0]);
    const sold = new Set(shop.seen.filter(({ headers }) => headers['payment-signature']).map(({ url }) => url));
    expect(await transfers()).toBe(sold.size);
    if (sold.size === 0) return;
    // A GET with a payment has the content type of the reference client.
    const contentType = sent.at(-1)?.method === 'GET' ? { 'content-type': 'application/json' } : {};
    expect(last).toEqual({ ...sent.at(-1)!, headers: { ...sent.at(-1)!.headers, ...contentType } });
  });

  it('a stream that cannot be sent twice is sent, and not paid for', async () => {
    const upload = (api: AxiosInstance) => api.post<unknown>('json', Readable.from(['once']));
    expect((await upload(create('free'))).data).toEqual({ ok: true });
    const { code, status } = await failureOf(upload(create('paid')));
    expect([code, status, await transfers()]).toEqual(['body_not_replayable', 402, 0]);
  });
});
