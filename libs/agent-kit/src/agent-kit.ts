import { AgentKitCore } from './agent-kit-core.js';
import type { ToolResult } from './tool-result.js';

/**
 * The operations as methods, with the specification's names and inputs (section "Endpoints"). Amounts are decimal text in
 * whole units; a token is `0x0` (native), an address, or a symbol of the chain's token list. Each throws an `AgentKitError`
 * while nothing was sent, and returns a `ToolResult` once something was.
 */
export class AgentKit extends AgentKitCore {
  /** Buys the answer of an HTTP 402 gate for at most `maxAmount` of the token it is priced in. */
  payForResource(url: string, maxAmount?: string): Promise<ToolResult> {
    return this.run('payForResource', { url, maxAmount });
  }
}
