import type { AgentJobRequest, JobState } from '@tollgate/protocol';
import type { Address } from 'viem';

import type { TracedChain } from '../trace-transaction.js';

/** The context in which a job of the demo is written. */
export interface DemoPlace {
  chain: TracedChain;
  /** The URL of the paid resource, as the worker reaches it. */
  weatherUrl: string;
  wallet: { name: string; address: Address };
  /** The address of another account. */
  receiver: Address;
}

/** One job of the demo, and its expected end. */
export interface DemoJob {
  operation: AgentJobRequest['operation'];
  /** What the job does, for a heading. */
  title: string;
  /** Written when its turn has come: some need what an earlier job made. */
  input: (place: DemoPlace) => AgentJobRequest['input'] | Promise<AgentJobRequest['input']>;
  /** Of a job that fails, the state and the failure's code. */
  fails?: { state: JobState; code: string };
}
