import { ValidateBy, type ValidationOptions } from 'class-validator';

/** What stands in examples in place of a secret, and shell commands that nothing has run. */
const PLACEHOLDER =
  /\$\(|\$\{|^<.*>$|(change|replace)[-_ ]?(me|this|it)|placeholder|^(your|example|sample|dummy|insert)[-_ ]/i;
/** Any random text of this length has more different characters. */
const LONG = 32;
const LEAST_DIFFERENT = 6;

/** A setting that signs something: no placeholder, and no few characters over and over. */
export function IsRandomText(options: ValidationOptions = {}): PropertyDecorator {
  const message = '$property holds a placeholder instead of random text';
  return ValidateBy({ name: 'isRandomText', validator: { validate: isRandomText } }, { message, ...options });
}

function isRandomText(value: unknown): boolean {
  if (typeof value !== 'string') return true;
  return !PLACEHOLDER.test(value) && (value.length < LONG || new Set(value).size >= LEAST_DIFFERENT);
}
