import { writeCall } from './rpc-endpoint.js';
import { RpcHttp } from './rpc-http.js';
import { parseObject, parseQuantity } from './rpc-value.js';

const MAX_BYTES = 65_536;

/** The chain that an RPC server is on. @throws ChainUnavailableError */
export async function readChainId(url: string, timeoutMs: number): Promise<number> {
  const http = new RpcHttp({ url, connections: 1 });
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
