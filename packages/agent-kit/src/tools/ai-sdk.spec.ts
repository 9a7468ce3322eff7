import { generateText, stepCountIs, type ModelMessage } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { parseEther, type Hex } from 'viem';

import { useChain, useMade } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { createAiSdkTools, type AiSdkToolOptions } from './ai-sdk.js';

const RECEIVER: Hex = '0x00000000000000000000000000000000000000b4';

const chain = useChain();
const kit = useMade(() => kitOf(chain, 0), beforeAll);

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const step = (content: object[], reason: string) => ({
  content,
  finishReason: { unified: reason, raw: reason },
  usage,
  warnings: [],
});

/** Runs a model that makes the calls, all at once, and then reports that it is done. */
async function generate(
  calls: { name: string; input: object }[],
  options: AiSdkToolOptions,
  more: ModelMessage[] = [],
) {
  const toolCalls = calls.map(({ name, input }, index) => ({
    type: 'tool-call',
    toolCallId: `call-${index}`,
    toolName: name,
    input: JSON.stringify(input),
  }));
  const done = step([{ type: 'text', text: 'done' }], 'stop');
  const doGenerate = (more.length > 0 ? [done] : [step(toolCalls, 'tool-calls'), done]) as never;
  const model = new MockLanguageModelV3({ doGenerate });
  const messages: ModelMessage[] = [{ role: 'user', content: 'go' }, ...more];
  const result = await generateText({
    model,
    tools: createAiSdkTools(kit, options),
    messages,
    stopWhen: stepCountIs(3),
  });
  const told = model.doGenerateCalls.at(-1)?.prompt.filter(({ role }) => role === 'tool') ?? [];
  return { result, told };
}

const transfer = { name: 'transfer', input: { amount: '0.5', to: RECEIVER } };

describe('the AI SDK', () => {
  it('lets a write wait for an approval, and sends it after that', async () => {
    const before = { sent: await chain.nonceOf(kit.address), balance: await chain.balanceOf(RECEIVER) };
    const { result } = await generate([transfer], {});
    const request = result.content.find(({ type }) => type === 'tool-approval-request');
    expect(request).toMatchObject({ toolCall: { toolName: 'transfer', input: transfer.input } });
    expect(await chain.nonceOf(kit.address)).toBe(before.sent);

    const approvalId = (request as { approvalId: string }).approvalId;
    const approve: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: true }],
    };
    // As they come back from a client: the SDK compares the approved input with the result of the schema.
    const history = JSON.parse(JSON.stringify(result.response.messages)) as ModelMessage[];
    const { told } = await generate([], {}, [...history, approve]);
    expect(told).toMatchObject([{ content: [{ output: { type: 'json', value: { status: 'success' } } }] }]);
    expect((await chain.balanceOf(RECEIVER)) - before.balance).toBe(parseEther('0.5'));
  });

  it('calls confirm with the plan instead, if it is given', async () => {
    const before = await chain.nonceOf(kit.address);
    const { told } = await generate([transfer], { confirm: () => false });
    expect(told).toMatchObject([{ content: [{ output: { type: 'error-json', value: { status: 'declined' } } }] }]);
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('reads without asking, and never shows a failure as a success', async () => {
    const reads = [
      { name: 'getERC20Balance', input: { contractAddress: 'USDC' } },
      { name: 'getERC20Balance', input: { contractAddress: 'NOPE' } },
    ];
    const { told } = await generate(reads, {});
    expect(told.flatMap<unknown>(({ content }) => content)).toMatchObject([
      { output: { type: 'json', value: { status: 'success', balance: '1000000' } } },
      { output: { type: 'error-json', value: { status: 'failed', code: 'UNKNOWN_TOKEN' } } },
    ]);
  });

  it('runs parallel writes without a collision', async () => {
    const before = await chain.balanceOf(RECEIVER);
    const { told } = await generate([transfer, transfer, transfer], { needsApproval: false });
    const outputs = told.flatMap<unknown>(({ content }) => content) as { output: { value: { status: string } } }[];
    expect(outputs.map(({ output }) => output.value.status)).toEqual(['success', 'success', 'success']);
    expect((await chain.balanceOf(RECEIVER)) - before).toBe(parseEther('1.5'));
  });
});
