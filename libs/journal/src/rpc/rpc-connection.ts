import { Pool } from 'undici';

export interface RpcCall {
  method: string;
  params: readonly unknown[];
}

/** `unanswered`: the call may or may not have taken effect. */
export type RpcAnswer =
  | { kind: 'result'; value: unknown }
  | { kind: 'error'; code: number; message: string }
  | { kind: 'unanswered'; why: string };

export interface RpcConnectionOptions {
  url: string;
  timeoutMs: number;
  /** Calls per request; 1 for a server that does not support batches. */
  batchSize: number;
  maxResponseBytes: number;
}

interface Waiting {
  call: RpcCall;
  resolve: (answer: RpcAnswer) => void;
}

const MAX_REQUESTS = 8;
/** The limit of concurrent requests that a server answers only after waiting. */
const MAX_WAITING = 64;

/**
 * One RPC server. Calls made in one turn of the event loop share one request. It never throws: a server that is down,
 * slow, rate-limiting or answering nonsense leaves calls unanswered.
 */
export class RpcConnection {
  readonly #options: RpcConnectionOptions;
  readonly #pool: Pool;
  readonly #waitingPool: Pool;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  #queue: Waiting[] = [];
  #isFlushPlanned = false;
  #inFlight = 0;
  // Ids continue from request to request, so that an answer to another request cannot match this one.
  #nextId = 1;

  constructor(options: RpcConnectionOptions) {
    const url = new URL(options.url);
    this.#options = options;
    this.#path = url.pathname + url.search;
    this.#headers = { 'content-type': 'application/json', ...authorizationOf(url) };
    const createPool = (connections: number) =>
      new Pool(url.origin, { connections, pipelining: 1, maxResponseSize: options.maxResponseBytes });
    this.#pool = createPool(MAX_REQUESTS);
    this.#waitingPool = createPool(MAX_WAITING);
  }

  call(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    return new Promise((resolve) => {
      this.#queue.push({ call: { method, params }, resolve });
      this.#planFlush();
    });
  }

  /**
   * A call that the server answers only once something has happened: sent at once and in a request of its own, so that
   * no other call waits for it. `then`: a second call in the same request, left out where the server does not support
   * batches.
   */
  async callWaiting(call: RpcCall, then: RpcCall): Promise<[RpcAnswer, RpcAnswer]> {
    const calls = this.#options.batchSize > 1 ? [call, then] : [call];
    const [answer = LEFT_OUT, next = LEFT_OUT] = await this.#try(calls, this.#waitingPool);
    return [answer, next];
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#waitingPool.destroy()]);
  }

  // setImmediate, so that the calls of many jobs, each a few promises deep, share one request.
  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      while (this.#inFlight < MAX_REQUESTS && this.#queue.length > 0) {
        void this.#send(this.#queue.splice(0, this.#options.batchSize));
      }
    });
  }

  async #send(batch: Waiting[]): Promise<void> {
    this.#inFlight++;
    const answers = await this.#try(
      batch.map(({ call }) => call),
      this.#pool,
    );
    this.#inFlight--;
    batch.forEach(({ resolve }, index) => resolve(answers[index] ?? LEFT_OUT));
    if (this.#queue.length > 0) this.#planFlush();
  }

  async #try(calls: readonly RpcCall[], pool: Pool): Promise<(RpcAnswer | undefined)[]> {
    const firstId = this.#nextId;
    this.#nextId += calls.length;
    try {
      return await this.#post(calls, firstId, pool);
    } catch (error) {
      const why = error instanceof RpcTrouble ? error.message : 'the server cannot be reached in time';
      return calls.map(() => ({ kind: 'unanswered', why }));
    }
  }

  async #post(calls: readonly RpcCall[], firstId: number, pool: Pool): Promise<(RpcAnswer | undefined)[]> {
    const requests = calls.map((call, index) => ({ jsonrpc: '2.0', id: firstId + index, ...call }));
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: this.#path,
      headers: this.#headers,
      body: JSON.stringify(requests.length === 1 ? requests[0] : requests),
      signal: AbortSignal.timeout(this.#options.timeoutMs),
    });
    if (statusCode !== 200) {
      // The body is not read: the text of an error page decides nothing, and it may be endless.
      body.on('error', () => undefined).destroy();
      throw new RpcTrouble(`the server answered with status ${statusCode}`);
    }
    const value: unknown = await body.json();
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    const answers = new Array<RpcAnswer | undefined>(calls.length).fill(undefined);
    for (const entry of entries) {
      const { id, answer } = readEntry(entry);
      const index = typeof id === 'number' ? id - firstId : -1;
      // An id that was not requested, or was answered twice: the answers cannot be matched to the calls.
      if (!(index in answers) || answers[index]) throw new RpcTrouble('the answers do not match the calls');
      answers[index] = answer;
    }
    return answers;
  }
}

const LEFT_OUT: RpcAnswer = { kind: 'unanswered', why: 'the answer was left out' };

class RpcTrouble extends Error {}

function readEntry(value: unknown): { id: unknown; answer: RpcAnswer } {
  if (typeof value !== 'object' || value === null) throw new RpcTrouble('an answer is not an object');
  const { id, result, error } = value as { id?: unknown; result?: unknown; error?: unknown };
  if (typeof error === 'object' && error !== null) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    return {
      id,
      answer: {
        kind: 'error',
        code: typeof code === 'number' ? code : 0,
        message: typeof message === 'string' ? message : '',
      },
    };
  }
  if (result === undefined) throw new RpcTrouble('an answer has neither result nor error');
  return { id, answer: { kind: 'result', value: result } };
}

function authorizationOf(url: URL): { authorization?: string } {
  if (url.username === '' && url.password === '') return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}
