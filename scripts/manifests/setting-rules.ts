import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { examineEnvironment } from '@tollgate/config';

import { ROOT } from '../docs/generated-files.js';
import type { Manifest } from './manifest.js';
import { copyPaymentsFile, type MountedPayments } from './payments-file.js';
import { PROCESSES } from './processes.js';
import { listProcesses, settingsOf } from './read-settings.js';

/** Well-formed values in place of those that Secrets have. */
const SAMPLES: Record<string, string> = {
  CHALLENGE_SECRET: randomBytes(16).toString('hex'),
  AGENT_SECRET: randomBytes(16).toString('hex'),
  RPC_URL: 'https://rpc.example',
  RELAYER_PRIVATE_KEYS: `0x${'01'.repeat(32)}`,
  BOOK_DATABASE_URL: 'postgres://tollgate@db.example/tollgate',
  BOOK_SIGNING_KEY: randomBytes(32).toString('hex'),
  WALLET_PRIVATE_KEY: `0x${'02'.repeat(32)}`,
};

/** Each name is a setting, each required one is there, and the process's own checks accept the values. */
export function findSettingProblems(manifests: readonly Manifest[]): string[] {
  return listProcesses(manifests).flatMap(({ name, process: { environment, settings }, pod, container }) => {
    const { values, parts } = settingsOf(container, manifests);
    const payments = copyPaymentsFile(values['PAYMENTS_FILE'], pod, manifests);
    const own = new Set((container.env ?? []).map((one) => one.name));
    const isSetting = (variable: string): boolean =>
      payments?.samples.has(variable.replace(/_FILE$/, '')) === true ||
      (own.has(variable)
        ? isNameOf(settings, variable)
        : [...PROCESSES.values()].some((any) => isNameOf(any.settings, variable)));
    const unknown = Object.keys(values)
      .filter((variable) => !parts.has(variable) && !isSetting(variable))
      .map((variable) => `${pod.owner}: ${variable} is no setting of ${own.has(variable) ? name : 'any process'}.`);
    const { problems } = examineEnvironment(environment, withSamples(values, settings, payments));
    return [
      ...unknown,
      ...problems.map((problem) => `${pod.owner}: ${problem}`),
      ...findUserProblems(pod.owner, values),
    ];
  });
}

/** Redis has rules for the user. */
function findUserProblems(owner: string, { REDIS_URL: url = '' }: Record<string, string>): string[] {
  const user = /^[^/]*\/\/([^:@]+)/.exec(url)?.[1] ?? 'default';
  return existsSync(join(ROOT, 'deploy/redis', `${user}.acl`)) ? [] : [`${owner}: deploy/redis has no user ${user}.`];
}

type Settings = ReadonlyMap<string, { secret: boolean; required: boolean; example: string | undefined }>;

function isNameOf(settings: Settings, variable: string): boolean {
  return settings.has(variable) || settings.get(variable.replace(/_FILE$/, ''))?.secret === true;
}

/** Files are the containers' own, and an empty required value is for the operator to fill in. */
function withSamples(
  values: Record<string, string>,
  settings: Settings,
  payments: MountedPayments | null,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([variable, value]) => {
      if (variable === 'WALLETS_FILE') return ['WALLET_PRIVATE_KEY', SAMPLES['WALLET_PRIVATE_KEY'] ?? ''];
      const secret = variable.replace(/_FILE$/, '');
      const sample = payments?.samples.get(secret);
      if (sample !== undefined) return [secret, sample];
      if (payments && variable === 'PAYMENTS_FILE') return [variable, payments.path];
      if (secret !== variable && settings.get(secret)?.secret === true) return [secret, SAMPLES[secret] ?? ''];
      const setting = settings.get(variable);
      return [variable, value === '' && setting?.required === true ? (setting.example ?? '') : value];
    }),
  );
}
