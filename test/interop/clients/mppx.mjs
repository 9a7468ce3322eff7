import { Receipt } from 'mppx';
import { evm, Mppx } from 'mppx/client';
import { privateKeyToAccount } from 'viem/accounts';

import { readAnswer } from './read-answer.mjs';
import { retryFetch } from './retry-fetch.mjs';

export function createClient({ privateKey, chainId, asset, assetName, assetVersion, maxAmount, retries }) {
  const mppx = Mppx.create({
    polyfill: false,
    fetch: retries ? retryFetch : fetch,
    methods: [
      evm({
        account: privateKeyToAccount(privateKey),
        networks: [chainId],
        currencies: [asset],
        authorization: { name: assetName, version: assetVersion },
        maxAtomicAmount: maxAmount,
      }),
    ],
  });
  return async (url, init) => readAnswer(await mppx.fetch(url, init), readReceipt);
}

function readReceipt(header) {
  const value = header('Payment-Receipt');
  return value && Receipt.deserialize(value);
}
