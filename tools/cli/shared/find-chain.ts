import { usePaymentsFile, type Payments } from '@tollgate/config';

import { CommandError } from './cli-command.js';

/** The default of the services' CHAIN_ID. */
const DEFAULT_CHAIN_ID = 1328;
const OF_PAYMENTS = new Set(['PAYMENTS_FILE', 'CHAIN_ID', 'ASSET_ADDRESS', 'ASSET_SYMBOL', 'ASSET_DECIMALS']);

const OF_CHAIN = new Set(['PAYMENTS_FILE', 'CHAIN', 'RPC_URL']);

/** What `PAYMENTS_FILE` says, as the services read it; null without one. @throws CommandError */
export function readPaymentsFile(env: NodeJS.ProcessEnv): Payments | null {
  const { payments, problems } = usePaymentsFile(env, OF_PAYMENTS);
  if (problems.length > 0) throw new CommandError(problems.join(' '));
  return payments;
}

/** The ids of the chains of `PAYMENTS_FILE`, else CHAIN_ID, as the services read it. @throws CommandError */
export function findConfiguredChains(env: NodeJS.ProcessEnv): readonly number[] {
  const payments = readPaymentsFile(env);
  if (payments !== null) return payments.chains.map(({ id }) => id);
  const { CHAIN_ID: text } = env;
  if (!text) return [DEFAULT_CHAIN_ID];
  if (/^[1-9]\d*$/.test(text)) return [Number(text)];
  throw new CommandError('CHAIN_ID must be a whole number.');
}

/** The RPC servers of a chain of `PAYMENTS_FILE`; null: of its only one. None where it has no such chain. @throws CommandError */
export function readRpcOfFile(env: NodeJS.ProcessEnv, chainId: number | null): readonly string[] {
  const chains = readPaymentsFile(env)?.chains ?? [];
  const [chain, ...others] = chains.filter(({ id }) => chainId === null || id === chainId);
  if (chain === undefined || others.length > 0) return [];
  // Of the variables in the file, only those of this chain are needed.
  const { payments, problems } = usePaymentsFile({ ...env, CHAIN: chain.name }, OF_CHAIN);
  if (problems.length > 0) throw new CommandError(problems.join(' '));
  return payments?.chains[0]?.rpc ?? [];
}
