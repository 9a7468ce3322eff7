import type { Operation } from '../operations/operation.js';
import type { Plan } from '../plan/plan.js';

/** What the tools need of a kit; an `AgentKit` is one. */
export interface OperationRunner {
  operations(): readonly Operation[];
  /** @throws AgentKitError */
  read(name: string, input: unknown): Promise<unknown>;
  /** Simulated and checked against the policy; nothing is sent. @throws AgentKitError */
  plan(name: string, input: unknown, options?: { lifetimeMs?: number }): Promise<Plan>;
  /** Sends exactly the plan. Throws AgentKitError while nothing was sent, and returns a result from then on. */
  execute(plan: Plan): Promise<{ status: string }>;
}

/** What every adapter can be told. */
export interface ToolOptions {
  /** Asked with the simulated plan before anything is sent; what is not answered with `true` is not sent. */
  confirm?: (plan: Plan) => boolean | Promise<boolean>;
  /** Leaves out everything that sends transactions. */
  readOnly?: boolean;
  /**
   * `show` offers a tool `plan<Operation>` for each write, which sends nothing; `execute` also `executePlan`, which sends what
   * such a tool has shown. Have each call of `executePlan` approved by a person; where calls are approved automatically,
   * whatever the model plans is sent. `show` unless given; `none` for neither.
   */
  plans?: 'none' | 'show' | 'execute';
  /** Told about errors that are no `AgentKitError`; the model only learns that something unexpected happened. */
  onUnexpectedError?: (error: unknown) => void;
}
