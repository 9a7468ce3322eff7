import { CommandError } from './cli-command.js';

/** The default of the services' CHAIN_ID. */
const DEFAULT_CHAIN_ID = 1328;

/** CHAIN_ID, as the services read it. @throws CommandError */
export function findConfiguredChain({ CHAIN_ID: text }: NodeJS.ProcessEnv): number {
  if (!text) return DEFAULT_CHAIN_ID;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new CommandError('CHAIN_ID must be a whole number.');
}
