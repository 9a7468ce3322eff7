import { getAddress, isAddress, isHex } from 'viem';
import { z } from 'zod';

/** The calldata of a long route has several kilobytes. */
const MAX_CALLDATA_LENGTH = 200_000;

const baseUnits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform((text) => BigInt(text))
  .refine((amount) => amount < 2n ** 256n);
const address = z
  .string()
  .refine((text) => isAddress(text, { strict: false }))
  .transform((text) => getAddress(text));
const calldata = z
  .string()
  .max(MAX_CALLDATA_LENGTH)
  .refine((text) => isHex(text) && text.length % 2 === 0 && text.length >= 10)
  .transform((text) => text as `0x${string}`);

const price = z.object({
  liquidityAvailable: z.literal(true),
  sellToken: address,
  buyToken: address,
  sellAmount: baseUnits,
  buyAmount: baseUnits,
  minBuyAmount: baseUnits,
  allowanceTarget: address.nullable(),
  issues: z.object({ allowance: z.object({ spender: address }).nullable() }),
  fees: z.object({ zeroExFee: z.object({ amount: baseUnits, token: address }).nullable() }),
});
const noLiquidity = z.object({ liquidityAvailable: z.literal(false) });

/** The used fields of the answer to `/swap/allowance-holder/price`. */
export const priceSchema = z.discriminatedUnion('liquidityAvailable', [price, noLiquidity]);

const quote = price.extend({ transaction: z.object({ to: address, data: calldata, value: baseUnits }) });

/** The used fields of the answer to `/swap/allowance-holder/quote`. */
export const quoteSchema = z.discriminatedUnion('liquidityAvailable', [quote, noLiquidity]);

export type ZeroExPrice = z.output<typeof price>;
export type ZeroExQuote = z.output<typeof quote>;
