import { AGENT_KIT_ERRORS, type AgentKitErrorCode } from '../agent-kit-error.js';
import { cleanUntrusted } from '../tokens/untrusted-text.js';

/**
 * A reason that a contract or a node gave, in quotes, for a message of this code. Callers tell errors apart by the documented
 * key words of their messages: those of other codes are put in capitals, so that no contract chooses its own row.
 */
export function quoteReason(text: string, code: AgentKitErrorCode): string {
  const reason = cleanUntrusted(text);
  const rows = Object.entries(AGENT_KIT_ERRORS).filter(([other]) => other !== code);
  return JSON.stringify(
    rows.reduce((told, [, { keyword }]) => (keyword ? told.replaceAll(keyword, keyword.toUpperCase()) : told), reason),
  );
}
