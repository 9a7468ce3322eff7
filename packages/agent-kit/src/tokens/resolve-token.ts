import { erc20Abi, getAddress, isAddress, isAddressEqual, zeroAddress, type Address, type PublicClient } from 'viem';

import { isNoAnswer } from '../chain/explain-failure.js';
import { describeWrong, runProbe, type Probe } from '../chain/probe.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import { NATIVE_TOKEN, type ListedToken, type Token } from '../types/token.js';
import { cleanSymbol, quoteUntrusted } from '../types/untrusted-text.js';

// Other libraries' addresses for the native token; they are not used for anything else.
const NATIVE_SPELLINGS: readonly string[] = [NATIVE_TOKEN, zeroAddress, '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'];

/**
 * A token with the texts that resolve to it besides its address: symbols, and the spellings of the native one, in lower
 * case.
 */
export interface NamedToken {
  token: Token;
  names: readonly string[];
}

export interface TokenResolver {
  /** The native token. */
  readonly native: Token;
  /** The chain's token list. */
  readonly listed: readonly Token[];
  /** The native token and the listed ones. */
  readonly named: readonly NamedToken[];
  /**
   * Resolves `0x0`, an address, or a listed symbol.
   * @throws AgentKitError `UNKNOWN_TOKEN` for a symbol that is not listed or an address without a token,
   * `AMBIGUOUS_TOKEN` for a symbol of several, `INVALID_INPUT` for an address with an invalid checksum.
   */
  resolve(reference: string): Promise<Token>;
}

/** What shows on chain that a listed token is the one that its entry says. */
export function createTokenProbes({ address, symbol, decimals }: ListedToken): Probe[] {
  return [
    { contract: symbol, address, getter: 'symbol', returns: 'string', expected: symbol },
    { contract: symbol, address, getter: 'decimals', returns: 'uint8', expected: decimals },
  ];
}

/**
 * Reads unlisted tokens from the chain, once each; never searches the web for a symbol.
 * @param chainList the chain's tokens, which are probed before their first use
 * @param ownList the user's, which are taken as they are
 */
export function createTokenResolver(
  client: PublicClient,
  native: { symbol: string; decimals: number },
  chainList: readonly ListedToken[],
  ownList: readonly ListedToken[] = [],
): TokenResolver {
  const list = [...chainList, ...ownList];
  const nativeToken: Token = { ...native, address: NATIVE_TOKEN, isNative: true, isListed: true };
  const listed = list.map(({ address, symbol, decimals }) => ({
    address: getAddress(address),
    symbol,
    decimals,
    isNative: false,
    isListed: true,
  }));
  const named = nameTokens(nativeToken, listed, list);
  const known = new Map<string, Promise<Token>>();
  const probed = new Map<string, Promise<Token>>();

  /** The answer is remembered, unless there was none. */
  const probe = (token: Token): Promise<Token> => {
    const entry = chainList.find(({ address }) => address.toLowerCase() === token.address.toLowerCase());
    if (!entry) return Promise.resolve(token);
    const probing = probed.get(token.address) ?? assertListed(client, entry).then(() => token);
    probed.set(token.address, probing);
    return probing.catch((error: unknown) => {
      if (isNoAnswer(error)) probed.delete(token.address);
      throw error;
    });
  };

  const findSymbol = (symbol: string): Token => {
    const wanted = symbol.toLowerCase();
    const matches = named.filter(({ names }) => names.includes(wanted)).map(({ token }) => token);
    const [match, ...others] = matches;
    if (match && others.length === 0) return match;
    if (match) {
      const choices = matches.map(({ address }) => address).join(', ');
      throw new AgentKitError(
        'AMBIGUOUS_TOKEN',
        `${matches.length} tokens have the symbol ${match.symbol}: ${choices}.`,
        {
          details: { symbol, addresses: matches.map(({ address }) => address) },
        },
      );
    }
    const symbols = [nativeToken, ...listed].map((token) => token.symbol);
    throw new AgentKitError(
      'UNKNOWN_TOKEN',
      `${quoteUntrusted(symbol, 40)} is not in the token list of this chain, which has ${symbols.join(', ')}.`,
      { details: { symbol: symbol.slice(0, 64), known: symbols } },
    );
  };

  return {
    native: nativeToken,
    listed,
    named,
    async resolve(reference) {
      if (NATIVE_SPELLINGS.includes(reference.toLowerCase())) return nativeToken;
      if (!isAddress(reference, { strict: false })) return probe(findSymbol(reference));
      assertChecksum(reference);
      const address = getAddress(reference);
      const entry = listed.find((token) => isAddressEqual(token.address, address));
      if (entry) return probe(entry);
      const reading = known.get(address) ?? readToken(client, address);
      known.set(address, reading);
      return reading.catch((error: unknown) => {
        known.delete(address);
        throw error;
      });
    },
  };
}

function nameTokens(native: Token, listed: readonly Token[], list: readonly ListedToken[]): NamedToken[] {
  const ofNative = [native.symbol.toLowerCase(), ...NATIVE_SPELLINGS];
  const others = listed.map((token, index) => {
    const names = [token.symbol, ...(list[index]?.aliases ?? [])].map((name) => name.toLowerCase());
    // The native symbol always means the native token, even if another token has it.
    return { token, names: names.filter((name) => !ofNative.includes(name)) };
  });
  return [{ token: native, names: ofNative }, ...others];
}

/** @throws AgentKitError `UNKNOWN_TOKEN` */
async function assertListed(client: PublicClient, entry: ListedToken): Promise<void> {
  const wrong = describeWrong(await Promise.all(createTokenProbes(entry).map((probe) => runProbe(client, probe))));
  if (wrong.length === 0) return;
  throw new AgentKitError(
    'UNKNOWN_TOKEN',
    `${entry.address} is not the ${entry.symbol} of this chain's token list: ${wrong.join('; ')}.`,
    { details: { address: entry.address, wrong }, suggestion: 'Do not use this token.' },
  );
}

function assertChecksum(address: string): void {
  if (isAddress(address, { strict: true })) return;
  throw new AgentKitError(
    'INVALID_INPUT',
    `${address} is mistyped: its checksum (the case of its letters) is invalid.`,
    {
      details: { address },
    },
  );
}

/** For `catch`: null where there is no such token. @throws any other error again */
export function ignoreUnknownToken(error: unknown): null {
  if (error instanceof AgentKitError && error.code === 'UNKNOWN_TOKEN') return null;
  throw error;
}

async function readToken(client: PublicClient, address: Address): Promise<Token> {
  const unknown = (why: string, cause?: unknown) =>
    new AgentKitError('UNKNOWN_TOKEN', `${address} ${why}.`, { details: { address }, cause });
  if (!(await client.getCode({ address }))) throw unknown('is not a contract on this chain');
  const read = <Name extends 'decimals' | 'symbol'>(functionName: Name) =>
    client.readContract({ address, abi: erc20Abi, functionName });
  const [decimals, symbol] = await Promise.all([
    read('decimals').catch((cause: unknown) => {
      if (isNoAnswer(cause)) throw cause;
      throw unknown('does not report its decimals, so it is not an ERC-20 token', cause);
    }),
    // Optional in the standard, and bytes32 in old tokens: a token without a readable symbol still has an address.
    read('symbol').catch((error: unknown) => {
      if (isNoAnswer(error)) throw error;
      return '';
    }),
  ]);
  // Decoding does not check that the value is a uint8.
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 255) throw unknown('reports impossible decimals');
  return { address, symbol: cleanSymbol(symbol), decimals, isNative: false, isListed: false };
}
