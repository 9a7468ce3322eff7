import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';

import type { Plan } from '../plan/plan.js';

type Server = McpServer['server'];

// Longer than the lifetime of a plan: after a late answer the plan is reported as expired.
const ANSWER_TIMEOUT_MS = 10 * 60_000;

/** Whether the client can show a form to a person. */
export function canElicit(server: Server): boolean {
  return server.getClientCapabilities()?.elicitation?.form !== undefined;
}

/** Shows the plan to the person at the client. Only an explicit yes counts; no answer, or an invalid one, is a no. */
export async function confirmByElicitation(
  server: Server,
  plan: Plan,
  { signal, requestId }: { signal: AbortSignal; requestId: RequestId },
): Promise<boolean> {
  try {
    const { action, content } = await server.elicitInput(
      {
        message: `${plan.preview}\n\nSend this?`,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Send it', description: plan.summary } },
          required: ['confirm'],
        },
      },
      { signal, relatedRequestId: requestId, timeout: ANSWER_TIMEOUT_MS },
    );
    return action === 'accept' && content?.['confirm'] === true;
  } catch {
    return false;
  }
}
