import { createWallet, type Account, type PollLimits } from '@tollgate/client';
import { POLLING } from '@tollgate/client/internal';
import { isHash, type Address, type Hex, type LocalAccount } from 'viem';
import type { z } from 'zod';

import { explainFailure } from './chain/explain-failure.js';
import { monitorTransaction } from './chain/monitor-transaction.js';
import { executePlan } from './execution/execute-plan.js';
import { parseModelProvider } from './model-provider.js';
import type { CATALOG } from './operations/catalog.js';
import type { Operation } from './operations/define/operation.js';
import { OperationPlanner } from './plan/operation-planner.js';
import { assertPolicy } from './policy/assert-policy.js';
import { listSpending } from './policy/spending.js';
import type { AgentKitOptions } from './settings/agent-kit-options.js';
import { createSigner } from './signing/signer.js';
import { AgentKitError } from './types/agent-kit-error.js';
import { assertNotExpired, type Plan } from './types/plan.js';
import type { Receipt, ToolResult } from './types/tool-result.js';
import { EventHandlers, isEventName, type EventHandler, type EventName } from './types/transaction-events.js';

type CatalogOperation = (typeof CATALOG)[number];
type Find<Name extends string> = Extract<CatalogOperation, { name: Name }>;

/** The inputs of an operation of the catalog; those of a plugin's operation are checked when it is used. */
export type InputOf<Name extends string> = [Find<Name>] extends [never]
  ? Readonly<Record<string, unknown>>
  : z.input<Find<Name>['input']>;

/** The output of a read operation of the catalog. */
export type OutputOf<Name extends string> =
  Find<Name> extends { read: (...args: never[]) => Promise<infer Output> } ? Output : unknown;

/** Plans and executes operations on a chain for one account; `AgentKit` adds a method for each operation. */
export class AgentKitCore {
  readonly address: Address;
  /** The model provider identifier, as given to the constructor. */
  readonly modelProvider: string;
  readonly #signer: LocalAccount;
  readonly #planner: OperationPlanner;
  readonly #events = new EventHandlers();
  /** Plans of this kit that have not been executed yet. In plans from elsewhere, preview and calls could differ. */
  readonly #plans = new WeakSet<Plan>();
  /**
   * @param privateKey the wallet's key, 32 bytes in hexadecimal. It stays in memory.
   * @param modelProvider `openai`, `anthropic`, `google`, `groq`, `mistral`, `cohere`, `offline`, or a URL.
   * @throws AgentKitError `Invalid private key`; `INVALID_CONFIGURATION` with every problem of the options.
   */
  constructor(privateKey: string, modelProvider: string, options: AgentKitOptions = {}) {
    this.#signer = createSigner(privateKey);
    this.address = this.#signer.address;
    parseModelProvider(modelProvider);
    this.modelProvider = modelProvider;
    this.#planner = new OperationPlanner(this.address, options);
  }

  /** All operations: those of the catalog and of the plugins. */
  operations(): readonly Operation[] {
    return this.#planner.operations();
  }

  /** Whether the policy names the write operation, or names none. */
  allows(name: string): boolean {
    return this.#planner.options.policy.operations?.includes(name) ?? true;
  }

  /** Executes a read operation. @throws AgentKitError */
  async read<const Name extends string>(name: Name, input: InputOf<Name>): Promise<OutputOf<Name>> {
    const output = await this.#planner.read(name, input);
    return output as OutputOf<Name>;
  }

  /**
   * Plans a write operation: parses, simulates, checks the policy, and adds a preview. Sends nothing.
   * @param options `lifetimeMs`: how long the plan may be executed at most; if omitted, as long as its calls are valid.
   * @throws AgentKitError
   */
  async plan<const Name extends string>(
    name: Name,
    input: InputOf<Name>,
    options: { lifetimeMs?: number } = {},
  ): Promise<Plan> {
    const { plan } = await this.#planner.plan(name, input, {
      ...options,
      onLowBalance: (balance) => this.#events.emit('lowBalance', { account: this.address, balance }),
    });
    this.#plans.add(plan);
    return plan;
  }

  /**
   * Sends exactly the calls of a plan that this kit made; once, unless nothing was sent.
   * @returns the outcome, once something was sent.
   * @throws AgentKitError if nothing was sent.
   */
  async execute(plan: Plan): Promise<ToolResult> {
    if (!this.#plans.delete(plan)) {
      throw new AgentKitError('INVALID_INPUT', 'Only a plan made by this kit can be executed, and only once.');
    }
    try {
      return await this.#carryOut(plan);
    } catch (error) {
      this.#plans.add(plan);
      throw explainFailure(error);
    }
  }

  async #carryOut(plan: Plan): Promise<ToolResult> {
    assertNotExpired(plan);
    const { planner, others } = this.#planner.findChain(plan.chainId);
    const { options, client } = planner;
    const { context, limits, spending: spent } = await planner.connect();
    await planner.assertChain(plan);
    const spending = listSpending(plan, context.tokens.native);
    assertPolicy(plan, spending, options.policy, limits);
    // Only these: in JavaScript the object may have options of the paying client that are not the kit's.
    const { allowInsecureHttp, priceTimeoutMs, store, headers } = options.payments ?? {};
    const patience = { ...POLLING, ...options.monitor };
    const execution = {
      client,
      chainId: context.chainId,
      account: this.address,
      tokens: context.tokens,
      sender: this.#createSender(planner, plan.chainId, patience),
      otherWallets: others.map((other) => this.#createSender(other.planner, other.chainId, patience)),
      events: this.#events,
      explorerUrl: context.explorerUrl,
      patience,
      networkRetryDelayMs: options.networkRetryDelayMs,
      payments: {
        ...(store !== undefined && { store }),
        fetch: options.fetch,
        ...(allowInsecureHttp !== undefined && { allowInsecureHttp }),
        ...(priceTimeoutMs !== undefined && { priceTimeoutMs }),
        ...(headers !== undefined && { headers }),
      },
    };
    const giveBack = spent.reserve(spending, limits.perDay);
    try {
      const result = await executePlan(plan, options.executor, execution);
      if (isNothingSpent(plan, result)) giveBack();
      return result;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  #createSender({ options }: OperationPlanner, chainId: number, patience: PollLimits): Account {
    const { rpcUrl, otherRpcUrls, rpcTimeoutMs } = options;
    return createWallet({ account: this.#signer, chainId, rpcUrl, otherRpcUrls, rpcTimeoutMs, patience });
  }

  /** Plans and executes in one call. */
  async run<const Name extends string>(name: Name, input: InputOf<Name>): Promise<ToolResult> {
    return this.execute(await this.plan(name, input));
  }

  /**
   * Waits for a transaction: at most 30 look-ups, 1000 ms apart.
   * @throws AgentKitError `TIMEOUT` with the link to the explorer; `INVALID_INPUT` for an invalid hash.
   */
  async monitorTransaction(hash: Hex): Promise<Receipt> {
    if (!isHash(hash)) throw new AgentKitError('INVALID_INPUT', 'A transaction hash is 0x and 64 hexadecimal digits.');
    const { client, options } = this.#planner;
    const { explorerUrl } = await this.#planner.readContext();
    const receipt = await monitorTransaction(client, hash, { ...options.monitor, explorerUrl });
    return {
      status: receipt.status === 'success' ? 'success' : 'failed',
      transactionHash: receipt.transactionHash,
      blockNumber: receipt.blockNumber,
      gasUsed: receipt.gasUsed,
    };
  }

  /** Registers a handler. @throws AgentKitError `INVALID_INPUT` for an unknown event. */
  on<Name extends EventName>(eventName: Name, handler: EventHandler<Name>): this {
    if (!isEventName(eventName)) throw new AgentKitError('INVALID_INPUT', `There is no event ${String(eventName)}.`);
    this.#events.add(eventName, handler);
    return this;
  }

  off<Name extends EventName>(eventName: Name, handler: EventHandler<Name>): this {
    this.#events.remove(eventName, handler);
    return this;
  }
}

/**
 * A single call that failed spent nothing. Of several, earlier ones may have spent something, and a failed payment may
 * still have been made.
 */
function isNothingSpent(plan: Plan, { status }: ToolResult): boolean {
  if (status === 'signed') return false;
  return status === 'failed' && !plan.payment && plan.steps.filter(({ approval }) => !approval).length === 1;
}
