import { join, resolve } from 'node:path';

import { FilePaymentStore } from '@tollgate/client/file-payment-store';

import type { AgentKitOptions } from '../agent-kit-options.js';
import type { SpendingPolicy } from '../policy/policy.js';
import { readTextFile, type Environment } from './read-setting.js';

export function readStateDirectory(env: Environment): string {
  return resolve(env['TOLLGATE_STATE_DIR'] || '.tollgate');
}

/**
 * The options that the kit's commands share. The policy's content is checked when the kit is created.
 * @param problems collects every problem.
 */
export function readKitSettings(
  env: Environment,
  problems: string[],
): Pick<AgentKitOptions, 'policy' | 'explorerUrl' | 'payments'> {
  const policyFile = env['POLICY_FILE']?.trim();
  const policy = policyFile ? readPolicy(policyFile, problems) : undefined;
  const explorerUrl = env['EXPLORER_URL']?.trim();
  if (explorerUrl && !/^https?:\/\//i.test(explorerUrl)) problems.push('EXPLORER_URL is not an http or https URL');
  return {
    payments: { store: new FilePaymentStore(join(readStateDirectory(env), 'payments')) },
    ...(policy ? { policy } : {}),
    ...(explorerUrl ? { explorerUrl } : {}),
  };
}

function readPolicy(file: string, problems: string[]): SpendingPolicy | undefined {
  const text = readTextFile('POLICY_FILE', file, problems);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as SpendingPolicy;
  } catch {
    problems.push('POLICY_FILE is not JSON');
    return undefined;
  }
}
