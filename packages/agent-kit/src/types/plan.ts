import type { PaymentWay } from '@tollgate/client/internal';
import { parseAbi, type Abi, type Address, type Hex } from 'viem';
import { formatAbiItem } from 'viem/utils';

import { AgentKitError, type AgentKitErrorCode } from './agent-kit-error.js';
import type { Token, TokenAmount } from './token.js';

/** A request for a resource that may cost something. */
export interface PricedRequest {
  url: string;
  /** GET if omitted. */
  method?: string | undefined;
  body?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers of the program's own by origin: `https://api.example.com` -> `{ authorization: 'Bearer …' }`. */
export type OwnHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** How a step can fail, as data: the meanings of its contract's errors, and failures without a revert. */
export interface StepFailures {
  /** The custom errors of the contracts that may revert the step. */
  errors?: Abi;
  /** The name of a custom error, or a part of a revert reason, and its code. */
  codes?: Readonly<Record<string, AgentKitErrorCode>>;
  /**
   * For calls that return an error number instead of reverting, and emit `Failure(uint256,uint256,uint256)`, as
   * Compound v2 does: the receipt says success, so the names and codes of all numbers except 0 are listed here. The key
   * is the error's number, `9`; or with the event's third number, the detail, `3:4`, which takes precedence over the
   * number alone.
   */
  returnCodes?: Readonly<Record<string, { name: string; code: AgentKitErrorCode }>>;
  /**
   * For calls that may return `false` instead of reverting, such as `transfer` and `approve` of early ERC-20 tokens.
   */
  isFalseRefusal?: boolean;
}

/** An allowance that a step grants. Exact: never more than the plan spends. */
export interface Approval {
  token: Token;
  spender: Address;
  amountBaseUnits: bigint;
}

/** A call that changes the chain, as data. */
export interface Step {
  /** Its effect, for display: `Approve 1 USDC for the swap router`. */
  label: string;
  to: Address;
  data: Hex;
  /** Native token sent along, in wei. */
  value: bigint;
  /** Set on approvals: skipped when the allowance is already there, revoked when it is not used up. */
  approval?: Approval;
  failures?: StepFailures;
}

/** The calls of an adapter: allowances first, then its own calls. */
export interface ProtocolAction {
  approvals: readonly Approval[];
  calls: readonly Step[];
}

export interface Fee {
  /** `pool fee`, `taker fee`, … */
  label: string;
  /** `0.3 %`, `0.003 USDC`, … */
  text: string;
}

/** A price to pay at a server that answers 402; the paying client pays it. */
export interface PaymentTerms extends PricedRequest {
  payTo: Address;
  amount: TokenAmount;
  /** True if the server charges what is used, and the amount is the most (`upto`). */
  isMaximum: boolean;
  /** By a transfer of the account, or by its signature, for which it sends nothing. */
  way: PaymentWay;
  /** The chain that it is made on, which may be another than the kit's own. */
  chainId: number;
  /** The gates' name for the chain. */
  network: string;
  /** Why each other offer that is not better is not paid. */
  skipped: readonly string[];
  /** The transfer, to simulate it: the client makes it for a new reference of the server. */
  transfer?: Step;
}

/** An operation's result for its inputs: pure data, nothing sent, not yet simulated. */
export interface PlanDraft {
  /** One sentence: `Swap 1 USDC for at least 1.97 WSEI`. */
  summary: string;
  steps: readonly Step[];
  /** The most that leaves the account, without gas. */
  spends: readonly TokenAmount[];
  /** The least that arrives, in the account or in a position of its own. */
  receives: readonly TokenAmount[];
  /** Other addresses that receive the account's tokens or rights: recipients of a transfer, spenders of an approval. */
  recipients: readonly Address[];
  /** For a deposit into a pool: the least that goes in, and the pool's fee tier in millionths. */
  deposit?: { atLeast: readonly TokenAmount[]; fee: number };
  fees?: readonly Fee[];
  slippageBps?: number;
  warnings?: readonly string[];
  /** Fields that the result has beside its status: `fromToken`, `toToken`, `amount` of a swap. */
  report?: Readonly<Record<string, string | readonly string[]>>;
  /** When prices or deadlines in the calls expire. */
  expiresAtMs?: number;
  payment?: PaymentTerms;
}

/** A draft that was simulated and passed the policy. Executing it sends exactly these calls. */
export interface Plan extends PlanDraft {
  operation: string;
  /** The parsed inputs. */
  input: Readonly<Record<string, unknown>>;
  account: Address;
  chainId: number;
  /** Null if the node could not simulate all the steps together. */
  gasEstimate: { gas: bigint; feeWei: bigint } | null;
  /** For display, several lines: what leaves, what arrives at least, approvals, fees. */
  preview: string;
  /** The same on one line, for approval dialogs: action, at most, at least, recipient, gas. Printable ASCII. */
  summaryLine: string;
}

/** @throws AgentKitError `PLAN_EXPIRED` once the prices or deadlines in the plan's calls have expired. */
export function assertNotExpired({ expiresAtMs }: Pick<Plan, 'expiresAtMs'>): void {
  if (expiresAtMs === undefined || Date.now() <= expiresAtMs) return;
  throw new AgentKitError('PLAN_EXPIRED', `The plan expired at ${new Date(expiresAtMs).toISOString()}.`);
}

/** A step's failures as JSON, with the custom errors as text: `error PriceMoved(uint256 price)`. */
export type StoredFailures = Omit<StepFailures, 'errors'> & { errors?: readonly string[] };

/** Serialises failures, so that the step can be judged after a restart. */
export function storeFailures({ errors, ...others }: StepFailures): StoredFailures {
  const custom = errors?.filter((item) => item.type === 'error') ?? [];
  if (custom.length === 0) return others;
  return { ...others, errors: custom.map((error) => `error ${formatAbiItem(error, { includeName: true })}`) };
}

/** Parses the output of `storeFailures`. */
export function restoreFailures({ errors = [], ...others }: StoredFailures): StepFailures {
  return errors.length === 0 ? others : { ...others, errors: parseAbi(errors) };
}

/** A deeply frozen copy of plain data: what was shown to a person, and checked against the policy, is what is sent. */
export function freezeCopy<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => freezeCopy(item))) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, freezeCopy<unknown>(field)]);
  return Object.freeze(Object.fromEntries(entries)) as T;
}
