import { ValidateBy, type ValidationOptions } from 'class-validator';

/** Placeholders from examples, and shell commands that were not run. */
const PLACEHOLDER =
  /\$\(|\$\{|^<.*>$|(change|replace)[-_ ]?(me|this|it)|placeholder|^(your|example|sample|dummy|insert)[-_ ]/i;
/** Random text of this length always has more different characters. */
const LONG = 32;
const LEAST_DIFFERENT = 6;

/** Validates the secret of a signature: rejects placeholders and few repeated characters. */
export function IsRandomText(options: ValidationOptions = {}): PropertyDecorator {
  const message = '$property holds a placeholder instead of random text';
  return ValidateBy({ name: 'isRandomText', validator: { validate: isRandomText } }, { message, ...options });
}

function isRandomText(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  return !PLACEHOLDER.test(value) && (value.length < LONG || new Set(value).size >= LEAST_DIFFERENT);
}
