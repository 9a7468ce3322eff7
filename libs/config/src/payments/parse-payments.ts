import { isAddress, isRecord, KNOWN_CHAINS, lowerHex, type Hex, type KnownChain } from '@tollgate/protocol';

import { ConfigurationError } from '../configuration-error.js';
import { expandVariables, VariableError } from '../files/expand-variables.js';
import { hintAt, parseEntry, reportUnknownKeys, type ParsedEntry } from '../files/parse-entry.js';
import { describeProblems, parseYaml, type FileProblem, type Place } from '../files/parse-yaml.js';
import { ChainEntry, OptionEntry } from './payments-entries.js';
import { chainsOf, DEFAULT_COIN, type PaymentChain, type PaymentOption, type Payments } from './payments.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The options of a payments file, and their chains.
 *
 * @param env for `${NAME}` in its values; those in `rpc` and `relayers` are left for the process that needs them
 * @throws ConfigurationError listing every problem with its place: `accepts.usdc-base.token (line 9): …`
 */
export function parsePayments(text: string, env: Env): Payments {
  const yaml = parseYaml(text);
  const problems: FileProblem[] = [];
  const { chains, accepts } = readSections(yaml.value, problems);
  const named = readChains(chains, problems);
  const options = Object.entries(accepts).flatMap(([name, entry]) => readOption(name, entry, { named, env }, problems));
  reportEqualOptions(options, problems);
  reportTokensAsRecipients(options, problems);
  if (problems.length > 0) throw new ConfigurationError(describeProblems(yaml, problems));
  return { chains: chainsOf(options), options };
}

type Section = Readonly<Record<string, unknown>>;

function readSections(file: unknown, problems: FileProblem[]): Record<'chains' | 'accepts', Section> {
  const sections = { chains: {}, accepts: {} };
  if (!isRecord(file)) {
    problems.push({ place: [], message: 'must have "chains:" and "accepts:"' });
    return sections;
  }
  reportUnknownKeys(file, Object.keys(sections), [], problems);
  const read = (name: 'chains' | 'accepts', each: string): Section => {
    const section = file[name];
    if (isRecord(section) && Object.keys(section).length > 0) return section;
    problems.push({ place: [name], message: `must have at least one ${each}, by its name` });
    return {};
  };
  return { chains: read('chains', 'chain'), accepts: read('accepts', 'option') };
}

/** The chains by name; null for one with a problem, so that options may name it. */
function readChains(section: Section, problems: FileProblem[]): Map<string, PaymentChain | null> {
  const chains = new Map<string, PaymentChain | null>();
  for (const [name, entry] of Object.entries(section)) {
    const place = ['chains', name];
    if (!NAME.test(name))
      problems.push({ place, message: 'has a name that is not lower-case letters, digits, dots and hyphens' });
    const chain = readChain(name, entry ?? {}, place, problems);
    const others = [...chains.values()].filter((other) => other !== null);
    const same = others.find((other) => other.id === chain?.id);
    if (same) problems.push({ place, message: `is chain ${same.id}, like "${same.name}"` });
    const called = same ? undefined : others.find((other) => other.network === chain?.network);
    if (called) problems.push({ place, message: `has the network "${called.network}", like "${called.name}"` });
    chains.set(name, same || called ? null : chain);
  }
  return chains;
}

function readChain(name: string, entry: unknown, place: Place, problems: FileProblem[]): PaymentChain | null {
  const before = problems.length;
  if (!isRecord(entry)) {
    problems.push({
      place,
      message: 'must be a chain: rpc, confirmations, relayers; id and network if it is no known one',
    });
    return null;
  }
  const known = KNOWN_CHAINS.find((one) => one.name === name);
  const { description } = parseEntry(ChainEntry, entry, place, problems);
  const id = description.id ?? known?.id;
  const network = description.network ?? known?.name;
  if (known !== undefined && description.id !== undefined && description.id !== known.id)
    problems.push({ place: [...place, 'id'], message: `is not that of ${name}, which is ${known.id}` });
  if (id === undefined || network === undefined) {
    const hint = hintAt(
      name,
      KNOWN_CHAINS.map((one) => one.name),
      'chains',
    );
    problems.push({ place, message: `is no known chain; ${hint} Any other chain needs id and network` });
  }
  if (problems.length > before || id === undefined || network === undefined) return null;
  const { rpc, reconcileRpc = rpc, reconcileConfirmations, relayers, confirmations } = description;
  const { explorer, title, coin, walletRpc } = description;
  return {
    name,
    id,
    network,
    explorer: explorer ?? known?.explorer ?? null,
    title: title ?? null,
    coin: coin ?? known?.coin ?? DEFAULT_COIN,
    walletRpc: walletRpc ?? null,
    confirmations,
    rpc: listOf(rpc),
    reconcileRpc: listOf(reconcileRpc),
    reconcileConfirmations: reconcileConfirmations ?? null,
    relayers: relayers ?? null,
    settles: relayers !== undefined,
  };
}

/** As of wallets, whose names may hold it. */
const NAME = /^[a-z0-9][a-z0-9.-]{0,62}$/;

interface OptionContext {
  readonly named: ReadonlyMap<string, PaymentChain | null>;
  readonly env: Env;
}

function readOption(
  name: string,
  entry: unknown,
  { named, env }: OptionContext,
  problems: FileProblem[],
): PaymentOption[] {
  const place = ['accepts', name];
  const before = problems.length;
  if (!isRecord(entry)) {
    problems.push({ place, message: 'must be an option: chain, token, payTo' });
    return [];
  }
  const parsed = parseEntry(OptionEntry, entry, place, problems);
  const { description, faulty } = parsed;
  const chain = named.get(description.chain);
  if (!faulty.has('chain') && chain === undefined) {
    const hint = hintAt(description.chain, [...named.keys()], 'chains');
    problems.push({ place: [...place, 'chain'], message: `names no chain of this file; ${hint}` });
  }
  const at = [...place, 'payTo'];
  const written = faulty.has('payTo') ? [] : listOf(description.payTo);
  const recipients = written.flatMap((text) => readAddress(text, at, env, problems) ?? []);
  if (new Set(recipients).size < recipients.length) problems.push({ place: at, message: 'lists an account twice' });
  if (!faulty.has('methods') && description.methods?.includes('transfer') === false) {
    const message = 'must list transfer: the documented challenge asks for one';
    problems.push({ place: [...place, 'methods'], message });
  }
  if (chain === undefined || chain === null || faulty.has('token')) return [];
  const token = readToken(parsed, chain, env, problems);
  if (token === null || problems.length > before) return [];
  const { rate, methods = null } = description;
  return recipients.map((payTo, index) => {
    const ownName = index === 0 ? name : `${name} ${payTo}`;
    return { name: ownName, entry: name, chain, ...token, payTo, rate, methods };
  });
}

const listOf = (texts: string | readonly string[] = []): readonly string[] =>
  typeof texts === 'string' ? [texts] : texts;

type Token = Pick<PaymentOption, 'asset' | 'symbol' | 'decimals' | 'domainName' | 'domainVersion'>;

/** The token of an option: a known one by its symbol, any other by its address and decimals. */
function readToken(
  { description, place }: ParsedEntry<OptionEntry>,
  chain: PaymentChain,
  env: Env,
  problems: FileProblem[],
): Token | null {
  const tokens = KNOWN_CHAINS.find(({ id }) => id === chain.id)?.tokens ?? [];
  const at = [...place, 'token'];
  const isNamed = /^[A-Za-z]/.test(description.token);
  const named = tokens.find(({ symbol }) => symbol === description.token);
  if (isNamed && named === undefined) {
    const known = tokens.map(({ symbol }) => symbol);
    const hint = known.length > 0 ? `${hintAt(description.token, known, 'tokens')} Or write` : 'write';
    problems.push({ place: at, message: `is no known token of ${chain.name}; ${hint} its address, and decimals` });
    return null;
  }
  const asset = named?.asset ?? readAddress(description.token, at, env, problems);
  if (asset === null) return null;
  return completeToken(
    description,
    asset,
    { named: named ?? tokens.find((one) => one.asset === asset), place },
    problems,
  );
}

function completeToken(
  { decimals, symbol, name, version }: OptionEntry,
  asset: Hex,
  { named, place }: { named: KnownChain['tokens'][number] | undefined; place: Place },
  problems: FileProblem[],
): Token | null {
  const ownDecimals = decimals ?? named?.decimals;
  if (ownDecimals === undefined) {
    problems.push({ place: [...place, 'decimals'], message: 'is missing: only those of known tokens are known' });
    return null;
  }
  const ownSymbol = symbol ?? named?.symbol ?? 'TOKEN';
  const domainName = name ?? named?.domainName ?? ownSymbol;
  const domainVersion = version ?? named?.domainVersion ?? '1';
  return { asset, symbol: ownSymbol, decimals: ownDecimals, domainName, domainVersion };
}

function readAddress(text: string, place: Place, env: Env, problems: FileProblem[]): Hex | null {
  try {
    const address = expandVariables(text, env);
    if (isAddress(address) && BigInt(address) !== 0n) return lowerHex(address);
    problems.push({ place, message: 'must be 0x and 40 hexadecimal digits, and not the zero address' });
  } catch (error) {
    if (!(error instanceof VariableError)) throw error;
    problems.push({ place, message: error.message });
  }
  return null;
}

/** What is paid to a token's contract is lost. */
function reportTokensAsRecipients(options: readonly PaymentOption[], problems: FileProblem[]): void {
  for (const { entry, chain, asset, payTo } of options) {
    const token = options.find((other) => other.chain.id === chain.id && other.asset === payTo);
    if (token === undefined) continue;
    const which = token.asset === asset ? 'the token itself' : `the token of "${token.name}"`;
    problems.push({
      place: ['accepts', entry, 'payTo'],
      message: `is ${which}, so payments to it would be lost`,
    });
  }
}

/** A payment of one would be a payment of the other. */
function reportEqualOptions(options: readonly PaymentOption[], problems: FileProblem[]): void {
  const first = options.filter(({ name, entry }) => name === entry);
  first.forEach(({ name, chain, asset }, index) => {
    const same = first.slice(0, index).find((other) => other.asset === asset && other.chain.id === chain.id);
    if (same) problems.push({ place: ['accepts', name], message: `is the same token and chain as "${same.name}"` });
  });
}
