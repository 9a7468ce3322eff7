import { createWallet, fetchWithPayment } from '@tollgate/client';

const [url = 'http://127.0.0.1:4020/api/weather'] = process.argv.slice(2);

const wallet = createWallet({
  account: process.env['WALLET_PRIVATE_KEY'] as `0x${string}`,
  rpcUrl: process.env['RPC_URL'] ?? 'http://127.0.0.1:8545',
  chainId: 1328,
});
const payingFetch = fetchWithPayment(fetch, wallet, {
  // The only token to pay with, and the most to pay.
  assets: [
    { network: 'chain-testnet', chainId: 1328, address: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', decimals: 6 },
  ],
  maxAmount: '0.01',
});

const response = await payingFetch(url);
console.log(response.status, await response.json());
