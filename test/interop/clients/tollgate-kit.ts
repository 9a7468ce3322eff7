import { AgentKit } from '@tollgate/agent-kit';

import type { ClientAnswer } from '../../../tools/devnet/interop/start-published.js';
import { readReceipt, type Configuration } from './tollgate.js';

type Payment = Parameters<AgentKit['payForResource']>[2] & { headers?: Record<string, string> };

/** The agent kit. Credentials are options of a program, never inputs. */
export function createClient({ privateKey, rpcUrl }: Configuration) {
  return async (url: string, { headers = {}, ...init }: Payment): Promise<ClientAnswer> => {
    const { Authorization: authorization, ...others } = headers;
    let response: Response | undefined;
    const kit = new AgentKit(privateKey, 'offline', {
      rpcUrl,
      fetch: async (...request) => (response = await fetch(...request)),
      payments: { ...(authorization && { headers: { [new URL(url).origin]: { authorization } } }) },
    });
    const { status, error, answer } = await kit.payForResource(url, '0.1', { ...init, headers: others });
    if (!response || (status === 'success') !== response.status < 400) throw new Error(error ?? `reported ${status}`);
    const { body } = (answer ?? { body: error }) as { body: string };
    const { headers: answered } = response;
    return {
      status: response.status,
      body,
      receipt: readReceipt((name) => answered.get(name)) as ClientAnswer['receipt'],
    };
  };
}
