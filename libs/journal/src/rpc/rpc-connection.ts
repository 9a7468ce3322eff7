import { ChainUnavailableError, readResults, RpcHttp, writeCall, type RpcCall, type RpcResult } from '@tollgate/chain';

/** `unanswered`: the call may or may not have taken effect. */
export type RpcAnswer = Exclude<RpcResult, { kind: 'missing' }> | { kind: 'unanswered'; why: string };

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
  readonly #http: RpcHttp;
  readonly #waitingHttp: RpcHttp;
  #queue: Waiting[] = [];
  #isFlushPlanned = false;
  #inFlight = 0;
  // Ids continue from request to request, so that an answer to another request cannot match this one.
  #nextId = 1;

  constructor(options: RpcConnectionOptions) {
    this.#options = options;
    this.#http = new RpcHttp({ url: options.url, connections: MAX_REQUESTS });
    this.#waitingHttp = new RpcHttp({ url: options.url, connections: MAX_WAITING });
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
    const [answer = LEFT_OUT, next = LEFT_OUT] = await this.#try(calls, this.#waitingHttp);
    return [answer, next];
  }

  async close(): Promise<void> {
    await Promise.all([this.#http.close(), this.#waitingHttp.close()]);
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
      this.#http,
    );
    this.#inFlight--;
    batch.forEach(({ resolve }, index) => resolve(answers[index] ?? LEFT_OUT));
    if (this.#queue.length > 0) this.#planFlush();
  }

  async #try(calls: readonly RpcCall[], http: RpcHttp): Promise<RpcAnswer[]> {
    const firstId = this.#nextId;
    this.#nextId += calls.length;
    const { timeoutMs, maxResponseBytes: maxBytes } = this.#options;
    const texts = calls.map((call, index) => writeCall(call, firstId + index));
    try {
      const { value } = await http.post(texts.length === 1 ? texts.join() : `[${texts.join(',')}]`, {
        timeoutMs,
        maxBytes,
      });
      const results = readResults(Array.isArray(value) ? value : [value], firstId, calls.length);
      return results.map((result) => (result.kind === 'missing' ? LEFT_OUT : result));
    } catch (error) {
      const why = error instanceof ChainUnavailableError ? error.message : 'The RPC server cannot be reached.';
      return calls.map(() => ({ kind: 'unanswered', why }));
    }
  }
}

const LEFT_OUT: RpcAnswer = { kind: 'unanswered', why: 'The RPC server left an answer out.' };
