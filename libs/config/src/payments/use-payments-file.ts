import { ConfigurationError } from '../configuration-error.js';
import { expandVariables, VariableError } from '../files/expand-variables.js';
import { hintAt } from '../files/parse-entry.js';
import { readTextFile } from '../files/read-setting-file.js';
import { findUrlProblems } from '../url-problems.js';
import { parsePayments } from './parse-payments.js';
import type { PaymentChain, PaymentOption, Payments } from './payments.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The environment with what `PAYMENTS_FILE` says in place of its variables. */
export interface UsedPaymentsFile {
  readonly env: Env;
  /** Null without such a file. */
  readonly payments: Payments | null;
  readonly problems: readonly string[];
  /** Settings about which nothing is said beyond these problems. */
  readonly unknown: ReadonlySet<string>;
}

/** The chain that a process serves, and the first option on it. */
interface Own {
  readonly chain: PaymentChain;
  readonly option: PaymentOption;
}

/** The settings that the file stands for, and what it says of each; null: nothing. Only those of the process are asked for. */
const REPLACED: Readonly<Record<string, (own: Own, env: Env) => string | null>> = {
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
  CHAIN_NAME: ({ chain }) => chain.title,
  NATIVE_SYMBOL: ({ chain }) => chain.coin,
  WALLET_RPC_URL: ({ chain }) => chain.walletRpc,
  RPC_URL: ({ chain }) => chain.rpc.join(','),
  RECONCILE_RPC_URL: ({ chain }) => chain.reconcileRpc.join(','),
  RELAYER_PRIVATE_KEYS: ({ chain: { name, relayers } }, env) => relayers && expand(`${name}.relayers`, relayers, env),
  FACILITATOR_ASSETS: () => null,
};

/**
 * Reads `PAYMENTS_FILE` if it is set, for a process with these settings. Of several chains, one with the setting `CHAIN`
 * knows the options of that chain alone, and any other process those of all.
 */
export function usePaymentsFile(env: Env, settings: ReadonlySet<string>): UsedPaymentsFile {
  const file = env['PAYMENTS_FILE']?.trim() ?? '';
  const chainName = settings.has('CHAIN') ? (env['CHAIN']?.trim() ?? '') : '';
  if (file === '' || !settings.has('PAYMENTS_FILE')) {
    const problems = chainName === '' ? [] : ['CHAIN names a chain of PAYMENTS_FILE, which is not set.'];
    return { env, payments: null, problems, unknown: new Set() };
  }
  const replaced = Object.keys(REPLACED).filter((name) => settings.has(name));
  const given = replaced.filter((name) => isSet(env, name) || isSet(env, `${name}_FILE`));
  const problems = given.length > 0 ? [`PAYMENTS_FILE replaces ${given.join(', ')}: remove them, or the file.`] : [];
  try {
    const all = parsePayments(readTextFile(file), env);
    const known = settings.has('CHAIN') ? ofChain(all, chainName) : all;
    const payments = settings.has('RPC_URL') ? withRpc(known, env, settings.has('RECONCILE_RPC_URL')) : known;
    const [option] = payments.options;
    if (option === undefined) throw new TypeError('a payments file has at least one option');
    const used: Record<string, string | undefined> = { ...env };
    for (const name of replaced) used[name] = REPLACED[name]?.({ chain: option.chain, option }, env) ?? undefined;
    return { env: used, payments, problems, unknown: new Set() };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const found = error.problems.map((problem) => `PAYMENTS_FILE ${file}: ${problem}`);
    return { env, payments: null, problems: [...problems, ...found], unknown: new Set(replaced) };
  }
}

function isSet(env: Env, name: string): boolean {
  return (env[name]?.trim() ?? '') !== '';
}

/** What a process knows that serves one chain. @param name empty: the first option's */
function ofChain({ chains, options }: Payments, name: string): Payments {
  const own = name === '' ? chains[0] : chains.find((chain) => chain.name === name);
  if (own === undefined) {
    const names = chains.map((chain) => chain.name);
    throw new ConfigurationError([`CHAIN ${name} is no chain of an option; ${hintAt(name, names, 'chains')}`]);
  }
  return { chains: [own], options: options.filter(({ chain }) => chain === own) };
}

/** With the URLs of the chains' RPC servers. @param isCompared whether this process compares the book with the chains */
function withRpc({ chains, options }: Payments, env: Env, isCompared: boolean): Payments {
  const problems: string[] = [];
  const expandAll = (place: string, texts: readonly string[]): string[] => {
    const urls = texts.flatMap((text) => {
      try {
        return expand(place, text, env).split(/\s*,\s*/);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        problems.push(...error.problems);
        return [];
      }
    });
    problems.push(...findUrlProblems(`chains.${place}`, urls));
    return urls;
  };
  const connected = new Map(
    chains.map((chain) => {
      const { name, reconcileRpc } = chain;
      if (chain.rpc.length === 0) problems.push(`chains.${name}.rpc is missing, and this process reads the chain.`);
      const rpc = expandAll(`${name}.rpc`, chain.rpc);
      if (!isCompared) return [chain, { ...chain, rpc }];
      // Of the same servers, a missing variable is named once.
      const isSame = reconcileRpc.join() === chain.rpc.join();
      return [chain, { ...chain, rpc, reconcileRpc: isSame ? rpc : expandAll(`${name}.reconcileRpc`, reconcileRpc) }];
    }),
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  const connect = (chain: PaymentChain): PaymentChain => connected.get(chain) ?? chain;
  return {
    chains: chains.map(connect),
    options: options.map((option) => ({ ...option, chain: connect(option.chain) })),
  };
}

function expand(place: string, text: string, env: Env): string {
  try {
    return expandVariables(text, env);
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    throw new ConfigurationError([`chains.${place}: ${error.message}.`]);
  }
}
