import { AGENT_KIT_ERRORS, type AgentKitErrorCode } from '../agent-kit-error.js';
import { cleanUntrusted } from '../tokens/untrusted-text.js';

/** A reason that a contract or a node gave, in quotes, for a message of this code. */
export function quoteReason(text: string, code: AgentKitErrorCode): string {
  return JSON.stringify(hideKeyWords(cleanUntrusted(text), code));
}

/**
 * Callers tell errors apart by the documented key words of their messages: those of other codes are put in capitals, so that
 * no text from outside chooses its own row.
 */
export function hideKeyWords(text: string, code: AgentKitErrorCode): string {
  const rows = Object.entries(AGENT_KIT_ERRORS).filter(([other]) => other !== code);
  return rows.reduce(
    (shown, [, { keyword }]) => (keyword ? shown.replaceAll(keyword, keyword.toUpperCase()) : shown),
    text,
  );
}
