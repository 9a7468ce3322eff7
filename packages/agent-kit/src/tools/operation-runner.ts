import type { Operation } from '../operations/define/operation.js';
import type { Plan } from '../plan/plan.js';

/** The part of a kit that the tools need; an `AgentKit` is one. */
export interface OperationRunner {
  operations(): readonly Operation[];
  /** @throws AgentKitError */
  read(name: string, input: unknown): Promise<unknown>;
  /** Simulated and checked against the policy; nothing is sent. @throws AgentKitError */
  plan(name: string, input: unknown, options?: { lifetimeMs?: number }): Promise<Plan>;
  /** Sends exactly the plan. Throws AgentKitError if nothing was sent, and returns a result once something was. */
  execute(plan: Plan): Promise<{ status: string }>;
}

/** The options of every adapter. */
export interface ToolOptions {
  /** Called with the simulated plan before anything is sent; nothing is sent unless it returns `true`. */
  confirm?: (plan: Plan) => boolean | Promise<boolean>;
  /** Leaves out every tool that sends transactions. */
  readOnly?: boolean;
  /**
   * `show` adds a tool `plan<Operation>` for each write, which sends nothing; `execute` also adds `executePlan`, which
   * sends a plan of such a tool. Have a person approve each call of `executePlan`; if calls are approved automatically,
   * every plan of the model is sent. Default `show`; `none` for neither.
   */
  plans?: 'none' | 'show' | 'execute';
  /** Called with errors that are not an `AgentKitError`; the model only sees that something unexpected happened. */
  onUnexpectedError?: (error: unknown) => void;
}
