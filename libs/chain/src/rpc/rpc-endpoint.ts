import { ChainUnavailableError } from './chain-unavailable-error.js';
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

export interface BatchAnswer {
  /** In the order of the calls. */
  results: RpcResult[];
  headBlockNumber: number;
  /** Length of the whole batch answer as received. */
  bytes: number;
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

/**
 * One RPC server, asked in batches. Every batch also reads the chain id and the head; an answer from another chain is
 * rejected.
 */
export class RpcEndpoint {
  readonly host: string;
  private readonly http: RpcHttp;
  // Ids continue from batch to batch, so that an answer to another batch cannot match this one.
  private nextId = 1;

  constructor(
    options: RpcHttpOptions,
    private readonly chainId: number,
  ) {
    this.http = new RpcHttp(options);
    this.host = this.http.host;
  }

  /** @throws ChainUnavailableError when no part of the answer is valid */
  async ask(calls: readonly RpcCall[], limits: BatchLimits): Promise<BatchAnswer> {
    const firstId = this.nextId;
    const all = [...calls, { method: 'eth_chainId', params: [] }, { method: 'eth_blockNumber', params: [] }];
    this.nextId += all.length;
    const { value, bytes } = await this.http.post(writeBatch(all, firstId), limits);
    const results = readResults(value, firstId, all.length);
    const head = results.pop() ?? MISSING;
    const chainId = parseQuantity(valueOf(results.pop() ?? MISSING, 'eth_chainId'), 'chain id');
    if (chainId !== this.chainId) {
      throw new ChainUnavailableError(
        'rpc_wrong_chain',
        `The RPC server is on chain ${chainId}, not on ${this.chainId}; see RPC_URL and CHAIN_ID.`,
      );
    }
    return { results, headBlockNumber: parseQuantity(valueOf(head, 'eth_blockNumber'), 'block number'), bytes };
  }

  async close(): Promise<void> {
    await this.http.close();
  }
}

/** The value of a call that must have succeeded. */
export function valueOf(result: RpcResult, method: string): unknown {
  switch (result.kind) {
    case 'result':
      return result.value;
    case 'error':
      throw new ChainUnavailableError('rpc_error', `${method} failed with code ${result.code}.`);
    case 'missing':
      throw new ChainUnavailableError('rpc_malformed', `The RPC server left ${method} out of its answer.`);
  }
}

/** Whether an `eth_call` reports that the contract failed: a result, not a failure of the node. */
export function hasContractFailed(result: RpcResult): boolean {
  return result.kind === 'error' && (result.code === REVERTED || CONTRACT_FAILED.test(result.message));
}

function writeBatch(calls: readonly RpcCall[], firstId: number): string {
  return `[${calls.map((call, index) => writeCall(call, firstId + index)).join(',')}]`;
}

export function writeCall({ method, params }: RpcCall, id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`;
}

/** The results in the order of the calls. @throws ChainUnavailableError when they cannot be matched to the calls */
export function readResults(value: unknown, firstId: number, count: number): RpcResult[] {
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
  const { code } = parseObject(error, 'error');
  throw new ChainUnavailableError(
    'rpc_error',
    `The RPC server refused the batch with code ${String(code)}; a smaller RPC_BATCH_SIZE may help.`,
  );
}
