import { MemoryPaymentStore, type PaymentStore } from '@tollgate/client';
import { isHash, type Address, type Hex } from 'viem';
import type { z } from 'zod';

import { AgentKitError } from './agent-kit-error.js';
import type { AgentKitOptions } from './agent-kit-options.js';
import { findAccountLane } from './execution/account-lane.js';
import { createExecutor } from './execution/create-executor.js';
import { explainFailure } from './execution/explain-failure.js';
import { monitorTransaction } from './execution/monitor-transaction.js';
import { parseModelProvider } from './model-provider.js';
import { OperationPlanner } from './operation-planner.js';
import type { CATALOG } from './operations/catalog.js';
import type { Operation } from './operations/operation.js';
import { PRICE_TIMEOUT_MS } from './payments/payment-limits.js';
import { assertNotExpired } from './plan/assert-not-expired.js';
import type { Plan } from './plan/plan.js';
import { assertPolicy } from './policy/assert-policy.js';
import { DailySpending } from './policy/daily-spending.js';
import { listSpending } from './policy/list-spending.js';
import { createSigner, type Signer } from './signing/signer.js';
import type { Receipt, ToolResult } from './tool-result.js';
import { EventHandlers, isEventName, type EventHandler, type EventName } from './transaction-events.js';

type CatalogOperation = (typeof CATALOG)[number];
type Find<Name extends string> = Extract<CatalogOperation, { name: Name }>;

/** The inputs of an operation of the catalog; a plugin's own are checked when they are used. */
export type InputOf<Name extends string> = [Find<Name>] extends [never]
  ? Readonly<Record<string, unknown>>
  : z.input<Find<Name>['input']>;

/** What a reading operation of the catalog returns. */
export type OutputOf<Name extends string> =
  Find<Name> extends { read: (...args: never[]) => Promise<infer Output> } ? Output : unknown;

/** Plans and carries out operations on a chain for one account; `AgentKit` gives each operation a method. */
export class AgentKitCore {
  readonly address: Address;
  /** The model provider identifier, as given. */
  readonly modelProvider: string;
  readonly #signer: Signer;
  readonly #planner: OperationPlanner;
  readonly #events = new EventHandlers();
  readonly #spending = new DailySpending();
  readonly #payments: PaymentStore;
  /** Plans of this kit that are still to be carried out. Of others, preview and calls could differ. */
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
    this.#payments = options.payments?.store ?? new MemoryPaymentStore();
  }

  /** Every operation: the catalog's and the plugins' own. */
  operations(): readonly Operation[] {
    return this.#planner.operations();
  }

  /** Carries out a reading operation. @throws AgentKitError */
  async read<const Name extends string>(name: Name, input: InputOf<Name>): Promise<OutputOf<Name>> {
    const output = await this.#planner.read(name, input);
    return output as OutputOf<Name>;
  }

  /**
   * Plans a writing operation: parsed, simulated, held against the policy, with a preview. Sends nothing.
   * @param options `lifetimeMs`: how long it may be carried out at most; as long as its calls hold, where it is not given.
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
   * @returns what became of it, once something was sent.
   * @throws AgentKitError while nothing was sent.
   */
  async execute(plan: Plan): Promise<ToolResult> {
    if (!this.#plans.delete(plan)) {
      throw new AgentKitError('INVALID_INPUT', 'Only a plan that this kit made can be carried out, and only once.');
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
    const { options, client } = this.#planner;
    const { context, limits } = await this.#planner.connect();
    await this.#planner.assertChain(plan);
    const spending = listSpending(plan, context.tokens.native);
    assertPolicy(plan, spending, options.policy, limits);
    const executor = createExecutor({
      kind: options.executor,
      client,
      chainId: context.chainId,
      account: this.address,
      signer: this.#signer,
      lane: findAccountLane(plan.chainId, this.address),
      events: this.#events,
      explorerUrl: context.explorerUrl,
      monitor: options.monitor ?? {},
      rpcUrl: options.rpcUrl,
      networkRetryDelayMs: options.networkRetryDelayMs,
      payments: {
        store: this.#payments,
        fetch: options.fetch,
        allowInsecureHttp: options.payments?.allowInsecureHttp ?? false,
        priceTimeoutMs: options.payments?.priceTimeoutMs ?? PRICE_TIMEOUT_MS,
      },
    });
    const giveBack = this.#spending.reserve(spending, limits.perDay);
    try {
      const result = await executor.execute(plan);
      if (isNothingSpent(plan, result)) giveBack();
      return result;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** Plans and executes in one go. */
  async run<const Name extends string>(name: Name, input: InputOf<Name>): Promise<ToolResult> {
    return this.execute(await this.plan(name, input));
  }

  /**
   * Waits for a transaction: at most 30 look-ups, 1000 ms apart.
   * @throws AgentKitError `TIMEOUT` with the link to the explorer; `INVALID_INPUT` for what is no hash.
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

  /** Registers a handler. @throws AgentKitError `INVALID_INPUT` for an event that there is not. */
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

/** A single call that failed spent nothing. Of several, earlier ones may have; and a payment that failed was still made. */
function isNothingSpent(plan: Plan, { status }: ToolResult): boolean {
  if (status === 'signed') return false;
  return status === 'failed' && !plan.payment && plan.steps.filter(({ approval }) => !approval).length === 1;
}
