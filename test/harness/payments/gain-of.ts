import type { Hex } from '@tollgate/protocol';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../tools/devnet/chain/read-balance.js';

/** Runs the work, and returns by how much the balance has grown meanwhile; less than 0 where it has shrunk. */
export async function gainOf(
  chain: Pick<Devnet, 'rpcUrl' | 'asset'>,
  owner: Hex,
  work: () => Promise<unknown>,
): Promise<bigint> {
  const before = await readBalance(chain, owner);
  await work();
  return (await readBalance(chain, owner)) - before;
}
