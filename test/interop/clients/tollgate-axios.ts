import { createWallet } from '@tollgate/client';
import { payWithAxios } from '@tollgate/client/axios';
import axios from 'axios';

import { axiosRequest, readAxiosAnswer } from './read-answer.mjs';
import { readReceipt, type Configuration } from './tollgate.js';

/** The paying client as an interceptor of axios. */
export function createClient({ privateKey, rpcUrl, chainId, asset }: Configuration) {
  const wallet = createWallet({ account: privateKey, rpcUrl, chainId });
  const assets = [{ network: 'chain-testnet', chainId, address: asset, decimals: 6 }];
  const api = axios.create();
  payWithAxios(api, wallet, { assets, maxAmount: '0.1' });
  return (url: string, init: object) => readAxiosAnswer(api.request(axiosRequest(url, init)), readReceipt);
}
