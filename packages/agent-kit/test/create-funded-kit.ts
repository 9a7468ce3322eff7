import { encodeFunctionData, erc20Abi, numberToHex, parseEther, parseUnits, type Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';

import type { Devnet, DevnetWithProtocols } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { AgentKit } from '../src/agent-kit.js';
import type { AgentKitOptions } from '../src/settings/agent-kit-options.js';

/** The balances of a new account: 100 SEI, 10,000 USDC, 20 WSEI, 0.1 WBTC. */
const FUNDS = { SEI: parseEther('100'), USDC: parseUnits('10000', 6), WSEI: parseEther('20'), WBTC: 10_000_000n };

/** A kit that asks the chain often. @param key or the number of one of the chain's accounts */
export function kitOf(chain: Devnet, key: Hex | number, options: AgentKitOptions = {}): AgentKit {
  return new AgentKit(typeof key === 'number' ? (chain.accounts[key]?.privateKey ?? '') : key, 'offline', {
    rpcUrl: chain.rpcUrl,
    networkRetryDelayMs: 0,
    monitor: { intervalMs: 20, attempts: 1500 },
    ...options,
  });
}

/**
 * A kit with an account of its own, so that tests share neither positions nor nonces. The devnet's last account funds
 * it.
 */
export async function createFundedKit(chain: DevnetWithProtocols, options: AgentKitOptions = {}): Promise<AgentKit> {
  const kit = kitOf(chain, generatePrivateKey(), options);
  await callRpc(chain.rpcUrl, 'anvil_setBalance', [kit.address, numberToHex(FUNDS.SEI)]);
  const from = chain.accounts.at(-1)?.address;
  for (const symbol of ['USDC', 'WSEI', 'WBTC'] as const) {
    const args = [kit.address, FUNDS[symbol]] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    await sendTransaction(chain, { from, to: chain.contracts.tokens[symbol], data });
  }
  return kit;
}
