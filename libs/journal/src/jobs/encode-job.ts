import type { JobFailure, JsonValue, PlannedStep } from './job.js';

const MAX_TEXT = 1000;
const MAX_JSON_BYTES = 256 * 1024;

/** Serialises a failure. Long texts are cut, since the chain may have chosen them. */
export function encodeFailure({ code, message, suggestion }: JobFailure): string {
  return encodeJson({
    code: code.slice(0, 64),
    message: message.slice(0, MAX_TEXT),
    suggestion: suggestion.slice(0, MAX_TEXT),
  });
}

/** The largest number of the chain; larger ones could not be read again. */
const MAX_AMOUNT = 2n ** 256n - 1n;

/**
 * Serialises a step. Numbers become decimal text.
 * @throws TypeError for a number that is no 256 bit word.
 */
export function encodeStep({ label, to, data, value, gas, holdsIf, signs, failures }: PlannedStep): string {
  return encodeJson({
    label: label.slice(0, MAX_TEXT),
    to,
    data,
    value: encodeAmount(value),
    gas: encodeAmount(gas),
    ...(holdsIf !== undefined && { holdsIf }),
    // Valid JSON, because all its fields are text.
    ...(signs && { signs: signs as unknown as JsonValue }),
    ...(failures !== undefined && { failures }),
  });
}

function encodeAmount(amount: bigint): string {
  if (amount < 0n || amount > MAX_AMOUNT) throw new TypeError('the number is not a word of the chain');
  return amount.toString();
}

/**
 * JSON of bounded size.
 * @throws TypeError when the value is larger than 256 KiB or cannot be written as JSON.
 */
export function encodeJson(value: JsonValue): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('the value cannot be written as JSON');
  if (Buffer.byteLength(text) > MAX_JSON_BYTES) throw new TypeError('the value is too large for the journal');
  return text;
}
