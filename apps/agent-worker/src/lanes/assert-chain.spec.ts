import type { Logger } from 'nestjs-pino';

import { startRpcProxy, type RpcProxy, type RpcReply } from '../../../../test/harness/network/rpc-proxy.js';
import { assertChain } from './assert-chain.js';

describe('a worker that asks its RPC servers for their chain id', () => {
  const proxies: RpcProxy[] = [];

  afterAll(() => Promise.all(proxies.map((proxy) => proxy.stop())));

  async function startServer(reply: RpcReply): Promise<string> {
    const proxy = await startRpcProxy('http://127.0.0.1:1');
    proxies.push(proxy);
    proxy.intercept('eth_chainId', () => reply);
    return proxy.rpcUrl;
  }

  // Regression: a server that began its answer and never finished it kept the worker from starting.
  it('starts even if servers do not answer, or do not finish their answer', async () => {
    const replies: RpcReply[] = [{ body: '{"jsonrpc":"2.0","id":1,"result":"0x530"}' }, 'silence', 'unfinished'];
    const rpcUrls = await Promise.all(replies.map((reply) => startServer(reply)));
    const warnings: string[] = [];
    const logger = { warn: (text: string) => warnings.push(text) } as unknown as Logger;
    // The first server gets the time it needs: it answers at once.
    await assertChain({ rpcUrls: rpcUrls.slice(0, 1), chainId: 1328, timeoutMs: 60_000 }, logger);
    expect(warnings).toEqual([]);
    await assertChain({ rpcUrls: rpcUrls.slice(1), chainId: 1328, timeoutMs: 500 }, logger);
    expect(warnings).toEqual(['agent worker: RPC_URL: no answer yet from entry 1, 2']);
  });
});
