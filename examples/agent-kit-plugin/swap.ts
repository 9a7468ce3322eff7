import { AgentKit } from '@tollgate/agent-kit';

import { gasPrice } from './gas-price.js';
import { uniswapV2Swap } from './uniswap-v2.js';

const kit = new AgentKit(process.env['WALLET_PRIVATE_KEY'] ?? '', 'offline', {
  rpcUrl: process.env['RPC_URL'] ?? 'http://127.0.0.1:8545',
  plugins: [
    uniswapV2Swap({
      router: '0xb21fDbd3a391282137CbDd5D5c7152B57B13281f',
      wrappedNative: '0xc7e697c9aCE9Be81e68bF9e374557c8f5fC3F692',
      chainIds: [1328],
    }),
    gasPrice,
  ],
});

console.log('gas price:', await kit.read('getGasPrice', {}));

const plan = await kit.plan('swap', { amount: '1', fromToken: 'USDC', toToken: '0x0' });
console.log(plan.preview);

const { status, result } = await kit.execute(plan);
console.log(status, result);
