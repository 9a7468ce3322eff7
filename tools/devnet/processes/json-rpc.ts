interface RpcAnswer {
  id: number;
  result?: unknown;
  error?: { message: string };
}

/** One JSON-RPC call. Throws with the method's name when the server answers with an error. */
export async function callRpc(rpcUrl: string, method: string, params: unknown[] = []): Promise<unknown> {
  const [result] = await callRpcBatch(rpcUrl, [{ method, params }]);
  return result;
}

/** Many calls in one request; the results stand in the order of the calls. */
export async function callRpcBatch(rpcUrl: string, calls: { method: string; params: unknown[] }[]): Promise<unknown[]> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))),
  });
  const answers = (await response.json()) as RpcAnswer[];
  const results = new Array<unknown>(calls.length);
  for (const { id, result, error } of answers) {
    if (error) throw new Error(`${calls[id]?.method ?? 'a call'} failed: ${error.message}`);
    results[id] = result;
  }
  return results;
}
