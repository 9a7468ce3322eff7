import { cleanUntrusted } from './untrusted-text.js';

/**
 * Every code with its suggested handling. The specification's table of errors (section "Errors") tells callers to look
 * for keywords in `message`; each code lists here the keyword its messages contain, or null if the table has none.
 */
export const AGENT_KIT_ERRORS = {
  NETWORK_ERROR: { keyword: 'network', suggestion: 'Check RPC_URL; wait 5000 ms and try again.' },
  INSUFFICIENT_FUNDS: { keyword: 'insufficient funds', suggestion: 'Add native funds to the wallet.' },
  INSUFFICIENT_BALANCE: { keyword: null, suggestion: 'Use a smaller amount, or add tokens to the wallet.' },
  GAS_ESTIMATION_FAILED: { keyword: 'gas', suggestion: 'Reduce the amount or raise the gas limit.' },
  REVERTED: { keyword: 'revert', suggestion: 'Check the parameters and try again.' },
  SLIPPAGE: { keyword: 'slippage', suggestion: 'Increase the slippage tolerance.' },
  INSUFFICIENT_LIQUIDITY: { keyword: 'liquidity', suggestion: 'Change the amount or the pair.' },
  INSUFFICIENT_COLLATERAL: { keyword: 'collateral', suggestion: 'Add collateral.' },
  INSUFFICIENT_MARGIN: { keyword: 'margin', suggestion: 'Add margin.' },
  LEVERAGE_TOO_HIGH: { keyword: 'leverage', suggestion: 'Reduce the leverage; the maximum is 20x.' },
  BELOW_MINIMUM: { keyword: 'minimum amount', suggestion: 'Raise the amount.' },
  INVALID_PRIVATE_KEY: {
    keyword: 'Invalid private key',
    suggestion: 'Verify the format of the key: 32 bytes in hexadecimal.',
  },
  INVALID_CONFIGURATION: { keyword: null, suggestion: 'Correct the settings that the message names.' },
  PACKAGE_MISSING: { keyword: null, suggestion: 'Install the package that the message names.' },
  INVALID_INPUT: { keyword: null, suggestion: 'Correct the inputs that the message names.' },
  UNKNOWN_OPERATION: { keyword: null, suggestion: 'Use one of the operations that the kit lists.' },
  UNKNOWN_TOKEN: { keyword: null, suggestion: 'Give the address of the token contract.' },
  AMBIGUOUS_TOKEN: { keyword: null, suggestion: 'Give the address of the token you mean.' },
  PROTOCOL_UNAVAILABLE: {
    keyword: null,
    suggestion: 'Use a chain where the protocol is deployed, or add a plugin for it.',
  },
  PROTOCOL_FAILED: { keyword: null, suggestion: 'Read the reason; the protocol refused the operation.' },
  POLICY_VIOLATION: { keyword: null, suggestion: 'Ask the owner of the wallet to change its policy.' },
  READ_ONLY: { keyword: null, suggestion: 'Create the kit with an executor that may send.' },
  DECLINED: { keyword: null, suggestion: 'Repeat it only if it is still wanted.' },
  PLAN_EXPIRED: { keyword: null, suggestion: 'Make a new plan; prices may have moved.' },
  UNKNOWN_PLAN: { keyword: null, suggestion: 'Make a new plan, and execute that one.' },
  PLAN_MISMATCH: { keyword: null, suggestion: 'Give the summary exactly as the plan tool returned it.' },
  PLAN_USED: {
    keyword: null,
    suggestion: 'Check what it sent with getTransaction; make a new plan only to do the same again.',
  },
  UNKNOWN_TRANSACTION: {
    keyword: null,
    suggestion: 'Check the hash and the chain. If it was just sent, look again in ten seconds; do not send it again.',
  },
  PAYMENT_FAILED: { keyword: null, suggestion: 'Read the reason; the payment stays in the payment store.' },
  NONCE_TAKEN: {
    keyword: null,
    suggestion: 'Give each program that sends a key of its own, then do it again.',
  },
  TIMEOUT: {
    keyword: null,
    suggestion: 'Check it with getTransaction or at the block explorer before trying again.',
  },
} as const satisfies Record<string, { keyword: string | null; suggestion: string }>;

export type AgentKitErrorCode = keyof typeof AGENT_KIT_ERRORS;

export interface AgentKitErrorOptions {
  /** Structured facts about the error; never a secret. */
  details?: Readonly<Record<string, unknown>>;
  /** Kept only if it is an error of the kit. Other errors quote the RPC's URL, which may contain a key. */
  cause?: unknown;
  /** The next step, if there is a better one than the code's own. */
  suggestion?: string;
}

/**
 * Every error of the kit: a stable `code`, one sentence with the documented keyword, structured details, and a
 * suggestion.
 */
export class AgentKitError extends Error {
  readonly code: AgentKitErrorCode;
  readonly suggestion: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: AgentKitErrorCode, message: string, options: AgentKitErrorOptions = {}) {
    super(message, options.cause instanceof AgentKitError ? { cause: options.cause } : undefined);
    this.name = 'AgentKitError';
    this.code = code;
    this.suggestion = options.suggestion ?? AGENT_KIT_ERRORS[code].suggestion;
    this.details = options.details ?? {};
  }
}

/** Quotes a reason given by a contract or a node, for a message with this code. */
export function quoteReason(text: string, code: AgentKitErrorCode): string {
  return JSON.stringify(hideKeyWords(cleanUntrusted(text), code));
}

/**
 * Callers tell errors apart by documented keywords in messages. Keywords of other codes are therefore put in capitals,
 * so that an untrusted text cannot choose how it is classified.
 */
export function hideKeyWords(text: string, code: AgentKitErrorCode): string {
  const rows = Object.entries(AGENT_KIT_ERRORS).filter(([other]) => other !== code);
  return rows.reduce(
    (shown, [, { keyword }]) => (keyword ? shown.replaceAll(keyword, keyword.toUpperCase()) : shown),
    text,
  );
}
