import { isRecord } from '@tollgate/protocol';
import { Pool, type Dispatcher } from 'undici';

import { AnswerTooLongError, ChainUnavailableError, RpcStatusError } from './chain-unavailable-error.js';

/** How long an RPC server may take to answer, where no setting says otherwise. */
export const RPC_TIMEOUT_MS = 5_000;

/** Of an answer whose status is not 200. */
const MAX_REFUSAL_BYTES = 65_536;
/** Requests that were given up, and that undici keeps until it has a connection for them. */
const MOST_GIVEN_UP = 100;

export interface RpcHttpOptions {
  url: string;
  /** Requests at once; each has its own connection. */
  connections: number;
  /** How long a connection may take to be made. Default: RPC_TIMEOUT_MS. */
  connectTimeoutMs?: number;
}

/** JSON over HTTP to one RPC server. Every failure becomes a ChainUnavailableError without the URL. */
export class RpcHttp {
  /** Host and port, the only parts of the URL that may be logged: the rest may carry an API key. */
  readonly host: string;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  #givenUp = 0;

  constructor(options: RpcHttpOptions) {
    const url = new URL(options.url);
    this.host = url.host;
    this.#path = url.pathname + url.search;
    // No accept-encoding: the bytes counted while streaming are the bytes that JSON.parse gets.
    this.#headers = { 'content-type': 'application/json', ...authorizationOf(url) };
    const timeout = options.connectTimeoutMs ?? RPC_TIMEOUT_MS;
    this.#pool = new Pool(url.origin, { connections: options.connections, pipelining: 1, connect: { timeout } });
  }

  /**
   * Posts a JSON text; returns the answer's JSON value, unchecked, and its length in bytes.
   * @throws AnswerTooLongError as soon as `maxBytes` are exceeded; the rest is not read
   */
  async post(
    body: string,
    { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
  ): Promise<{ value: unknown; bytes: number }> {
    // Behind busy connections they wait only until one is free: that is no reason to leave the server.
    if (this.#givenUp >= MOST_GIVEN_UP && this.#pool.stats.connected === 0)
      throw new ChainUnavailableError('rpc_unreachable', 'Too many requests wait for a connection to the RPC server.');
    const abort = new AbortController();
    let isKept = true;
    let timer: NodeJS.Timeout | undefined;
    try {
      const response = await new Promise<Dispatcher.ResponseData>((resolve, reject) => {
        const giveUp = () => {
          // undici heeds the signal only once it has a connection for the request.
          if (isKept) this.#givenUp++;
          abort.abort();
          reject(abort.signal.reason as Error);
        };
        timer = setTimeout(giveUp, Math.max(1, timeoutMs));
        const options = { path: this.#path, headers: this.#headers, body, signal: abort.signal };
        this.#pool.request({ method: 'POST', ...options }, (error, answer) => {
          isKept = false;
          if (abort.signal.aborted) this.#givenUp--;
          if (error) reject(error);
          else resolve(answer);
        });
      });
      if (response.statusCode !== 200) return await readRefusal(response);
      return await readJson(response.body, maxBytes);
    } catch (error) {
      if (error instanceof ChainUnavailableError) throw error;
      if (abort.signal.aborted)
        throw new ChainUnavailableError('rpc_timeout', 'The RPC server did not answer in time.');
      throw new ChainUnavailableError('rpc_unreachable', 'The RPC server cannot be reached.', { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/**
 * Some servers send the errors of JSON-RPC with a status of their own, as 400. Of any other answer the status is all that
 * counts.
 */
async function readRefusal({ statusCode, body }: Dispatcher.ResponseData): Promise<{ value: unknown; bytes: number }> {
  const read = statusCode === 429 ? null : await readJson(body, MAX_REFUSAL_BYTES).catch(() => null);
  // Not read further: an error page may be endless.
  if (read === null) body.on('error', ignore).destroy();
  const answers: unknown[] = Array.isArray(read?.value) ? read.value : [read?.value];
  if (read === null || !answers.every((one) => isRecord(one) && 'jsonrpc' in one)) throw new RpcStatusError(statusCode);
  return read;
}

async function readJson(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
): Promise<{ value: unknown; bytes: number }> {
  const text = await readBody(body, maxBytes);
  return { value: parseJson(text), bytes: text.length };
}

async function readBody(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes > maxBytes) throw new AnswerTooLongError(maxBytes, Buffer.concat(chunks, bytes).toString('latin1'));
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes);
}

const ignore = (): void => undefined;

function authorizationOf(url: URL): { authorization?: string } {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new ChainUnavailableError('rpc_malformed', 'The RPC server did not answer with JSON.', { cause });
  }
}
