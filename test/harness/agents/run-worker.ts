import { createWalletPlanning } from '../../../apps/agent-worker/src/planning/create-wallet-planning.js';
import { startAgentWorker } from '../../../apps/agent-worker/src/start-agent-worker.js';

/** Runs an agent worker in this process: that takes a fraction of the time of another process. */
export async function runWorker(settings: Record<string, string>): Promise<{ stop: () => Promise<unknown> }> {
  const worker = await startAgentWorker(
    { AGENT_WORKER_PORT: '0', LOG_LEVEL: 'silent', ...settings },
    createWalletPlanning,
  );
  return { stop: () => worker.close() };
}
