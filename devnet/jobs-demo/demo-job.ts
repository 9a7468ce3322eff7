import type { AgentJobRequest, JobState } from '@tollgate/protocol';
import type { Address } from 'viem';

import type { TracedChain } from '../trace-transaction.js';

/** What is at hand when a job of the demo is written down. */
export interface DemoPlace {
  chain: TracedChain;
  /** What is for sale at the gate, as the worker reaches it. */
  weatherUrl: string;
  wallet: { name: string; address: Address };
  /** Somebody else's address. */
  receiver: Address;
}

/** One job of the demo, and how it has to end. */
export interface DemoJob {
  operation: AgentJobRequest['operation'];
  /** What comes out in the end, for a heading. */
  title: string;
  /** Written when its turn has come: some need what an earlier job made. */
  input: (place: DemoPlace) => AgentJobRequest['input'] | Promise<AgentJobRequest['input']>;
  /** Of a job that fails, the state and the failure's code. */
  fails?: { state: JobState; code: string };
}
