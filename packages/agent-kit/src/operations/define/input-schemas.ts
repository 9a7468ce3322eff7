import { MAX_LEVERAGE } from '@tollgate/protocol';
import { isAddress, isHash, zeroAddress } from 'viem';
import { z } from 'zod';

import { tokenSchemas } from './token-schemas.js';

// Longer text cannot be an amount: 78 digits hold any uint256, and no token has more than 255 decimals.
const MAX_AMOUNT_LENGTH = 78 + 1 + 255;

/** For amounts where 0 has a special meaning. */
export const amountOrZeroSchema = z
  .string()
  .max(MAX_AMOUNT_LENGTH)
  .regex(/^\d+(\.\d+)?$/, 'write digits with an optional point, for example 1.5')
  .describe('Decimal amount in whole units, for example "1.5", or 0');

/** A decimal amount in whole units of a token; parsed later with the token's decimals, exactly. */
export const amountSchema = amountOrZeroSchema
  .refine((text) => /[1-9]/.test(text), 'must be more than 0')
  .describe('Decimal amount in whole units, for example "1.5"');

/** An amount, or `MAX` for all of it. */
export const amountOrMaxSchema = z
  .union([z.literal('MAX'), amountSchema])
  .describe('Decimal amount in whole units, or MAX for all of it');

export const addressSchema = z
  .string()
  .refine((text) => isAddress(text, { strict: true }), 'must be an address: 0x and 40 hexadecimal digits')
  .describe('Address: 0x and 40 hexadecimal digits');

/** The address of something that the account sends to, approves or calls. */
export const usedAddressSchema = addressSchema
  .refine((text) => text !== zeroAddress, 'must not be the zero address: tokens sent there are lost')
  .describe('Address: 0x and 40 hexadecimal digits');

/** A token reference: `0x0`, an address, or a symbol of the chain's token list. Resolved by `TokenResolver`. */
export const tokenSchema = z
  .string()
  .min(1)
  .max(64)
  .register(tokenSchemas, { isToken: true })
  .describe('Token: 0x0 for the native token, a contract address, or a symbol of the token list');

// Models sometimes write numbers as text. A union instead of a preprocessing step, which a JSON schema could not
// express.
const digits = (schema: z.ZodNumber) =>
  z
    .union([schema, z.string().regex(/^\d{1,9}$/, 'must be a whole number')])
    .transform(Number)
    .pipe(schema);

export const slippageSchema = digits(z.number().int().min(0).max(5_000))
  .optional()
  .describe('Slippage tolerance in basis points; 100 is 1 %');

export const leverageSchema = digits(z.number().int().min(1))
  .optional()
  .describe(`Leverage, a whole number; 1 to ${MAX_LEVERAGE}`);

export const percentSchema = digits(z.number().int().min(1).max(100)).optional().describe('Percent, 1 to 100');

/** `fee` of a pool in hundredths of a basis point, as Uniswap v3 counts it. */
export const poolFeeSchema = digits(z.number().int().min(0).max(1_000_000))
  .optional()
  .describe('Fee tier of the pool in millionths: 3000 is 0.3 %');

export const tokenIdSchema = z
  .string()
  // Any other text would make BigInt throw.
  .regex(/^\d{1,78}$/, { error: 'must be a whole number in digits', abort: true })
  .refine((text) => BigInt(text) < 2n ** 256n, 'does not fit into 256 bits')
  .describe('Token id, as decimal digits');

export const transactionHashSchema = z
  .string()
  .refine((text) => isHash(text), 'must be a transaction hash: 0x and 64 hexadecimal digits')
  .describe('Transaction hash: 0x and 64 hexadecimal digits');
