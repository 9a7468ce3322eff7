import { PaymentError } from '@tollgate/protocol';
import type { AxiosResponse, AxiosStatic, InternalAxiosRequestConfig } from 'axios';

import type { RequestSnapshot } from '../network/request-snapshot.js';
import { findNodeModule } from '../store/find-node-module.js';
import type { Body, ReplayableData } from './replayable-data.js';

type Config = InternalAxiosRequestConfig;

interface NodeStream {
  pipe: unknown;
}

const isNodeStream = (data: unknown): data is NodeStream => typeof data === 'object' && data !== null && 'pipe' in data;

/** What axios does not tell of the answers that its adapter for fetch gets. */
const answers = new WeakMap<object, Response>();
const listening = new WeakMap<typeof fetch, typeof fetch>();

/** One function for each fetch: axios keeps what it makes of it for ever. */
function listenTo(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const known = listening.get(fetch);
  if (known) return known;
  const heard: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (typeof input === 'object') answers.set(input, response);
    return response;
  };
  listening.set(fetch, heard);
  return heard;
}

/** With one of these an answer has no body. */
const BODILESS = [204, 205, 304];

/** Presents one axios request as fetch, because the payment code works on HTTP. */
export class AxiosExchange {
  /** The newest answer. */
  last: AxiosResponse | undefined;
  /** Why the answer cannot be taken, however often it is asked for. */
  failure: unknown;
  readonly #found = new WeakMap<Response, AxiosResponse>();
  /** Answers whose body the payment code passes on as it arrives. */
  readonly #streamed = new WeakSet<AxiosResponse>();

  constructor(
    private readonly axios: AxiosStatic,
    private readonly config: Config,
  ) {}

  /** Sends by the adapter of the request; any status is an answer. */
  async send(change: object = {}): Promise<AxiosResponse> {
    const { env, adapter } = this.config;
    const config: Config = {
      ...this.config,
      ...change,
      validateStatus: null,
      env: { ...env, fetch: listenTo(env?.fetch ?? globalThis.fetch) },
    };
    const chosen = this.axios.getAdapter(adapter, config);
    // In a browser this one follows redirects by itself, and would send the proof on.
    const isBlind = 'adapterName' in chosen && chosen.adapterName === 'xhr' && config.maxRedirects === 0;
    this.last = await (isBlind ? this.axios.getAdapter('fetch', config) : chosen)(config);
    return this.last;
  }

  /** Sends the request, or another one that the payment code asks for in its place. */
  createFetch(request: RequestSnapshot, taken: ReplayableData): typeof fetch {
    return async (input, init = {}) => {
      const url = input instanceof Request ? input.url : String(input);
      const isPaid = init.redirect === 'manual';
      try {
        const answer = await this.send(this.#change(request, taken, url, init));
        const response = this.#present(answer, url, isPaid);
        this.#found.set(response, answer);
        return response;
      } catch (error) {
        // Asked for again, the answer would be too long again.
        if (!isPaid || !(error instanceof Error) || !error.message.startsWith('maxContentLength')) throw error;
        this.failure = error;
        throw new PaymentError('payment_unredeemed', error.message, { cause: error });
      }
    };
  }

  #change(request: RequestSnapshot, taken: ReplayableData, url: string, init: RequestInit): object {
    const { method = 'GET', body, redirect, signal } = init;
    const headers = new this.axios.AxiosHeaders(this.config.headers);
    if (taken.contentType !== null) headers.set('content-type', taken.contentType);
    const asked = new Headers(init.headers);
    asked.forEach((value, name) => {
      if (request.headers.get(name) !== value) headers.set(name, value);
    });
    request.headers.forEach((_, name) => {
      if (!asked.has(name)) headers.delete(name);
    });
    return {
      headers,
      method: method.toLowerCase(),
      data: body ? taken.data : undefined,
      ...(signal && { signal }),
      ...(url !== request.url && { url, baseURL: '', params: undefined }),
      ...(new URL(url).origin !== new URL(request.url).origin && { auth: undefined }),
      ...(redirect === 'manual' && { maxRedirects: 0, fetchOptions: { ...this.config.fetchOptions, redirect } }),
    };
  }

  /** The answer as the payment code sees it: with a body only where it reads one, or where one still arrives. */
  #present(answer: AxiosResponse, url: string, isPaid: boolean): Response {
    const { status, headers } = answer;
    const { data, request } = answer as { data: unknown; request: unknown };
    const isStreamed = isPaid && status !== 402 && this.config.responseType === 'stream' && !BODILESS.includes(status);
    if (isStreamed) this.#streamed.add(answer);
    const body: unknown = status === 402 || isStreamed ? (isNodeStream(data) ? toWeb(data) : data) : null;
    const response = new Response(body as Body | null, {
      // A redirect that fetch has not followed and tells nothing of.
      status: status === 0 ? 200 : status,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        [value as unknown].flat().map((one): [string, string] => [name, String(one)]),
      ),
    });
    const heard = typeof request === 'object' && request !== null ? answers.get(request) : undefined;
    const finalUrl = new URL(heard?.url || readFinalUrl(request) || url).href;
    return Object.defineProperties(response, {
      url: { value: finalUrl },
      redirected: { value: finalUrl !== new URL(url).href },
      type: { value: heard?.type ?? 'default' },
    });
  }

  /** The answer of axios that belongs to the response that the payment code has returned. */
  resultOf(response: Response): AxiosResponse {
    // That of a stream is another object, made of the newest answer.
    const found = this.#found.get(response) ?? this.last;
    if (!found) throw new Error('there is no answer');
    if (response.body !== null && this.#streamed.has(found))
      found.data = isNodeStream(found.data) ? fromWeb(response.body) : response.body;
    return found;
  }
}

/** Where redirects have led to, as the adapters for Node and for browsers tell it. */
function readFinalUrl(request: unknown): string | undefined {
  const { res, responseURL } = (request ?? {}) as { res?: { responseUrl?: string }; responseURL?: string };
  return res?.responseUrl ?? responseURL;
}

const streams = (): typeof import('node:stream') | undefined => findNodeModule('node:stream');

const toWeb = (stream: unknown): unknown =>
  streams()?.Readable.toWeb(stream as InstanceType<typeof import('node:stream').Readable>);

const fromWeb = (body: ReadableStream): unknown =>
  streams()?.Readable.fromWeb(body as Parameters<typeof import('node:stream').Readable.fromWeb>[0]);
