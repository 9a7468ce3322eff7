import { parseEther, type Hex } from 'viem';

import { useChain } from '../../../client/test/set-up.js';
import { createHostileOperations, INSTRUCTION, placeRevertingContract } from '../../test/hostile-operations.js';
import { AgentKit } from '../agent-kit.js';
import type { Plan } from '../types/plan.js';
import { nameListField, runOperation, type RunOptions } from './run-operation.js';
import { MAX_RESULT_LENGTH } from './safe-json.js';

const RECEIVER: Hex = '0x00000000000000000000000000000000000000A1';

const chain = useChain({ protocols: true });
let kit: AgentKit;
let privateKey: Hex;

beforeAll(async () => {
  await placeRevertingContract(chain);
  privateKey = chain.accounts[0]!.privateKey;
  kit = createKit();
});

function createKit(executor: 'direct' | 'sign-only' | 'read-only' = 'direct') {
  const plugins = [createHostileOperations()];
  return new AgentKit(privateKey, 'offline', { rpcUrl: chain.rpcUrl, plugins, executor, networkRetryDelayMs: 10 });
}

/** Every text of a result, in order. */
function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}

describe('runOperation reads', () => {
  it('a balance, in the form of the specification', async () => {
    const result = await runOperation(kit, 'getERC20Balance', { contractAddress: 'USDC' });
    expect(result).toMatchObject({ status: 'success', balance: '1000000', token: { ticker: 'USDC' } });
  });

  it('a list under a name', async () => {
    expect(await runOperation(kit, 'listTokens', {})).toMatchObject({ status: 'success', tokens: expect.any(Array) });
    expect(nameListField('perpsGetProducts')).toBe('products');
    expect(nameListField('getLendingMarkets')).toBe('lendingMarkets');
    expect(nameListField('budget')).toBe('items');
  });

  it('a bare value under a name', async () => {
    expect(await runOperation(kit, 'readNumber', { number: 3 })).toEqual({ status: 'success', value: 3 });
  });

  it('long texts cut, and amounts exact', async () => {
    const result = await runOperation(kit, 'listHostile', {});
    const json = JSON.stringify(result);
    expect(json.length).toBeLessThanOrEqual(MAX_RESULT_LENGTH);
    expect(result).toMatchObject({ status: 'success', truncated: true });
    expect(json).toContain(`"amount":"${2n ** 255n}"`);
  });
});

describe('runOperation writes', () => {
  const send = (options?: RunOptions, amount = '0.5') =>
    runOperation(kit, 'transfer', { amount, to: RECEIVER }, options);

  it('exactly the plan that was confirmed', async () => {
    const before = await chain.balanceOf(RECEIVER);
    let shown: Plan | undefined;
    const confirm = (plan: Plan) => {
      shown = plan;
      return true;
    };
    const result = await send({ confirm });
    expect(result).toMatchObject({
      status: 'success',
      result: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount: '0.5',
    });
    const sent = await chain.client.getTransaction({ hash: result['result'] as Hex });
    expect(shown?.steps).toMatchObject([{ value: sent.value, data: sent.input }]);
    expect((await chain.balanceOf(RECEIVER)) - before).toBe(parseEther('0.5'));
  });

  it.each<[string, RunOptions, string]>([
    ['a no', { confirm: () => false }, 'declined'],
    ['a late no', { confirm: async () => false }, 'declined'],
    ['an answer that is not a boolean', { confirm: () => 'yes' as unknown as boolean }, 'declined'],
    ['a confirmation that throws', { confirm: () => Promise.reject(new Error('the window was closed')) }, 'failed'],
    ['a request that was cancelled before', { signal: AbortSignal.abort() }, 'declined'],
  ])('nothing after %s', async (_name, options, status) => {
    const before = await chain.nonceOf(kit.address);
    const result = await send(options);
    expect(result).toMatchObject({ status, error: expect.stringContaining('nothing was sent') });
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('nothing when the request is cancelled before the person answers', async () => {
    const before = await chain.nonceOf(kit.address);
    const controller = new AbortController();
    const confirm = () => {
      controller.abort();
      return true;
    };
    expect(await send({ confirm, signal: controller.signal })).toMatchObject({ status: 'declined', code: 'DECLINED' });
    expect(await chain.nonceOf(kit.address)).toBe(before);
  });

  it('nothing with a kit that only reads', async () => {
    const result = await runOperation(createKit('read-only'), 'transfer', { amount: '1', to: RECEIVER });
    expect(result).toMatchObject({ status: 'failed', code: 'READ_ONLY' });
  });

  it('does not report a signed transaction as a success', async () => {
    const result = await runOperation(createKit('sign-only'), 'transfer', { amount: '1', to: RECEIVER });
    expect(result.status).toBe('signed');
  });
});

describe('runOperation failures', () => {
  it.each([
    ['an amount above the balance', 'transfer', { amount: '1000000000', to: RECEIVER }, 'INSUFFICIENT_FUNDS'],
    ['a token that reverts', 'transfer', { amount: '1', to: RECEIVER, token: 'RVT' }, 'REVERTED'],
    ['a contract that reverts', 'callReverting', {}, 'REVERTED'],
    ['an unknown operation', 'sendEverything', {}, 'UNKNOWN_OPERATION'],
    ['wrong inputs', 'transfer', { amount: -1, to: 'me', extra: INSTRUCTION }, 'INVALID_INPUT'],
    ['no inputs', 'transfer', null, 'INVALID_INPUT'],
    ['an unknown token', 'getERC20Balance', { contractAddress: INSTRUCTION.slice(0, 60) }, 'UNKNOWN_TOKEN'],
    ['a foreign error', 'readNumber', {}, 'PROTOCOL_FAILED'],
  ])('describe %s, without the key and without untrusted text', async (_name, name, input, code) => {
    const given = typeof input === 'object' && input !== null && 'token' in input ? withAddress(input) : input;
    const before = await chain.nonceOf(kit.address);
    const result = await runOperation(kit, name, given);
    expect(result).toMatchObject({ status: 'failed', code, error: expect.any(String), suggestion: expect.any(String) });
    expect(await chain.nonceOf(kit.address)).toBe(before);
    expect(JSON.stringify(result)).not.toContain(privateKey.slice(2, 20));
    for (const text of listTexts(result)) {
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(text.replace(/"[^"]*"/g, '')).not.toMatch(/ignore all|send all|SYSTEM/);
    }
  });

  it('pass foreign errors to onUnexpectedError, but not to the model', async () => {
    const secret = new Error(`ENOENT /home/someone/${privateKey}`);
    const onUnexpectedError = jest.fn();
    const options = { confirm: () => Promise.reject(secret), onUnexpectedError };
    const result = await runOperation(kit, 'transfer', { amount: '1', to: RECEIVER }, options);
    expect(result).toMatchObject({ status: 'failed', code: 'UNEXPECTED' });
    expect(JSON.stringify(result)).not.toMatch(/ENOENT|someone|ac0974/);
    expect(onUnexpectedError).toHaveBeenCalledWith(secret);
  });

  it.each(['getERC20Balance', 'transfer'])('of %s contain no instruction of a token', async (name) => {
    const { EVIL } = chain.contracts.tokens;
    const inputs = { getERC20Balance: { contractAddress: EVIL }, transfer: { amount: '1', to: RECEIVER, token: EVIL } };
    let preview = '';
    const confirm = (plan: Plan) => {
      preview = plan.preview;
      return true;
    };
    const result = await runOperation(kit, name, inputs[name as keyof typeof inputs], { confirm });
    expect(result.status).toBe('success');
    for (const text of [...listTexts(result), ...preview.split('\n')]) {
      expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(text.replace(/"[^"]*"/g, '')).not.toMatch(/ignore all|send all|SYSTEM|Free Airdrop/);
    }
  });

  function withAddress<Input extends object>(input: Input) {
    return { ...input, token: chain.contracts.tokens.RVT };
  }
});
