import { usePaymentsFile } from '@tollgate/config';

import { CommandError } from './cli-command.js';

/** The default of the services' CHAIN_ID. */
const DEFAULT_CHAIN_ID = 1328;
const OF_PAYMENTS = new Set(['PAYMENTS_FILE', 'CHAIN_ID', 'ASSET_ADDRESS', 'ASSET_SYMBOL', 'ASSET_DECIMALS']);

/** The settings of chain and token, as the services read them: of `PAYMENTS_FILE` if it is set. @throws CommandError */
export function withPaymentsFile(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { env, problems } = usePaymentsFile(given, OF_PAYMENTS);
  if (problems.length > 0) throw new CommandError(problems.join(' '));
  return env;
}

/** CHAIN_ID, as the services read it. @throws CommandError */
export function findConfiguredChain(env: NodeJS.ProcessEnv): number {
  const { CHAIN_ID: text } = withPaymentsFile(env);
  if (!text) return DEFAULT_CHAIN_ID;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new CommandError('CHAIN_ID must be a whole number.');
}
