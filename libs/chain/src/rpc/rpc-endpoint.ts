import { mayRefuseNumber } from '@tollgate/protocol';

import { BatchRefusedError, ChainUnavailableError, RpcStatusError } from './chain-unavailable-error.js';
import { RpcHttp, type RpcHttpOptions } from './rpc-http.js';
import { malformed, parseObject, parseQuantity } from './rpc-value.js';

export interface RpcCall {
  method: string;
  params: readonly unknown[];
}

/** The result of one call; `missing` when the server left it out of its answer. */
export type RpcResult =
  | { kind: 'result'; value: unknown }
  /** `data`: the revert data of a contract. */
  | { kind: 'error'; code: number; message: string; data?: unknown }
  | { kind: 'missing' };

export interface RpcAnswer {
  /** In the order of the calls. */
  results: RpcResult[];
  /** Length of the whole answer as received. */
  bytes: number;
}

export interface BatchAnswer extends RpcAnswer {
  headBlockNumber: number;
}

export interface BatchLimits {
  timeoutMs: number;
  /** A longer answer is cut off at this size. */
  maxBytes: number;
}

export const MISSING: RpcResult = { kind: 'missing' };
/** JSON-RPC code of `execution reverted`; some nodes only put it into the message. */
const REVERTED = 3;
/**
 * How nodes word a failure of the contract, as opposed to their own. A call into a payer's contract can cause any of
 * them.
 */
const CONTRACT_FAILED = new RegExp(
  [
    'revert|out of gas|VM (execution )?error|invalid (opcode|jump|code)|stack (underflow|overflow|limit reached)',
    'gas required exceeds|gas uint64 overflow|return data out of bounds|write protection|max (init)?code size',
  ].join('|'),
  'i',
);

export interface RpcEndpointOptions extends RpcHttpOptions {
  /** More calls are sent in several requests at once. A server that takes fewer, or no batches, is noticed. Default: no limit. */
  callsPerRequest?: number;
}

/** How long a server that refused many calls at once gets fewer. */
const FEWER_FOR_MS = 600_000;
const CHAIN_ID: RpcCall = { method: 'eth_chainId', params: [] };

/** One RPC server. */
export class RpcEndpoint {
  readonly host: string;
  readonly #http: RpcHttp;
  readonly #callsPerRequest: number;
  #fewer: { calls: number; untilMs: number } | null = null;
  // Ids continue from request to request, so that an answer to another request cannot match this one.
  #nextId = 1;

  constructor(
    options: RpcEndpointOptions,
    private readonly chainId: number,
  ) {
    this.#http = new RpcHttp(options);
    this.host = this.#http.host;
    this.#callsPerRequest = options.callsPerRequest ?? Infinity;
  }

  /**
   * Asks for the chain id and the head too, and rejects an answer from another chain.
   * @throws ChainUnavailableError when no part of the answer is valid
   */
  async ask(calls: readonly RpcCall[], limits: BatchLimits): Promise<BatchAnswer> {
    const checks = ['eth_chainId', 'eth_blockNumber'].map((method) => ({ method, params: [] }));
    const { results, bytes } = await this.post([...calls, ...checks], limits);
    const head = results.pop();
    const chainId = parseQuantity(valueOf(results.pop(), 'eth_chainId'), 'chain id');
    if (chainId !== this.chainId) {
      throw new ChainUnavailableError(
        'rpc_wrong_chain',
        `The RPC server is on chain ${chainId}, not on ${this.chainId}; see RPC_URL and CHAIN_ID.`,
      );
    }
    return { results, headBlockNumber: parseQuantity(valueOf(head, 'eth_blockNumber'), 'block number'), bytes };
  }

  /**
   * The results of exactly these calls.
   * @throws ChainUnavailableError when no part of the answer is valid
   */
  async post(calls: readonly RpcCall[], limits: BatchLimits): Promise<RpcAnswer> {
    const most = this.#mostCalls();
    const requests: Promise<RpcAnswer>[] = [];
    for (let at = 0; at < calls.length; at += most) {
      requests.push(this.#request(calls.slice(at, at + most), limits));
    }
    return join(await Promise.all(requests));
  }

  #mostCalls(): number {
    if (this.#fewer && performance.now() > this.#fewer.untilMs) this.#fewer = null;
    return this.#fewer?.calls ?? this.#callsPerRequest;
  }

  async #request(calls: readonly RpcCall[], limits: BatchLimits): Promise<RpcAnswer> {
    try {
      return await this.#send(calls, limits);
    } catch (error) {
      if (calls.length === 1 || !mayBeOfNumber(error)) throw error;
      // One that refuses a single call as well has another reason.
      const probe = await this.#send([CHAIN_ID], limits).catch(() => null);
      if (probe?.results[0]?.kind !== 'result') throw error;
      return this.#sendFewer(calls, limits);
    }
  }

  /** Halves the number of calls until the server takes them, and keeps to that number for a while. */
  async #sendFewer(calls: readonly RpcCall[], limits: BatchLimits): Promise<RpcAnswer> {
    const half = Math.ceil(calls.length / 2);
    const begin = calls.slice(0, half);
    const first = await this.#send(begin, limits).catch((error: unknown) => {
      if (half === 1 || !mayBeOfNumber(error)) throw error;
      return this.#sendFewer(begin, limits);
    });
    if (this.#mostCalls() > half) this.#fewer = { calls: half, untilMs: performance.now() + FEWER_FOR_MS };
    return join([first, await this.post(calls.slice(half), limits)]);
  }

  async #send(calls: readonly RpcCall[], limits: BatchLimits): Promise<RpcAnswer> {
    const firstId = this.#nextId;
    this.#nextId += calls.length;
    const texts = calls.map((call, index) => writeCall(call, firstId + index));
    const isSingle = calls.length === 1;
    const { value, bytes } = await this.#http.post(isSingle ? texts.join() : `[${texts.join()}]`, limits);
    const answers = isSingle && !Array.isArray(value) ? [value] : value;
    return { results: readResults(answers, firstId, calls.length), bytes };
  }

  async close(): Promise<void> {
    await this.#http.close();
  }
}

/** The value of a call that must have succeeded. */
export function valueOf(result: RpcResult | undefined, method: string): unknown {
  switch (result?.kind) {
    case 'result':
      return result.value;
    case 'error':
      throw new ChainUnavailableError('rpc_error', `${method} failed with code ${result.code}.`, {
        words: result.message,
      });
    case 'missing':
    case undefined:
      throw new ChainUnavailableError('rpc_malformed', `The RPC server left ${method} out of its answer.`);
  }
}

/** Whether an `eth_call` reports that the contract failed: a result, not a failure of the node. */
export function hasContractFailed(result: RpcResult): boolean {
  return result.kind === 'error' && (result.code === REVERTED || CONTRACT_FAILED.test(result.message));
}

/** Whether a failure may come from the number of calls in the request. */
function mayBeOfNumber(error: unknown): boolean {
  return error instanceof BatchRefusedError || (error instanceof RpcStatusError && mayRefuseNumber(error.status));
}

function join(answers: readonly RpcAnswer[]): RpcAnswer {
  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
  return { results: answers.flatMap(({ results }) => results), bytes };
}

function writeCall({ method, params }: RpcCall, id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`;
}

/** The results in the order of the calls. @throws ChainUnavailableError when they cannot be matched to the calls */
function readResults(value: unknown, firstId: number, count: number): RpcResult[] {
  if (!Array.isArray(value)) return refuseBatch(value);
  const results = new Array<RpcResult>(count).fill(MISSING);
  for (const entry of value as unknown[]) {
    const answer = parseObject(entry, 'answer');
    const index = typeof answer.id === 'number' ? answer.id - firstId : -1;
    // An unknown id, or one answered twice: the answers can no longer be matched to the calls.
    if (results[index] !== MISSING) return malformed('an unknown or repeated id');
    results[index] = readResult(answer);
  }
  return results;
}

function readResult(answer: Record<string, unknown>): RpcResult {
  if (answer.error === undefined || answer.error === null) {
    return answer.result === undefined
      ? malformed('neither result nor error')
      : { kind: 'result', value: answer.result };
  }
  const error = parseObject(answer.error, 'error');
  return {
    kind: 'error',
    code: typeof error.code === 'number' ? error.code : 0,
    message: typeof error.message === 'string' ? error.message : '',
    data: error.data,
  };
}

function refuseBatch(value: unknown): never {
  const error = parseObject(value, 'batch').error;
  if (error === undefined || error === null) return malformed('no list of answers');
  throw new BatchRefusedError(parseObject(error, 'error'));
}

const MAX_BYTES = 65_536;

/** The chain that an RPC server is on. @throws ChainUnavailableError */
export async function readChainId(url: string, timeoutMs: number): Promise<number> {
  const http = new RpcHttp({ url, connections: 1, connectTimeoutMs: timeoutMs });
  try {
    const { value } = await http.post(writeCall({ method: 'eth_chainId', params: [] }, 1), {
      timeoutMs,
      maxBytes: MAX_BYTES,
    });
    return parseQuantity(parseObject(value, 'answer').result, 'chain id');
  } finally {
    await http.close();
  }
}
