import { formatTokenAmount } from '@tollgate/protocol';
import { getAddress, isAddressEqual, type Address, type PublicClient } from 'viem';

import { previewReceived } from '../../tokens/preview-transfer.js';
import { showSymbol } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { ProtocolAction } from '../../types/plan.js';
import { NATIVE_TOKEN, type Token } from '../../types/token.js';
import type { ProtocolPlugin, SwapQuote, SwapRequest, SwapTerms } from '../protocol.js';
import {
  askZeroEx,
  priceSchema,
  quoteSchema,
  type ZeroExPrice,
  type ZeroExQuote,
  type ZeroExServer,
} from './ask-zero-ex.js';

export interface ZeroExSwapOptions {
  /** Sent as a header; no error and no result contains it. */
  apiKey: string;
  /**
   * The only contracts that may be called, and the only ones that may be approved to take the sold token. This does not
   * protect from a hostile API if such a contract calls what its calldata names, as 0x's AllowanceHolder does: the API
   * can name a contract of its own, which pays in the simulation and not later. A swap then loses its whole amount, and
   * other allowances of the contract can be used too.
   */
  allowedTargets: readonly Address[];
  chainIds: readonly number[];
  /** Default `https://api.0x.org`. */
  baseUrl?: string;
  /** Time limit for one answer; default 10,000. */
  timeoutMs?: number;
}

/** The API's address for the native token. */
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE';

/**
 * Swaps through an aggregator with 0x's Swap API v2 (`allowance-holder`). Every answer is checked against the request:
 * the API may choose the route of the swap, never the tokens, the amounts, or the spender. The minimum is checked by a
 * simulation while planning; the calldata is not decoded, so nothing shows that the chain enforces it.
 */
export function zeroExSwap(options: ZeroExSwapOptions): ProtocolPlugin<'swap'> {
  const { apiKey, baseUrl = 'https://api.0x.org', timeoutMs = 10_000 } = options;
  return {
    kind: 'swap',
    name: '0x',
    chainIds: options.chainIds,
    create: ({ chainId, client, fetch }) => {
      const server = { baseUrl, apiKey, timeoutMs, fetch };
      return { quote: (request) => quote(request, { ...options, chainId, client, server }) };
    },
  };
}

interface ZeroExContext extends ZeroExSwapOptions {
  chainId: number;
  client: PublicClient;
  server: ZeroExServer;
}

async function quote(request: SwapRequest, context: ZeroExContext): Promise<SwapQuote> {
  const price = await askZeroEx(context.server, 'price', createQuery(request, context.chainId), priceSchema);
  if (!price.liquidityAvailable) throw refuseLiquidity(request);
  assertAnswersRequest(price, request);
  return {
    expectedOut: price.buyAmount,
    isOneToOne: false,
    route: `${showSymbol(request.from)} → ${showSymbol(request.to)}, as 0x routes it`,
    fees: describeFees(price, request),
    warnings: [],
    createSwap: (terms) => createSwap(request, terms, context),
  };
}

/** Sends a second request, for calldata this time: the price was for display only. */
async function createSwap(request: SwapRequest, terms: SwapTerms, context: ZeroExContext): Promise<ProtocolAction> {
  const { from, to, amountIn } = request;
  const query = {
    ...createQuery(request, context.chainId),
    slippageBps: terms.slippageBps.toString(),
    recipient: terms.recipient,
  };
  const answer = await askZeroEx(context.server, 'quote', query, quoteSchema);
  if (!answer.liquidityAvailable) throw refuseLiquidity(request);
  assertAnswersRequest(answer, request);
  assertPaysEnough(answer, terms);
  assertKnownTargets(answer, context);
  assertSendsValue(answer, request);
  const { transaction } = answer;
  const action: ProtocolAction = {
    approvals: from.isNative ? [] : [{ token: from, spender: spenderOf(answer), amountBaseUnits: amountIn }],
    calls: [
      {
        label: `Swap ${showSymbol(from)} for ${showSymbol(to)} by a route of 0x`,
        to: transaction.to,
        data: transaction.data,
        value: transaction.value,
        failures: { codes: { TooMuchSlippage: 'SLIPPAGE', 'Too little received': 'SLIPPAGE' } },
      },
    ],
  };
  await assertArrives(action, request, terms, context);
  return action;
}

/**
 * Calldata can send the bought tokens to any address, even through a trusted contract; only a simulation shows where they
 * arrive. The same calldata may do something else later.
 */
async function assertArrives(
  action: ProtocolAction,
  { to, account }: SwapRequest,
  { minimumOut }: SwapTerms,
  { client }: ZeroExContext,
): Promise<void> {
  const received = await previewReceived(client, account, action, to);
  if (received === null) throw distrust('it cannot be tried on this chain’s node');
  if (received >= minimumOut) return;
  throw distrust('in a simulation it pays the account less than the promised minimum', {
    received: received.toString(),
    minimum: minimumOut.toString(),
  });
}

function createQuery({ from, to, amountIn, account }: SwapRequest, chainId: number): Record<string, string> {
  return {
    chainId: chainId.toString(),
    sellToken: nameOf(from),
    buyToken: nameOf(to),
    sellAmount: amountIn.toString(),
    taker: account,
  };
}

function nameOf({ address }: Token): Address {
  return address === NATIVE_TOKEN ? NATIVE : getAddress(address);
}

function assertAnswersRequest(answer: ZeroExPrice, { from, to, amountIn }: SwapRequest): void {
  if (!isAddressEqual(answer.sellToken, nameOf(from)) || !isAddressEqual(answer.buyToken, nameOf(to))) {
    throw distrust('it contains other tokens than requested');
  }
  if (answer.sellAmount !== amountIn) throw distrust('it sells another amount than requested');
  // A minimum of zero protects nothing: any calldata would satisfy it.
  if (answer.buyAmount === 0n) throw distrust('it buys nothing');
  if (answer.minBuyAmount > answer.buyAmount) throw distrust('its minimum is above its own price');
}

function assertPaysEnough({ minBuyAmount }: ZeroExQuote, { minimumOut }: SwapTerms): void {
  if (minBuyAmount >= minimumOut) return;
  throw new AgentKitError('SLIPPAGE', 'The offer of 0x is below the least that the slippage tolerance allows.', {
    details: { offered: minBuyAmount.toString(), minimum: minimumOut.toString() },
  });
}

/** A stolen or broken API can return any contract; only those that the wallet's owner trusts are called or approved. */
function assertKnownTargets(answer: ZeroExQuote, { allowedTargets }: ZeroExContext): void {
  const isAllowed = (address: Address) => allowedTargets.some((target) => isAddressEqual(target, address));
  const { to } = answer.transaction;
  if (!isAllowed(to)) throw distrust('it calls a contract that is not on the allow-list', { to });
  const spenders = [answer.allowanceTarget, answer.issues.allowance?.spender].filter((spender) => spender != null);
  const stranger = spenders.find((spender) => !isAllowed(spender));
  if (stranger !== undefined)
    throw distrust('it wants an approval for an address that is not on the allow-list', { spender: stranger });
}

function assertSendsValue({ transaction }: ZeroExQuote, { from, amountIn }: SwapRequest): void {
  if (transaction.value !== (from.isNative ? amountIn : 0n)) {
    throw distrust('it sends another amount of the native token along than is sold');
  }
}

function spenderOf({ issues, allowanceTarget }: ZeroExQuote): Address {
  const spender = issues.allowance?.spender ?? allowanceTarget;
  if (spender === null) throw distrust('it does not contain the spender of the sold token');
  return spender;
}

function describeFees({ fees }: ZeroExPrice, { from, to }: SwapRequest): SwapQuote['fees'] {
  const fee = fees.zeroExFee;
  if (fee === null) return [];
  const token = [from, to].find((side) => isAddressEqual(nameOf(side), fee.token));
  const text = token
    ? `${formatTokenAmount(fee.amount, token.decimals)} ${showSymbol(token)}`
    : `${fee.amount} base units of ${fee.token}`;
  return [{ label: 'fee of 0x', text }];
}

function refuseLiquidity({ from, to }: SwapRequest): AgentKitError {
  const pair = `${showSymbol(from)} to ${showSymbol(to)}`;
  return new AgentKitError('INSUFFICIENT_LIQUIDITY', `0x finds no liquidity from ${pair} for this amount.`);
}

function distrust(why: string, details: Record<string, unknown> = {}): AgentKitError {
  return new AgentKitError('PROTOCOL_FAILED', `The answer of 0x was rejected: ${why}.`, { details });
}
