import { ConfigurationError } from '../configuration-error.js';
import { expandVariables, VariableError } from '../files/expand-variables.js';
import { readTextFile } from '../files/read-setting-file.js';
import { parsePayments, type Payments } from './parse-payments.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The environment with what `PAYMENTS_FILE` says in place of its variables. */
export interface UsedPaymentsFile {
  readonly env: Env;
  readonly problems: readonly string[];
  /** Settings about which nothing is said beyond these problems. */
  readonly unknown: ReadonlySet<string>;
}

/** The settings of chain and option where there is no file. */
const OF_ONE_OPTION: readonly string[] = [
  ...[
    'NETWORK',
    'CHAIN_ID',
    'ASSET_ADDRESS',
    'ASSET_SYMBOL',
    'ASSET_NAME',
    'ASSET_DECIMALS',
    'ASSET_VERSION',
    'PAY_TO',
  ],
  ...['CONFIRMATIONS', 'EXPLORER_URL', 'RPC_URL', 'RELAYER_PRIVATE_KEYS'],
];

/** Reads `PAYMENTS_FILE` if it is set, for a process with these settings. */
export function usePaymentsFile(env: Env, settings: ReadonlySet<string>): UsedPaymentsFile {
  const file = env['PAYMENTS_FILE']?.trim() ?? '';
  if (file === '' || !settings.has('PAYMENTS_FILE')) return { env, problems: [], unknown: new Set() };
  const replaced = OF_ONE_OPTION.filter((name) => settings.has(name));
  const given = replaced.filter((name) => isSet(env, name) || isSet(env, `${name}_FILE`));
  const problems = given.length > 0 ? [`PAYMENTS_FILE replaces ${given.join(', ')}: remove them, or the file.`] : [];
  try {
    const values = Object.entries(toSettings(parsePayments(readTextFile(file), env), settings, env));
    const expanded = { ...env, ...Object.fromEntries(values.filter(([name]) => replaced.includes(name))) };
    return { env: expanded, problems, unknown: new Set() };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const found = error.problems.map((problem) => `PAYMENTS_FILE ${file}: ${problem}`);
    return { env, problems: [...problems, ...found], unknown: new Set(replaced) };
  }
}

function isSet(env: Env, name: string): boolean {
  return (env[name]?.trim() ?? '') !== '';
}

function toSettings({ chain, option }: Payments, settings: ReadonlySet<string>, env: Env): Record<string, string> {
  return {
    NETWORK: chain.network,
    CHAIN_ID: String(chain.id),
    ASSET_ADDRESS: option.asset,
    ASSET_SYMBOL: option.symbol,
    ASSET_NAME: option.domainName,
    ASSET_DECIMALS: String(option.decimals),
    ASSET_VERSION: option.domainVersion,
    PAY_TO: option.payTo,
    CONFIRMATIONS: String(chain.confirmations),
    ...(chain.explorer !== null && { EXPLORER_URL: chain.explorer }),
    ...(settings.has('RPC_URL') && { RPC_URL: expandRpc(chain, env) }),
    ...(settings.has('RELAYER_PRIVATE_KEYS') &&
      chain.relayers !== null && { RELAYER_PRIVATE_KEYS: expand(`${chain.name}.relayers`, chain.relayers, env) }),
  };
}

function expandRpc({ name, rpc }: Payments['chain'], env: Env): string {
  if (rpc.length > 0) return rpc.map((url) => expand(`${name}.rpc`, url, env)).join(',');
  throw new ConfigurationError([`chains.${name}.rpc is missing, and this process reads the chain.`]);
}

function expand(place: string, text: string, env: Env): string {
  try {
    return expandVariables(text, env);
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    throw new ConfigurationError([`chains.${place}: ${error.message}.`]);
  }
}
