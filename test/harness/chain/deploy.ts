import { encodeFunctionData, erc20Abi, maxUint256, type Hex } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { encodeTransfer, sendTransaction, type TokenTransfer } from '../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts } from '../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { creationCode } from '../../../tools/devnet/protocols/artifacts.js';

/** Deploys a token that also calls itself USDC but is not the devnet's, and gives every account a million of it. */
export async function deployToken(chain: Devnet): Promise<Hex> {
  const { OtherToken } = await readContracts();
  const token = await deploy(chain, OtherToken.bytecode);
  for (const { address } of chain.accounts) {
    const args = [address, 1_000_000_000_000n];
    await sendTransaction(chain, {
      to: token,
      data: encodeFunctionData({ abi: OtherToken.abi, functionName: 'mint', args }),
    });
  }
  return token;
}

export interface BatchPayer {
  /** The payer in the `Transfer` logs. Its signatures, those of the devnet's first account, are checked by EIP-1271. */
  address: Hex;
  /** Makes all the transfers in one transaction, in order, and returns its hash; `token` is USDC by default. */
  pay(transfers: (TokenTransfer & { token?: Hex })[]): Promise<Hex>;
  /** Lets a contract move all of the wallet's USDC. */
  approve(spender: Hex): Promise<Hex>;
}

/** Deploys a contract wallet with 1,000 USDC that makes several transfers in one transaction. */
export async function deployBatchPayer(chain: Devnet): Promise<BatchPayer> {
  const owner = chain.accounts[0]?.address;
  if (!owner) throw new Error('the devnet has no accounts');
  const { BatchWallet } = await readContracts();
  const address = await deploy(chain, creationCode(BatchWallet, [owner]));
  await sendTransaction(chain, {
    to: chain.asset,
    data: encodeTransfer(chain, { to: address, amountBaseUnits: 1_000_000_000n }),
  });
  const execute = (calls: { target: Hex; data: Hex }[]): Promise<Hex> => {
    const args = [calls];
    const data = encodeFunctionData({ abi: BatchWallet.abi, functionName: 'execute', args });
    return sendTransaction(chain, { from: owner, to: address, data });
  };
  return {
    address,
    pay: (transfers) =>
      execute(
        transfers.map(({ token: target = chain.asset, ...transfer }) => ({
          target,
          data: encodeTransfer(chain, transfer),
        })),
      ),
    approve: (spender) => {
      const args = [spender, maxUint256] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args });
      return execute([{ target: chain.asset, data }]);
    },
  };
}

/** Returns the address of the new contract. */
export async function deploy(chain: Devnet, creationCode: Hex): Promise<Hex> {
  const hash = await sendTransaction(chain, { data: creationCode });
  const receipt = (await callRpc(chain.rpcUrl, 'eth_getTransactionReceipt', [hash])) as {
    status: Hex;
    contractAddress: Hex;
  };
  if (receipt.status !== '0x1') throw new Error(`a contract was not deployed: transaction ${hash} reverted`);
  return receipt.contractAddress;
}
