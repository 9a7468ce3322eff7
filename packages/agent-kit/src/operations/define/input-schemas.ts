import { MAX_LEVERAGE } from '@tollgate/protocol';
import { isAddress, isHash, zeroAddress } from 'viem';
import { z } from 'zod';

import { fieldFacts } from './field-facts.js';

/** An input that may be left out: its value is then undefined. */
type Optional<Schema extends z.ZodType> = z.ZodOptional<
  z.ZodType<z.output<Schema> | undefined, z.input<Schema> | null | undefined>
>;

/** An input that may be left out. Models write null for what they leave out. */
export function absentOr<Schema extends z.ZodType>(schema: Schema): Optional<Schema> {
  return orAbsent(schema, z.union([schema, z.null()]), (value) => value);
}

function orAbsent<Schema extends z.ZodType>(
  schema: Schema,
  written: z.ZodType,
  convert: (value: unknown) => unknown,
): Optional<Schema> {
  const read = written.transform((value) => (value === null ? undefined : convert(value)));
  return read.pipe(schema.optional() as z.ZodType).optional() as Optional<Schema>;
}

// Longer text cannot be an amount: 78 digits hold any uint256, and no token has more than 255 decimals.
const MAX_AMOUNT_LENGTH = 78 + 1 + 255;

/** For amounts where 0 has a special meaning. */
export const amountOrZeroSchema = z
  .string()
  .max(MAX_AMOUNT_LENGTH)
  .regex(/^\d+(\.\d+)?$/, 'write digits with an optional point, for example 1.5')
  .describe('Decimal amount in whole units, for example "1.5", or 0')
  .register(fieldFacts, {
    must: 'be a decimal amount as text, for example "1.5", or "0"',
    document: { examples: ['1.5'] },
  });

/** A decimal amount in whole units of a token; parsed later with the token's decimals, exactly. */
export const amountSchema = amountOrZeroSchema
  .refine((text) => /[1-9]/.test(text), 'must be more than 0')
  .describe('Amount in whole units, for example "1.5"')
  .register(fieldFacts, {
    must: 'be a decimal amount above 0 as text, for example "1.5"',
    document: { examples: ['1.5'] },
  });

/** An amount, or `MAX` for all of it. */
export const amountOrMaxSchema = z
  .union([z.literal('MAX'), amountSchema])
  .describe('Amount in whole units, or MAX for all of it')
  .register(fieldFacts, { must: 'be a decimal amount above 0 as text, for example "1.5", or "MAX" for all of it' });

export const addressSchema = z
  .string()
  .refine((text) => isAddress(text, { strict: true }), 'must be an address: 0x and 40 hexadecimal digits')
  .describe('Address: 0x and 40 hexadecimal digits');

/** The address of something that the account sends to, approves or calls. */
export const usedAddressSchema = addressSchema
  .refine((text) => text !== zeroAddress, 'must not be the zero address: tokens sent there are lost')
  .describe('Address: 0x and 40 hexadecimal digits')
  .register(fieldFacts, {
    must: 'be an address other than zero: 0x and 40 hexadecimal digits, with a valid checksum if it has capitals',
    document: { pattern: '^0x[0-9a-fA-F]{40}$', not: { const: zeroAddress } },
  });

/** A token reference: `0x0`, an address, or a symbol of the chain's token list. Resolved by `TokenResolver`. */
export const tokenSchema = z
  .string()
  .min(1)
  .max(64)
  .describe('Token: 0x0 (native), an address, or a listed symbol')
  .register(fieldFacts, {
    must: 'be a token: 0x0 for the native one, a contract address, or a symbol of the token list, 1 to 64 characters',
    isToken: true,
  });

/** Identifies a lending market by its token. */
export const lendingSymbolSchema = tokenSchema
  .describe('Token of the market: a listed symbol, or its address')
  .register(fieldFacts, {
    must: 'be the token of the market: a symbol of the token list or an address, 1 to 64 characters',
  });

export const perpsProductSchema = z
  .string()
  .min(1)
  .max(64)
  .describe('Symbol of the product, for example "BTC-PERP"')
  .register(fieldFacts, { must: 'be a product, for example "BTC-PERP", 1 to 64 characters' });

// Models sometimes write numbers as text. A union instead of a preprocessing step, which a JSON schema could not
// express.
const optionalNumber = (schema: z.ZodNumber) =>
  orAbsent(schema, z.union([schema, z.string().regex(/^\d{1,9}$/, 'must be a whole number'), z.null()]), Number);

const wholeNumber = (least: number, most: number) =>
  optionalNumber(
    z
      .number()
      .int()
      .min(least)
      .max(most)
      .register(fieldFacts, { must: `be a whole number from ${least} to ${most}` }),
  );

export const slippageSchema = wholeNumber(0, 5_000).describe('Slippage tolerance in basis points; 100 is 1 %');

export const leverageSchema = wholeNumber(1, MAX_LEVERAGE).describe(`Leverage, a whole number; 1 to ${MAX_LEVERAGE}`);

/** For planners that refuse a higher leverage with an error of its own. */
export const anyLeverageSchema = optionalNumber(z.number().int().min(1)).describe(
  `Leverage, a whole number; 1 to ${MAX_LEVERAGE}`,
);

export const percentSchema = wholeNumber(1, 100).describe('Percent, 1 to 100');

/** `fee` of a pool in hundredths of a basis point, as Uniswap v3 counts it. */
export const poolFeeSchema = wholeNumber(0, 1_000_000).describe('Fee tier of the pool in millionths: 3000 is 0.3 %');

const tokenIdText = z
  .string()
  // Any other text would make BigInt throw.
  .regex(/^\d{1,78}$/, { error: 'must be a whole number in digits', abort: true })
  .refine((text) => BigInt(text) < 2n ** 256n, 'does not fit into 256 bits');

// Models write ids as numbers. Larger ones are not exact in JavaScript.
export const tokenIdSchema = z
  .union([tokenIdText, z.number().int().min(0)])
  .transform(String)
  .pipe(tokenIdText)
  .describe('Token id, as decimal digits')
  .register(fieldFacts, { must: 'be a whole number below 2^256 as text, in digits' });

/** Whether requests to the host are allowed is decided at the time of the request. */
export const resourceUrlSchema = z
  .string()
  .min(1)
  .max(2_048)
  .refine(isHttpUrl, 'must be an http or https URL without user name and password')
  .describe('URL of the resource, which is requested with GET')
  .register(fieldFacts, {
    must: 'be an http or https URL of at most 2048 characters, without user name and password',
    document: { format: 'uri' },
  });

export const transactionHashSchema = z
  .string()
  .refine((text) => isHash(text), 'must be a transaction hash: 0x and 64 hexadecimal digits')
  .describe('Transaction hash: 0x and 64 hexadecimal digits');

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}
