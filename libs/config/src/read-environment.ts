import { readFileSync, statSync } from 'node:fs';

import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';

import { ConfigurationError } from './configuration-error.js';
import { PaymentsFileEnvironment } from './payments/payments-file.environment.js';
import type { Payments } from './payments/payments.js';
import { usePaymentsFile } from './payments/use-payments-file.js';
import { ownGroups, ownSettings, type EnvironmentClass, type SettingDescription } from './setting.js';

/** Implemented by an environment class that checks settings together; each string is one problem. */
export interface ChecksTogether {
  problemsTogether(): string[];
}

/**
 * Implemented by an environment class that checks the entries of its lists, whatever else is wrong; each string is one
 * problem.
 */
export interface ChecksEntries {
  problemsOfEntries(): string[];
}

/** Implemented by an environment class whose valid settings may still be risky; each string is one warning. */
export interface Warns {
  readonly warnings: readonly string[];
}

const warned = new WeakMap<object, readonly string[]>();

/** What to log once at the start of valid settings: the warnings of all groups, and files of secrets that others can read. */
export function warningsOf(environment: object): readonly string[] {
  return warned.get(environment) ?? [];
}

/**
 * Reads the settings of an environment class, its groups included. An unset or empty variable takes the default; a
 * setting without a default is required unless class-validator says `@IsOptional()`. A secret may also be in a file
 * named by the same variable with the suffix `_FILE`, as container platforms provide it.
 *
 * @throws ConfigurationError with every problem and how to correct it, but without the value of any secret
 */
export function readEnvironment<T extends object>(
  environment: EnvironmentClass<T>,
  env: Readonly<Record<string, string | undefined>>,
): T {
  const { result, problems } = examineEnvironment(environment, env);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return result;
}

export interface ExaminedEnvironment<T> {
  /** Properties named in `faulty` may have another type than declared. */
  readonly result: T;
  readonly problems: readonly string[];
  /** Names of the variables that are missing or wrong. */
  readonly faulty: ReadonlySet<string>;
}

/** Like `readEnvironment`, for callers that look for further problems before they report all. */
export function examineEnvironment<T extends object>(
  environment: EnvironmentClass<T>,
  env: Readonly<Record<string, string | undefined>>,
): ExaminedEnvironment<T> {
  const settings = new Set(listSettings(environment).map(({ name }) => name));
  const { env: used, payments, problems, unknown } = usePaymentsFile(env, settings);
  const found: Found = { payments, problems: [...problems], faulty: new Set(unknown), isWhole: unknown.size === 0 };
  const result = readGroup(environment, used, found);
  if (found.problems.length === 0) {
    const files = listSettings(environment).flatMap((setting) =>
      setting.secret ? findExposed(setting.name, used) : [],
    );
    warned.set(result, [...new Set([...files, ...collectWarnings(environment, result)])]);
  }
  return { result, problems: [...new Set(found.problems)], faulty: found.faulty };
}

/** Every setting of an environment class, its groups first. */
export function listSettings(environment: EnvironmentClass): SettingDescription[] {
  const nested = [...ownGroups(environment).values()].flatMap(listSettings);
  const own = ownSettings(environment).map((setting) => ({
    ...setting,
    required: setting.required && !isOptional(environment, setting.property),
  }));
  return [...nested, ...own];
}

function collectWarnings(environment: EnvironmentClass, result: object): readonly string[] {
  const groups = new Map(Object.entries(result as Record<string, object>));
  const nested = [...ownGroups(environment)].flatMap(([property, group]) =>
    collectWarnings(group, groups.get(property) ?? {}),
  );
  return [...nested, ...('warnings' in result ? (result as Warns).warnings : [])];
}

/** A group reads what another account owns, as where Kubernetes mounts a Secret; of one's own file it has no business. */
function findExposed(name: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const file = env[`${name}_FILE`]?.trim() ?? '';
  // Windows has no modes.
  if (file === '' || process.getuid === undefined) return [];
  const { mode, uid } = statSync(file);
  if ((mode & (uid === process.getuid() ? 0o044 : 0o004)) === 0) return [];
  return [`${name}_FILE: others than its owner can read ${file}. Run chmod 400 on it.`];
}

interface Found {
  readonly payments: Payments | null;
  readonly problems: string[];
  /** Names of settings. */
  readonly faulty: Set<string>;
  /** No setting is missing for a file that could not be used. */
  readonly isWhole: boolean;
}

function readGroup<T extends object>(
  environment: EnvironmentClass<T>,
  env: Readonly<Record<string, string | undefined>>,
  found: Found,
): T {
  const { problems } = found;
  const result = new environment();
  const fields = result as Record<string, unknown>;
  const problemsBefore = problems.length;
  if (result instanceof PaymentsFileEnvironment) result.payments = found.payments;
  for (const [property, group] of ownGroups(environment)) fields[property] = readGroup(group, env, found);

  const described = ownSettings(environment);
  const faulty = new Set<string>();
  const texts = new Map<string, string>();
  for (const setting of described) {
    const text = found.faulty.has(setting.name) ? undefined : readText(setting, env, problems);
    if (text === undefined) {
      faulty.add(setting.property);
    } else if (text === '') {
      if (!setting.required || isOptional(environment, setting.property)) continue;
      problems.push(`${setting.name} is not set. ${howToMend(setting)}`);
      faulty.add(setting.property);
    } else {
      texts.set(setting.property, text);
      fields[setting.property] = convert(text, setting);
    }
    // Checks of list entries expect a list.
    if (faulty.has(setting.property) && setting.kind === 'list') fields[setting.property] = [];
  }

  const byProperty = new Map(described.map((setting) => [setting.property, setting]));
  for (const error of validateSync(result, { forbidUnknownValues: false, skipUndefinedProperties: false })) {
    const setting = byProperty.get(error.property);
    if (setting === undefined || faulty.has(error.property)) continue;
    problems.push(`${explain(error, setting, texts.get(setting.property))}. ${howToMend(setting)}`);
    faulty.add(setting.property);
  }
  for (const { property, name } of described) if (faulty.has(property)) found.faulty.add(name);
  if ('problemsOfEntries' in result) problems.push(...(result as unknown as ChecksEntries).problemsOfEntries());
  // A setting that is wrong alone would be reported twice by the checks of settings together.
  if (found.isWhole && problems.length === problemsBefore && 'problemsTogether' in result) {
    problems.push(...(result as unknown as ChecksTogether).problemsTogether());
  }
  return result;
}

/**
 * The text of a setting; empty when it is not set, undefined when it could not be read, which is recorded as a problem.
 */
function readText(
  setting: SettingDescription,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): string | undefined {
  const text = env[setting.name]?.trim() ?? '';
  const file = env[`${setting.name}_FILE`]?.trim() ?? '';
  if (!setting.secret || file === '') return text;
  if (text !== '') {
    problems.push(`${setting.name} and ${setting.name}_FILE are both set. Keep one of them.`);
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    problems.push(`${setting.name}_FILE cannot be read (${code}): ${file}`);
    return undefined;
  }
}

function convert(text: string, setting: SettingDescription): unknown {
  switch (setting.kind) {
    case 'text':
      return text;
    case 'number':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
  }
}

function explain(error: ValidationError, setting: SettingDescription, text: string | undefined): string {
  const messages = Object.values(error.constraints ?? {}).map((message) =>
    message.replaceAll(new RegExp(`\\b${setting.property}\\b`, 'g'), setting.name),
  );
  const sentence = messages.length > 0 ? messages.join(', ') : `${setting.name} is not valid`;
  if (!setting.secret) return sentence;
  // A message may quote the value. A secret, or an entry of a secret list, must not reach a log.
  return [text ?? '', ...(setting.kind === 'list' ? (text ?? '').split(',') : [])]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .reduce((safe, part) => safe.replaceAll(part, '(hidden)'), sentence);
}

function howToMend(setting: SettingDescription): string {
  const shown = setting.example ?? setting.defaultText;
  const example = shown === undefined ? '' : ` For example ${setting.name}=${shown}`;
  return `${setting.help}${example}`;
}

function isOptional(environment: EnvironmentClass, property: string): boolean {
  return getMetadataStorage()
    .getTargetValidationMetadatas(environment, '', false, false)
    .some((metadata) => metadata.propertyName === property && metadata.type === 'conditionalValidation');
}
