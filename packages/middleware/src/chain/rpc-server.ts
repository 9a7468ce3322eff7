import { isRecord } from '@tollgate/protocol';

import { readWholeText } from '../verify/read-whole-text.js';

/** The RPC server gave no result. Its texts do not have the URL, which may contain a key. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  /** @param isRefused whether the server answered with an error, such as for too many blocks in one search */
  constructor(
    message: string,
    readonly isRefused: boolean,
  ) {
    super(message);
  }
}

/** A JSON-RPC server, asked one call at a time: not every server takes several in one request. */
export class RpcServer {
  constructor(
    private readonly url: string,
    private readonly timeoutMs: number,
  ) {}

  /** @throws RpcError */
  async ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    let answer: unknown;
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        redirect: 'manual',
        signal,
      });
      answer = JSON.parse(await readWholeText(response, signal));
    } catch (error) {
      const cause = error instanceof Error && error.name === 'TimeoutError' ? ' in time' : '';
      throw new RpcError(`The RPC server does not answer ${method}${cause}.`, false);
    }
    if (!isRecord(answer)) throw new RpcError(`The RPC server's answer to ${method} is no object.`, false);
    if (answer['error'] !== undefined) throw new RpcError(`The RPC server refuses ${method}.`, true);
    return answer['result'];
  }
}
