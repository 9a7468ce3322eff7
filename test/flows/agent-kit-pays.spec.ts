import { AgentKit } from '@tollgate/agent-kit';

import { listTransfers } from '../../packages/client/test/paid-server.js';
import { useStack } from '../harness/stack/use-stack.js';

describe('an agent kit at the gate', () => {
  const stack = useStack();

  it('buys the weather exactly once, and shows it', async () => {
    const { baseUrl, chain } = stack();
    const kit = new AgentKit(chain.accounts[4]!.privateKey, 'offline', { rpcUrl: chain.rpcUrl });
    const url = `${baseUrl}/api/weather`;
    const plan = await kit.plan('payForResource', { url });
    expect(plan.preview).toContain('at most 0.001 USDC');
    expect(await listTransfers(chain, kit.address)).toEqual([]);

    const result = await kit.execute(plan);
    expect(result).toMatchObject({ status: 'success', amount: '0.001', token: 'USDC', url });
    const answer = result['answer'] as { httpStatus: number; body: string };
    expect(answer.httpStatus).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ location: 'San Francisco', payment: { isValid: true } });
    expect(await listTransfers(chain, kit.address)).toEqual([result.result]);
  });
});
