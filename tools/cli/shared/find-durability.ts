import { DURABILITY_BOUNDS, type Durability } from '@tollgate/redis';

import { CommandError } from './cli-command.js';

/**
 * What must acknowledge a change before a command reports it: LEDGER_DURABILITY, LEDGER_REPLICAS and
 * LEDGER_REPLICA_TIMEOUT_MS, with the defaults and limits of the services. Null: only the server.
 * @throws CommandError for a value that the services refuse too
 */
export function findDurability(env: NodeJS.ProcessEnv): Durability | null {
  const kind = env['LEDGER_DURABILITY'] || 'local';
  if (kind === 'local') return null;
  if (kind !== 'replica') throw new CommandError('LEDGER_DURABILITY must be local or replica.');
  return {
    replicas: readWhole(env, 'LEDGER_REPLICAS', DURABILITY_BOUNDS.replicas),
    timeoutMs: readWhole(env, 'LEDGER_REPLICA_TIMEOUT_MS', DURABILITY_BOUNDS.timeoutMs),
  };
}

function readWhole(
  env: NodeJS.ProcessEnv,
  name: string,
  { from, to, usually }: { from: number; to: number; usually: number },
): number {
  const value = Number(env[name] || usually);
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  throw new CommandError(`${name} must be a whole number from ${from} to ${to}.`);
}
