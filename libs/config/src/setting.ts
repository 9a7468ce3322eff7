import { parseTokenAmount } from '@tollgate/protocol';
import { IsInt, Matches, Max, Min, ValidateBy, type ValidationOptions } from 'class-validator';

import { ConfigurationError } from './configuration-error.js';

export interface SettingOptions {
  /** One sentence for the operator; shown in `.env.example` and in the settings table. */
  readonly help: string;
  /** If true, the value is never printed. */
  readonly secret?: boolean;
  /** A value to show when there is no default. */
  readonly example?: string;
  /** How the text is converted; by default the type of the default value, or `text` without one. */
  readonly as?: SettingKind;
  /** The environment variable, if it is not the property name in capitals with underscores. */
  readonly name?: string;
}

export type SettingKind = 'text' | 'number' | 'flag' | 'list';

export interface SettingDescription {
  readonly name: string;
  readonly property: string;
  readonly kind: SettingKind;
  readonly help: string;
  readonly secret: boolean;
  readonly required: boolean;
  readonly defaultText: string | undefined;
  readonly example: string | undefined;
}

/** A class whose `@Setting` properties are read from the environment; its initialisers are the defaults. */
export type EnvironmentClass<T extends object = object> = new () => T;

const settings = new WeakMap<object, Map<string, SettingOptions>>();
const groups = new WeakMap<object, Map<string, EnvironmentClass>>();

/** Marks a property of an environment class as a setting: `redisUrl` is read from `REDIS_URL`. */
export function Setting(options: SettingOptions): PropertyDecorator {
  return (prototype, property) => addTo(settings, prototype, property, options);
}

/** Nests the settings of another environment class under this property; their names do not change. */
export function SettingGroup(group: EnvironmentClass): PropertyDecorator {
  return (prototype, property) => addTo(groups, prototype, property, group);
}

/** The settings of this class without its groups, base classes first. */
export function ownSettings(environment: EnvironmentClass): SettingDescription[] {
  const defaults = new environment() as Record<string, unknown>;
  return [...collect(settings, environment)].map(([property, options]) => {
    const fallback = defaults[property];
    return {
      name: options.name ?? property.replace(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase(),
      property,
      kind: options.as ?? kindOf(fallback),
      help: options.help,
      secret: options.secret === true,
      required: fallback === undefined,
      defaultText: fallback === undefined ? undefined : toText(fallback),
      example: options.example,
    };
  });
}

/** The groups of this class, by property. */
export function ownGroups(environment: EnvironmentClass): Map<string, EnvironmentClass> {
  return collect(groups, environment);
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : `${value as string | number | boolean}`;
}

function kindOf(fallback: unknown): SettingKind {
  if (typeof fallback === 'number') return 'number';
  if (typeof fallback === 'boolean') return 'flag';
  return Array.isArray(fallback) ? 'list' : 'text';
}

function addTo<T>(
  store: WeakMap<object, Map<string, T>>,
  prototype: object,
  property: string | symbol,
  value: T,
): void {
  if (typeof property === 'symbol') throw new ConfigurationError(['a setting needs a property with a name']);
  const own = store.get(prototype) ?? new Map<string, T>();
  store.set(prototype, own.set(property, value));
}

function collect<T>(store: WeakMap<object, Map<string, T>>, environment: EnvironmentClass): Map<string, T> {
  const chain: object[] = [];
  let prototype = environment.prototype as object | null;
  for (; prototype !== null; prototype = Object.getPrototypeOf(prototype) as object | null) chain.unshift(prototype);
  return new Map(chain.flatMap((link) => [...(store.get(link) ?? [])]));
}

/** Validates an integer of at least `min` and at most `max`; without `max` there is no upper limit. */
export function IsIntIn(min: number, max = Infinity): PropertyDecorator {
  const rules = [...(max === Infinity ? [] : [Max(max)]), Min(min), IsInt()];
  return (prototype, property) => rules.forEach((rule) => rule(prototype, property));
}

/** Validates a price of gas, which `parseGwei` reads. */
export function IsGwei(): PropertyDecorator {
  const message = '$property must be a decimal number of gwei with at most 9 decimal places';
  return Matches(/^\d{1,9}(\.\d{1,9})?$/, { message });
}

/** In wei. */
export function parseGwei(gwei: string): bigint {
  return parseTokenAmount(gwei, 9);
}

/** Placeholders from examples, and shell commands that were not run. */
const PLACEHOLDER =
  /\$\(|\$\{|^<.*>$|(change|replace)[-_ ]?(me|this|it)|placeholder|^(your|example|sample|dummy|insert)[-_ ]/i;
/** Random text of this length always has more different characters. */
const LONG = 32;
const LEAST_DIFFERENT = 6;

const LONGEST_RUN = 12;

/** Validates the secret of a signature or a private key: rejects placeholders, and text that is repeated or counted. */
export function IsRandomText(options: ValidationOptions = {}): PropertyDecorator {
  const message = '$property holds a placeholder instead of random text';
  return ValidateBy({ name: 'isRandomText', validator: { validate: isRandomText } }, { message, ...options });
}

function isRandomText(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  return !PLACEHOLDER.test(value) && (value.length < LONG || !isGuessable(value.replace(/^0x/i, '').toLowerCase()));
}

function isGuessable(text: string): boolean {
  if (new Set(text).size < LEAST_DIFFERENT || new RegExp(`(.)\\1{${LONGEST_RUN - 1}}`).test(text)) return true;
  const periods = Array.from({ length: Math.floor(text.length / 2) }, (_, index) => index + 1);
  return periods.some((period) => text.startsWith(text.slice(period))) || isCounted(text);
}

/** 01020304…, in bytes. */
function isCounted(text: string): boolean {
  const bytes = [...Buffer.from(text, 'hex')];
  const steps = new Set(bytes.slice(1).map((byte, index) => (byte - (bytes[index] ?? 0) + 256) % 256));
  return bytes.length * 2 === text.length && steps.size === 1;
}
