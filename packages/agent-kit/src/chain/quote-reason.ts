import { AGENT_KIT_ERRORS, type AgentKitErrorCode } from '../types/agent-kit-error.js';
import { cleanUntrusted } from '../types/untrusted-text.js';

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
