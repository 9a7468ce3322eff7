import { AgentKitError, OperationPlanner } from '@tollgate/agent-kit/planner';
import { PlanFailure, type StepRecord } from '@tollgate/journal';
import { createPublicClient, http } from 'viem';

import { startRpcProxy, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { NotNowError } from '../payments/not-now-error.js';
import { explainDelay, PlanningTrouble, type Patience } from './planning-trouble.js';

describe('a job that gets no answer from its node', () => {
  let chain: Devnet;
  let proxy: RpcProxy;

  beforeAll(async () => {
    chain = await startChain();
    proxy = await startRpcProxy(chain.rpcUrl);
  });

  afterAll(async () => {
    await proxy.stop();
    await chain.stop();
  });

  beforeEach(() => proxy.reset());

  const NEVER = Number.POSITIVE_INFINITY;
  const refusal = new AgentKitError('NETWORK_ERROR', 'The node refuses to simulate this call.');
  const create = (patience: Patience) => {
    const client = createPublicClient({ transport: http(proxy.rpcUrl, { retryCount: 0 }) });
    return new PlanningTrouble({ canPayForGas: () => Promise.resolve(true), client }, patience);
  };
  const jobWith = (nonce: number | null) => ({ id: 'job', stepIndex: 0, steps: [{ nonce } as StepRecord] });

  it('is retried until its time limit', async () => {
    const trouble = create({ waitingMs: NEVER, holdingNonceMs: 0 });
    expect(await trouble.explain(jobWith(null), refusal)).toBe(refusal);
    expect(proxy.calls).toHaveLength(0);
  });

  it('fails if the node answers other jobs', async () => {
    const trouble = create({ waitingMs: 0, holdingNonceMs: NEVER });
    const end = await trouble.explain(jobWith(null), refusal);
    expect(end).toBeInstanceOf(PlanFailure);
    expect(end).toMatchObject({ failure: { code: 'NETWORK_ERROR', message: refusal.message } });
  });

  it('fails with a message that does not name the node', async () => {
    proxy.intercept('eth_chainId', () => ({ status: 429, body: '' }));
    const kit = new OperationPlanner(chain.asset, { rpcUrl: proxy.rpcUrl, networkRetryDelayMs: 0 });
    const error: unknown = await kit.readContext().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining(new URL(proxy.rpcUrl).host) });
    const message = 'The network did not answer: the RPC server answers with HTTP status 429.';
    const trouble = create({ waitingMs: 0, holdingNonceMs: NEVER });
    expect(await trouble.explain(jobWith(null), error)).toMatchObject({ failure: { code: 'NETWORK_ERROR', message } });
  });

  it('is retried for as long as no job gets an answer', async () => {
    const trouble = create({ waitingMs: 0, holdingNonceMs: 0 });
    proxy.intercept('*', () => Promise.resolve('broken'));
    expect(await trouble.explain(jobWith(null), refusal)).toBe(refusal);
    proxy.reset();
    expect(await trouble.explain(jobWith(null), refusal)).toBeInstanceOf(PlanFailure);
  });

  describe('and then none of its failures for a while', () => {
    let nowMs = 0;
    beforeEach(() => jest.spyOn(performance, 'now').mockImplementation(() => nowMs));
    afterEach(() => jest.restoreAllMocks());

    it('starts anew', async () => {
      const trouble = create({ waitingMs: 600_000, holdingNonceMs: 60_000 });
      expect(await trouble.explain(jobWith(null), refusal)).toBe(refusal);
      nowMs += 3_600_000;
      expect(await trouble.explain(jobWith(7), refusal)).toBe(refusal);
    });

    it('is forgotten for other jobs', async () => {
      const trouble = create({ waitingMs: 1_000, holdingNonceMs: 1_000 });
      for (const id of ['job', ...Array.from({ length: 20_000 }, (_, index) => `other-${index}`)]) {
        expect(await trouble.explain({ ...jobWith(null), id }, refusal)).toBe(refusal);
      }
      nowMs += 1_000;
      expect(await trouble.explain(jobWith(null), refusal)).toBe(refusal);
    });
  });

  it('has less time while it holds a nonce that later jobs wait behind', async () => {
    const trouble = create({ waitingMs: NEVER, holdingNonceMs: 0 });
    expect(await trouble.explain(jobWith(7), refusal)).toBeInstanceOf(PlanFailure);
  });
});

describe('what a job waits for whose planning is tried again', () => {
  it.each([
    ['refuses', 'rpc_refuses'],
    ['unreachable', 'rpc_unreachable'],
    ['lags', 'rpc_lags'],
    ['chain_differs', 'chain_differs'],
    [undefined, 'answer'],
  ])('is with the trouble %s %s, without the name of the server', (rpcTrouble, code) => {
    const details = { rpcHost: 'rpc.example', rpcTrouble };
    const error = new AgentKitError('NETWORK_ERROR', 'The network: the RPC server at rpc.example is away.', {
      details,
    });
    const { suggestion } = error;
    expect(explainDelay(error)).toEqual({ code, message: 'The network: the RPC server is away.', suggestion });
  });

  it('is not known of other errors, nor where the wallet or the journal is the reason', () => {
    const errors = [new Error('bug'), new AgentKitError('SLIPPAGE', 'It moved.'), new NotNowError('network: paused')];
    expect(errors.map(explainDelay)).toEqual([null, null, null]);
  });
});
