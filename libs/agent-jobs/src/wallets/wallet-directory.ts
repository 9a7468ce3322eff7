import { createLaneId, nameLane, readLaneName, type LaneId, type Journal } from '@tollgate/journal';
import { type AgentJobRequest, parseTokenAmount, PaymentError } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';
import { baseUnits } from '@tollgate/schemas';
import { isAddress } from 'viem';
import { z } from 'zod';

import { listFields } from '../request/job-inputs.js';
import publishWallet from './scripts/publish-wallet.lua';

/** A token known to the worker of a wallet. */
const knownToken = z.object({
  symbol: z.string(),
  /** `0x0` for the native token. */
  address: z.string(),
  decimals: z.int(),
  /** The texts that resolve to it besides its address, in lower case. */
  names: z.array(z.string()).readonly(),
});
export type KnownToken = z.output<typeof knownToken>;

/** What a wallet's policy allows of one token: base units as decimal text; null: no limit. */
export const walletLimit = z.object({
  asset: z.string().describe("As the journal counts it: a token's address, or `native`."),
  symbol: z.string(),
  decimals: z.int(),
  perOperation: baseUnits.nullable(),
  perDay: baseUnits.nullable(),
  approvalAbove: baseUnits.nullable().describe('An operation that spends more needs an approval.'),
});
export type WalletLimit = z.output<typeof walletLimit>;

/** Null for an invalid list of tokens. */
export const parseKnownTokens = (text: string): readonly KnownToken[] | null => parseList(knownToken, text);

function parseList<Item extends z.ZodType>(item: Item, text: string): readonly z.output<Item>[] | null {
  try {
    return z.array(item).parse(JSON.parse(text));
  } catch {
    return null;
  }
}

const PUBLISH_WALLET = new LuaScript(publishWallet);

const WALLETS = 'tollgate:{wallets}';
const TOKENS = 'tollgate:{wallets}:tokens';
const LIMITS = 'tollgate:{wallets}:limits';

/** The public data of a wallet: its name and its account on one chain. */
export interface WalletEntry {
  name: string;
  lane: LaneId;
}

/**
 * Maps wallet names to accounts. The workers, which have the keys, write it. A name never changes its account by
 * itself, since jobs of that name may wait in the old account's lane.
 */
export class WalletDirectory {
  constructor(private readonly redis: RedisClient) {}

  /**
   * Writes the wallet unless its name or its account is taken, since an account with two names has two policies. Returns
   * what takes it, the name's entry first; otherwise the wallet.
   */
  async publish({ name, lane }: WalletEntry): Promise<WalletEntry> {
    const account = nameLane(createLaneId(lane.chainId, lane.address));
    const [itsName, itsAccount] = (await PUBLISH_WALLET.run(this.redis, WALLETS, [name, account])) as [string, string];
    return { name: itsName, lane: readLaneName(itsAccount) ?? lane };
  }

  /** Removes a name, so that another account can take it. */
  async remove(name: string): Promise<boolean> {
    const [removed] = await Promise.all([WALLETS, TOKENS, LIMITS].map((key) => this.redis.hdel(key, name)));
    return removed === 1;
  }

  /** Stores the names of tokens that the wallet's jobs may use, as known to its worker; replaces the earlier list. */
  async publishTokens(name: string, tokens: readonly KnownToken[]): Promise<void> {
    await this.redis.hset(TOKENS, name, JSON.stringify(tokens));
  }

  /** Null if no worker of the wallet has published them yet. */
  async findTokens(name: string): Promise<readonly KnownToken[] | null> {
    return parseKnownTokens((await this.redis.hget(TOKENS, name)) ?? '');
  }

  /** Stores the limits of the wallet's policy, as known to its worker, for operators; replaces the earlier ones. */
  async publishLimits(name: string, limits: readonly WalletLimit[]): Promise<void> {
    await this.redis.hset(LIMITS, name, JSON.stringify(limits));
  }

  /** Null if no worker of the wallet has published them yet, or none that this release reads. */
  async findLimits(name: string): Promise<readonly WalletLimit[] | null> {
    return parseList(walletLimit, (await this.redis.hget(LIMITS, name)) ?? '');
  }

  async find(name: string): Promise<WalletEntry | null> {
    const lane = readLaneName((await this.redis.hget(WALLETS, name)) ?? '');
    return lane && { name, lane };
  }

  /** By name. */
  async list(): Promise<WalletEntry[]> {
    const all = await this.redis.hgetall(WALLETS);
    return Object.entries(all)
      .flatMap(([name, text]) => {
        const lane = readLaneName(text);
        return lane ? [{ name, lane }] : [];
      })
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}

export interface CheckedSubmission {
  request: AgentJobRequest;
  keyId: string;
  idempotencyKey: string;
}

/**
 * The problems that `findTokenProblems` finds with the tokens that the wallet's worker has published. None before they
 * are published, and none for a request that was already submitted, which is answered with its job.
 */
export async function checkTokens(
  { directory, journal }: { directory: WalletDirectory; journal: Pick<Journal, 'isKeyClaimed'> },
  { request, keyId, idempotencyKey }: CheckedSubmission,
): Promise<readonly string[]> {
  const tokens = await directory.findTokens(request.wallet);
  const problems = tokens ? findTokenProblems(request, tokens) : [];
  return problems.length > 0 && (await journal.isKeyClaimed(keyId, idempotencyKey)) ? [] : problems;
}

const NATIVE = '0x0';
const MOST_SHOWN = 50;

/**
 * Problems of a parsed request that depend on the tokens of its wallet's chain: an unknown token, or an amount with
 * more decimals than its token has. A token given by its address is not checked here, since only the chain knows it.
 * @returns one sentence per problem, which names the field and contains no value
 */
export function findTokenProblems(
  { operation, input }: Pick<AgentJobRequest, 'operation' | 'input'>,
  tokens: readonly KnownToken[],
): string[] {
  return listFields(operation).flatMap(({ name, isToken, amountOf }) => {
    const value = input[name];
    if (typeof value !== 'string') return [];
    if (isToken) return explain(name, explainToken(value, tokens));
    if (amountOf === undefined) return [];
    const reference = amountOf === null ? NATIVE : (input[amountOf] ?? NATIVE);
    const [token, ...others] = typeof reference === 'string' ? matchToken(reference, tokens) : [];
    return token && others.length === 0 ? explain(name, explainAmount(value, token)) : [];
  });
}

const explain = (name: string, problem: string | null): string[] =>
  problem === null ? [] : [`input.${name} ${problem}`];

function matchToken(reference: string, tokens: readonly KnownToken[]): readonly KnownToken[] {
  const wanted = reference.toLowerCase();
  const named = tokens.filter(({ names }) => names.includes(wanted));
  if (named.length > 0 || !isAddress(reference, { strict: false })) return named;
  return tokens.filter(({ address }) => address.toLowerCase() === wanted);
}

function explainToken(reference: string, tokens: readonly KnownToken[]): string | null {
  const isNamed = tokens.some(({ names }) => names.includes(reference.toLowerCase()));
  if (!isNamed && isAddress(reference, { strict: false })) {
    const isMistyped = !isAddress(reference, { strict: true });
    return isMistyped ? 'must be an address with a valid checksum (the case of its letters)' : null;
  }
  const { length } = matchToken(reference, tokens);
  if (length === 1) return null;
  if (length > 1) return 'is the symbol of several tokens: use the address of the right one';
  const symbols = tokens.slice(0, MOST_SHOWN).map(({ symbol }) => symbol);
  return `must be 0x0, an address, or a symbol of the chain's token list: ${symbols.join(', ')}`;
}

function explainAmount(amount: string, { symbol, decimals }: KnownToken): string | null {
  // `MAX`, and a 0 with a special meaning, are valid amounts of any token.
  if (!/[1-9]/.test(amount)) return null;
  try {
    parseTokenAmount(amount, decimals);
    return null;
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    const hasTooMany = (amount.split('.')[1] ?? '').length > decimals;
    return hasTooMany
      ? `must have at most ${decimals} decimals, as ${symbol} has`
      : `is more than the largest possible amount of ${symbol}`;
  }
}
