import { nameLane, type Journal, type LaneId } from '@tollgate/journal';

import type { WalletDirectory } from './wallet-directory.js';

/** An account with a role. */
export interface Account {
  lane: LaneId;
  role: 'wallet' | 'relayer';
  /** Its names in the workers' settings; none for a relayer, or for a wallet whose name was removed. */
  names: string[];
}

export interface AccountSources {
  directory: WalletDirectory;
  /** The journal of agent jobs. */
  journal: Journal;
  /** The journal of the verifiers' relayers. */
  relayers: Journal;
}

/** Every account that has a name or was adopted: the wallets by name, then those without one, then the relayers. */
export async function listAccounts({ directory, journal, relayers }: AccountSources): Promise<Account[]> {
  const accounts = new Map<string, Account>();
  for (const { name, lane } of await directory.list()) {
    const known = accounts.get(nameLane(lane));
    if (known) known.names.push(name);
    else accounts.set(nameLane(lane), { lane, role: 'wallet', names: [name] });
  }
  for (const [role, fleet] of [
    ['wallet', journal],
    ['relayer', relayers],
  ] as const) {
    for (const lane of await fleet.readLanes()) {
      if (!accounts.has(nameLane(lane))) accounts.set(nameLane(lane), { lane, role, names: [] });
    }
  }
  return [...accounts.values()];
}
