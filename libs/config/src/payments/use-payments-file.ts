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

/** The settings that the file stands for, and what it says of each; null: nothing. Only those of the process are asked for. */
const REPLACED: Readonly<Record<string, (payments: Payments, env: Env) => string | null>> = {
  NETWORK: ({ chain }) => chain.network,
  CHAIN_ID: ({ chain }) => String(chain.id),
  ASSET_ADDRESS: ({ option }) => option.asset,
  ASSET_SYMBOL: ({ option }) => option.symbol,
  ASSET_NAME: ({ option }) => option.domainName,
  ASSET_DECIMALS: ({ option }) => String(option.decimals),
  ASSET_VERSION: ({ option }) => option.domainVersion,
  PAY_TO: ({ option }) => option.payTo,
  CONFIRMATIONS: ({ chain }) => String(chain.confirmations),
  EXPLORER_URL: ({ chain }) => chain.explorer,
  RPC_URL: ({ chain }, env) => expandRpc(chain, env),
  RELAYER_PRIVATE_KEYS: ({ chain: { name, relayers } }, env) => relayers && expand(`${name}.relayers`, relayers, env),
};

/** Reads `PAYMENTS_FILE` if it is set, for a process with these settings. */
export function usePaymentsFile(env: Env, settings: ReadonlySet<string>): UsedPaymentsFile {
  const file = env['PAYMENTS_FILE']?.trim() ?? '';
  if (file === '' || !settings.has('PAYMENTS_FILE')) return { env, problems: [], unknown: new Set() };
  const replaced = Object.keys(REPLACED).filter((name) => settings.has(name));
  const given = replaced.filter((name) => isSet(env, name) || isSet(env, `${name}_FILE`));
  const problems = given.length > 0 ? [`PAYMENTS_FILE replaces ${given.join(', ')}: remove them, or the file.`] : [];
  try {
    const payments = parsePayments(readTextFile(file), env);
    const used: Record<string, string | undefined> = { ...env };
    for (const name of replaced) used[name] = REPLACED[name]?.(payments, env) ?? undefined;
    return { env: used, problems, unknown: new Set() };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const found = error.problems.map((problem) => `PAYMENTS_FILE ${file}: ${problem}`);
    return { env, problems: [...problems, ...found], unknown: new Set(replaced) };
  }
}

function isSet(env: Env, name: string): boolean {
  return (env[name]?.trim() ?? '') !== '';
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
