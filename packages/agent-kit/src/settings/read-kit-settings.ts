import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { FilePaymentStore } from '@tollgate/client/file-payment-store';
import { isHttpUrl } from '@tollgate/protocol';

import type { SpendingPolicy } from '../policy/policy.js';
import type { AgentKitOptions } from './agent-kit-options.js';

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
  const chains = (readSetting('PAYMENT_RPC_URLS', env, problems) ?? '')
    .split(',')
    .map((rpcUrl) => ({ rpcUrl: rpcUrl.trim() }))
    .filter(({ rpcUrl }) => rpcUrl !== '');
  if (!chains.every(({ rpcUrl }) => isHttpUrl(rpcUrl)))
    problems.push('PAYMENT_RPC_URLS must be http or https URLs, separated by commas');
  return {
    payments: { store: new FilePaymentStore(join(readStateDirectory(env), 'payments')), chains },
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

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a setting from `NAME`, or from the file in `NAME_FILE`, which is how container platforms pass secrets.
 * @param problems collects every problem, without the value.
 * @returns an empty text if it is not set; undefined if it could not be read, which is then a problem.
 */
export function readSetting(name: string, env: Environment, problems: string[]): string | undefined {
  const value = env[name]?.trim() ?? '';
  const file = env[`${name}_FILE`]?.trim() ?? '';
  if (file === '') return value;
  if (value !== '') {
    problems.push(`${name} and ${name}_FILE are both set`);
    return undefined;
  }
  const text = readTextFile(`${name}_FILE`, file, problems);
  if (text === '') problems.push(`${name}_FILE is empty: ${resolve(file)}`);
  return text === '' ? undefined : text;
}

/** The trimmed text of a setting's file; undefined if it cannot be read, which is then a problem. */
function readTextFile(setting: string, file: string, problems: string[]): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    problems.push(`${setting} cannot be read (${code}): ${resolve(file)}`);
    return undefined;
  }
}
