import { createPublicClient, http, type Address } from 'viem';

import { uniswapV3Swap } from '../../../packages/agent-kit/src/protocols/swap/uniswap-v3.js';
import { createDevnetRegistry } from '../../../packages/agent-kit/src/registry/devnet.js';
import { createTokenResolver } from '../../../packages/agent-kit/src/tokens/resolve-token.js';
import type { DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { startUpstream, type Upstream } from '../../flows/start-upstream.js';

export type ZeroExAnswer = Record<string, unknown>;

export interface ZeroExStandIn extends Upstream {
  /** Changes answers before they are sent, so that a test can falsify them. */
  change: (answer: ZeroExAnswer) => ZeroExAnswer;
}

export const API_KEY = 'a-key-that-must-never-be-shown';

/**
 * An HTTP server with the paths, headers and fields of 0x's Swap API v2, whose routes go through the devnet's Uniswap.
 */
export async function startZeroExStandIn(chain: DevnetWithProtocols): Promise<ZeroExStandIn> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const registry = createDevnetRegistry(chain.chainId);
  const tokens = createTokenResolver(client, registry.native, registry.tokens);
  const { uniswapV3, tokens: addresses } = chain.contracts;
  const options = { ...uniswapV3, wrappedNative: addresses.WSEI, chainIds: [chain.chainId] };
  const uniswap = uniswapV3Swap(options).create({ chainId: chain.chainId, client, tokens, fetch });

  const answer = async (url: URL): Promise<ZeroExAnswer> => {
    const ask = (name: string) => url.searchParams.get(name) ?? '';
    const [from, to] = await Promise.all([tokens.resolve(ask('sellToken')), tokens.resolve(ask('buyToken'))]);
    const [amountIn, taker] = [BigInt(ask('sellAmount')), ask('taker') as Address];
    const quote = await uniswap.quote({ from, to, amountIn, account: taker }).catch(() => null);
    if (quote === null) return { liquidityAvailable: false, zid: '0x0' };
    const slippageBps = Number(ask('slippageBps') || '100');
    const minimumOut = (quote.expectedOut * BigInt(10_000 - slippageBps) + 9_999n) / 10_000n;
    const terms = { minimumOut, slippageBps, recipient: taker, deadlineSeconds: 2n ** 63n };
    const [call] = (await quote.createSwap(terms)).calls;
    const allowanceTarget = from.isNative ? null : uniswapV3.router;
    const price = {
      liquidityAvailable: true,
      allowanceTarget,
      blockNumber: '1',
      sellToken: ask('sellToken'),
      buyToken: ask('buyToken'),
      sellAmount: amountIn.toString(),
      buyAmount: quote.expectedOut.toString(),
      minBuyAmount: minimumOut.toString(),
      fees: { integratorFee: null, zeroExFee: null, gasFee: null },
      issues: {
        allowance: allowanceTarget === null ? null : { actual: '0', spender: allowanceTarget },
        balance: null,
        simulationIncomplete: false,
        invalidSourcesPassed: [],
      },
      zid: '0x0',
    };
    const { to: target, data, value } = call ?? {};
    const transaction = { to: target, data, gas: '500000', gasPrice: '1', value: value?.toString() };
    return url.pathname.endsWith('/quote') ? { ...price, transaction } : price;
  };

  const server = await startUpstream((request, response) => {
    const url = new URL(request.url ?? '', 'http://stand-in');
    const { '0x-api-key': key, '0x-version': version } = request.headers;
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (key !== API_KEY || version !== 'v2') {
      send(401, { name: 'UNAUTHORIZED', message: `no such key: ${String(key)}`, data: { zid: '0x0' } });
      return;
    }
    answer(url).then(
      (body) => send(200, standIn.change(body)),
      (error: unknown) => send(500, { name: 'INTERNAL_SERVER_ERROR', message: String(error) }),
    );
  });
  const standIn: ZeroExStandIn = Object.assign(server, { change: (body: ZeroExAnswer) => body });
  return standIn;
}
