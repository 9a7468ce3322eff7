import type { PaidRoute } from '../paywall/route/paid-route.js';
import { showPrice, type SaleTerms } from './sale-facts.js';

/** What is sold, by whom, for the pages that list it. */
export interface FrontPageParts {
  readonly terms: SaleTerms;
  readonly routes: readonly PaidRoute[];
  readonly signs: boolean;
}

/** One way to pay from a program, as text. */
export interface WayToPay {
  readonly title: string;
  readonly text: string;
  readonly code: string;
}

/** The ways to pay the first route, so that the commands can be pasted. */
export function listWays({ terms, routes, signs }: FrontPageParts, originUrl: string): WayToPay[] {
  const url = originUrl + (routes[0]?.path ?? '/');
  const { payment, chain, token } = terms;
  const { network } = payment;
  const asset = `{ network: '${network}', chainId: ${chain.id}, address: '${token.address}', decimals: ${token.decimals} }`;
  const price = routes[0] === undefined ? '1' : showPrice(routes[0].priceBaseUnits, token).split(' ')[0];
  const signed: WayToPay = {
    title: 'With @x402/fetch',
    text: 'The client signs, and the gateway settles the payment: no gas.',
    code: `import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { registerExactEvmScheme } from '@x402/evm/exact/client';

const client = new x402Client();
registerExactEvmScheme(client, { signer: account });
const response = await wrapFetchWithPayment(fetch, client)('${url}');`,
  };
  return [
    {
      title: 'With curl',
      text: 'Ask for the price, send the transfer that it names, and ask again with the hash of the transaction.',
      code: `# 402: accepts[0] has payTo, asset, maxAmountRequired and extra.reference
curl -i '${url}'
# After the transfer:
PROOF='{"x402Version":1,"scheme":"exact","network":"${network}","payload":{"txHash":"0xHASH","reference":"REFERENCE"}}'
curl -H "X-Payment: $(printf %s "$PROOF" | base64 | tr -d '\\n')" '${url}'`,
    },
    {
      title: 'With @tollgate/client',
      text: 'It pays at most what you allow, and never twice for one request.',
      code: `import { createWallet, fetchWithPayment } from '@tollgate/client';

const wallet = createWallet({ account, rpcUrl, chainId: ${chain.id} });
const pay = fetchWithPayment(fetch, wallet, {
  assets: [${asset}],
  maxAmount: '${price}',
});
const response = await pay('${url}');`,
    },
    ...(signs ? [signed] : []),
    {
      title: 'As an agent',
      text: 'Any x402 or MPP client works. Read the price from the 402, pay only what your policy allows, and keep extra.reference, which gets the same answer again.',
      code: `GET ${url}`,
    },
  ];
}
