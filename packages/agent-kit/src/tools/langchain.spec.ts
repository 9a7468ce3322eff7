import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { Command, MemorySaver } from '@langchain/langgraph';
import { AIMessage, createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain';
import { parseEther, type Hex } from 'viem';

import { useChain, useMade } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import type { Plan } from '../types/plan.js';
import { createLangChainTools, type LangChainToolOptions } from './langchain.js';

const chain = useChain();
const kit = useMade(() => kitOf(chain, 0), beforeAll);

const receiver = (number: number): Hex => `0x${number.toString().padStart(40, '0')}`;
const transferCall = (amount: string, to: Hex) => ({ name: 'transfer', args: { amount, to } });

/** An agent whose model makes these calls, all at once, and then reports that it is done. */
function createScriptedAgent(calls: { name: string; args: object }[], options: LangChainToolOptions = {}) {
  const model = fakeModel()
    .respondWithTools(calls.map((call, index) => ({ ...call, id: `call-${index}` })))
    .respond(new AIMessage('done'));
  return createAgent({ model, tools: createLangChainTools(kit, options) });
}

async function ask(agent: ReturnType<typeof createScriptedAgent>) {
  const { messages } = await agent.invoke({ messages: [new HumanMessage('go')] });
  return messages.filter((message) => ToolMessage.isInstance(message));
}

describe('an agent of LangGraph', () => {
  it('sends its parallel calls, each with a nonce of its own', async () => {
    const before = await chain.nonceOf(kit.address);
    const receivers = Array.from({ length: 5 }, (_, index) => receiver(101 + index));
    const calls = [
      ...receivers.map((to, index) => transferCall(`0.${index + 1}`, to)),
      { name: 'getERC20Balance', args: {} },
      transferCall('1000000000', receiver(106)),
    ];
    const answers = await ask(createScriptedAgent(calls));
    expect(answers.map(({ status }) => status)).toEqual([...Array<string>(6).fill('success'), 'error']);
    const hashes = answers.slice(0, 5).map(({ artifact }) => (artifact as { result: string }).result);
    expect(new Set(hashes).size).toBe(5);
    expect(await Promise.all(receivers.map((to) => chain.balanceOf(to)))).toEqual(
      ['0.1', '0.2', '0.3', '0.4', '0.5'].map((amount) => parseEther(amount)),
    );
    expect(await chain.nonceOf(kit.address)).toBe(before + 5);
    expect(JSON.parse(answers[6]!.text)).toMatchObject({ status: 'failed', code: 'INSUFFICIENT_FUNDS' });
  });

  it('asks for each plan separately, and sends only the confirmed ones', async () => {
    const plans: Plan[] = [];
    const confirm = (plan: Plan) => {
      plans.push(plan);
      return plan.input['amount'] === '0.6';
    };
    const calls = [transferCall('0.6', receiver(201)), transferCall('0.7', receiver(202))];
    const answers = await ask(createScriptedAgent(calls, { confirm }));
    expect(plans.map(({ input }) => input['amount']).sort()).toEqual(['0.6', '0.7']);
    expect(answers.map(({ status }) => status)).toEqual(['success', 'error']);
    expect(answers[1]!.artifact).toMatchObject({ status: 'declined', code: 'DECLINED' });
    expect(await chain.balanceOf(receiver(201))).toBe(parseEther('0.6'));
    expect(await chain.balanceOf(receiver(202))).toBe(0n);
  });

  it.each([
    ['approve', 'success', '0.8'],
    ['reject', 'error', '0'],
  ])('interrupts at its writes for a person to %s their exact arguments', async (decision, status, arrived) => {
    const to = receiver(decision === 'approve' ? 301 : 302);
    const tools = createLangChainTools(kit);
    const writes = tools.filter((tool) => (tool as { tags?: string[] }).tags?.includes('write'));
    const interruptOn = Object.fromEntries(
      writes.map(({ name }) => [name, { allowedDecisions: ['approve' as const, 'reject' as const] }]),
    );
    const model = fakeModel()
      .respondWithTools([{ ...transferCall('0.8', to), id: 'write' }])
      .respond(new AIMessage('done'));
    // The middleware's own types do not fit under exactOptionalPropertyTypes.
    const middleware = [humanInTheLoopMiddleware({ interruptOn } as never) as unknown as AgentMiddleware];
    const agent = createAgent({ model, tools, checkpointer: new MemorySaver(), middleware });
    const thread = { configurable: { thread_id: 'one' } };
    const before = await chain.nonceOf(kit.address);
    const paused = await agent.invoke({ messages: [new HumanMessage('go')] }, thread);
    expect(paused).toMatchObject({
      __interrupt__: [{ value: { actionRequests: [{ name: 'transfer', args: { amount: '0.8', to } }] } }],
    });
    expect(await chain.nonceOf(kit.address)).toBe(before);

    const { messages } = await agent.invoke(new Command({ resume: { decisions: [{ type: decision }] } }), thread);
    const answers = messages.filter((message) => ToolMessage.isInstance(message));
    expect(answers.map((answer) => [answer.tool_call_id, answer.status])).toEqual([['write', status]]);
    expect(await chain.balanceOf(to)).toBe(parseEther(arrived));
  });

  it('reports invalid inputs to its model', async () => {
    const before = await chain.nonceOf(kit.address);
    const calls = [
      { name: 'transfer', args: { amount: 'all of it', to: receiver(401) } },
      { name: 'transfer', args: { amount: '1', to: receiver(401), tokn: 'USDC' } },
    ];
    const answers = await ask(createScriptedAgent(calls));
    expect(answers.map(({ status }) => status)).toEqual(['error', 'error']);
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });
});

it('returns the result as text if there is no call to answer', async () => {
  const balance = createLangChainTools(kit).find(({ name }) => name === 'getERC20Balance');
  expect(JSON.parse(String(await balance!.invoke({})))).toMatchObject({ status: 'success' });
});
