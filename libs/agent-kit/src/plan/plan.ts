import type { Abi, Address, Hex } from 'viem';

import type { AgentKitErrorCode } from '../agent-kit-error.js';
import type { Token, TokenAmount } from '../tokens/token.js';

/** How a step fails, as data: what its contract's errors mean, and how it can fail without reverting. */
export interface StepFailures {
  /** The custom errors of the contracts that may revert the step. */
  errors?: Abi;
  /** The name of a custom error, or a part of a revert reason, and the code it stands for. */
  codes?: Readonly<Record<string, AgentKitErrorCode>>;
  /**
   * For calls that return an error number instead of reverting, and emit `Failure(uint256,uint256,uint256)`, as Compound v2
   * does: the receipt says success, so the names and codes of all numbers but 0 stand here. The key is the error's number,
   * `9`; or with the event's third number, the detail, `3:4`, which goes before the number alone.
   */
  returnCodes?: Readonly<Record<string, { name: string; code: AgentKitErrorCode }>>;
  /** For calls that may return `false` instead of reverting, as `transfer` and `approve` of early ERC-20 tokens do. */
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
  /** What it does, for people: `Approve 1 USDC for the swap router`. */
  label: string;
  to: Address;
  data: Hex;
  /** Native token sent along, in wei. */
  value: bigint;
  /** Set on approvals: skipped when the allowance is there already, taken back when it is not used up. */
  approval?: Approval;
  failures?: StepFailures;
}

export interface Fee {
  /** `pool fee`, `taker fee`, … */
  label: string;
  /** `0.3 %`, `0.003 USDC`, … */
  text: string;
}

/** A price to pay at an HTTP 402 gate; the transfer itself is made by the paying client. */
export interface PaymentTerms {
  url: string;
  payTo: Address;
  amount: TokenAmount;
  /** What the server calls the chain. */
  network: string;
}

/** What an operation makes of its inputs: pure data, nothing sent, not yet simulated. */
export interface PlanDraft {
  /** One sentence: `Swap 1 USDC for at least 1.97 WSEI`. */
  summary: string;
  steps: readonly Step[];
  /** The most that leaves the account, fees of the chain aside. */
  spends: readonly TokenAmount[];
  /** The least that arrives, in the account or in a position of its own. */
  receives: readonly TokenAmount[];
  /** Others who end up with the account's tokens or rights: receivers of a transfer, spenders of an approval. */
  recipients: readonly Address[];
  fees?: readonly Fee[];
  slippageBps?: number;
  warnings?: readonly string[];
  /** Fields that the result carries beside its status: `fromToken`, `toToken`, `amount` of a swap. */
  report?: Readonly<Record<string, string>>;
  /** When prices or deadlines in the calls run out. */
  expiresAtMs?: number;
  payment?: PaymentTerms;
}

/** A draft that was simulated and passed the policy. Executing it sends exactly these calls. */
export interface Plan extends PlanDraft {
  operation: string;
  /** The inputs as they were parsed. */
  input: Readonly<Record<string, unknown>>;
  account: Address;
  chainId: number;
  /** Null where the node could not simulate all the steps together. */
  gasEstimate: { gas: bigint; feeWei: bigint } | null;
  /** For people, several lines: what leaves, what arrives at least, approvals, fees. */
  preview: string;
  /** The same on one line, for approval dialogs: action, at most, at least, recipient, gas. Printable ASCII. */
  summaryLine: string;
}
