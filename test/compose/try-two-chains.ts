import { MemoryPaymentStore, createWallet, fetchWithPayment } from '@tollgate/client';

import { expectWholeBook } from '../../test/harness/agents/operator-client.js';
import { derivePayer, describeDevnet } from '../../tools/devnet/chain/chain.js';
import { FIRST_CHAIN_ID, SECOND_CHAIN_ID } from '../../tools/devnet/chain/two-chains.js';
import { assert, step, type ComposeStack } from './compose-stack.js';

const SERVICES = ['redis', 'postgres', 'devnet', 'devnet-2', 'gateway', 'bookkeeper', 'verifier', 'verifier-2'];
const NETWORKS: Record<number, string> = { [FIRST_CHAIN_ID]: 'chain-testnet', [SECOND_CHAIN_ID]: 'chain-testnet-2' };
/** In which a gateway notices that no verifier of a chain answers any more. */
const WITHIN_MS = 60_000;

/** Sells on two chains, and on one of them while the other one's verifier is stopped. */
export async function tryTwoChains(stack: ComposeStack): Promise<void> {
  step('build and start: two devnets, a verifier for each');
  await stack.up('--build');
  await stack.waitUntilHealthy(SERVICES);

  step('a paid answer on each of the two chains');
  await buyOn(stack, FIRST_CHAIN_ID);
  await buyOn(stack, SECOND_CHAIN_ID);

  step("with the first chain's verifier stopped, the second chain is offered and paid");
  const [first = ''] = stack.containersOf('verifier');
  stack.docker('stop', first);
  await untilOffered(stack, [SECOND_CHAIN_ID]);
  await buyOn(stack, SECOND_CHAIN_ID);
  stack.docker('start', first);
  await untilOffered(stack, [FIRST_CHAIN_ID, SECOND_CHAIN_ID]);
  await buyOn(stack, FIRST_CHAIN_ID);

  step('both chains and the book agree in every transfer');
  const { firstBlock, block } = await expectWholeBook(stack.connectOperator());
  console.log(`    blocks ${firstBlock} to ${block}: 0 differences`);
}

/** By a signature, since version 2 offers every option that one pays. */
async function buyOn(stack: ComposeStack, chainId: number): Promise<void> {
  const { asset: address } = describeDevnet(chainId);
  const rpcUrl = chainId === FIRST_CHAIN_ID ? stack.rpcUrl : stack.secondRpcUrl;
  const wallet = createWallet({ account: derivePayer(1).privateKey, rpcUrl, chainId });
  const assets = [{ network: NETWORKS[chainId] ?? '', chainId, address, decimals: 6 }];
  const paying = fetchWithPayment(fetch, wallet, { assets, maxAmount: '0.01', store: new MemoryPaymentStore() });
  const response = await paying(`${stack.gateway}/api/weather`);
  const answer = await response.text();
  assert(response.status === 200, `chain ${chainId}: status ${response.status}: ${answer}`);
  console.log(`    chain ${chainId}: 200, ${answer.slice(0, 60)}…`);
}

/** Waits until the gateway offers the options of these chains, and no others. */
async function untilOffered(stack: ComposeStack, chainIds: readonly number[]): Promise<void> {
  const wanted = chainIds.map((chainId) => `eip155:${chainId}`).join();
  for (const endsAtMs = Date.now() + WITHIN_MS; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const { headers } = await fetch(`${stack.gateway}/api/weather`);
    const header = Buffer.from(headers.get('PAYMENT-REQUIRED') ?? '', 'base64').toString() || '{"accepts":[]}';
    const { accepts } = JSON.parse(header) as { accepts: { network: string }[] };
    const offered = [...new Set(accepts.map(({ network }) => network))].join();
    if (offered === wanted) return;
    assert(Date.now() < endsAtMs, `offered on ${offered}, not on ${wanted}`);
  }
}
