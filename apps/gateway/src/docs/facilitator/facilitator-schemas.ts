import { PAYMENT_FAILURES } from '@tollgate/protocol';
import { z } from 'zod';

const address = z.string().meta({ pattern: '^0x[0-9a-fA-F]{40}$' });
const baseUnits = z
  .string()
  .meta({ pattern: '^[0-9]{1,78}$', description: 'decimal integer in base units of the asset' });
const version = z.int().meta({ enum: [1, 2] });
const extra = z
  .object({ name: z.string().exactOptional(), version: z.string().exactOptional() })
  .describe("the token's EIP-712 domain, and further fields of the scheme");
const reason = z.string().describe('a reason defined by the x402 version of the request');
const message = z.union([z.enum(PAYMENT_FAILURES), z.string()]).describe('the code of the failure, or a sentence');
const terms = z.object({
  scheme: z.string(),
  network: z.string(),
  asset: address,
  payTo: address,
  maxTimeoutSeconds: z.int(),
  extra: extra.exactOptional(),
});

const requirementV1 = terms
  .extend({
    network: z.string().meta({ examples: ['sei-testnet'] }),
    maxAmountRequired: baseUnits,
    resource: z.string().exactOptional(),
    description: z.string().exactOptional(),
    mimeType: z.string().exactOptional(),
  })
  .meta({ id: 'RequirementV1' });
const requirementV2 = terms
  .extend({ network: z.string().meta({ examples: ['eip155:1328'] }), amount: baseUnits })
  .meta({ id: 'RequirementV2' });

export const facilitatorRequest = z
  .object({
    x402Version: version.exactOptional(),
    paymentPayload: z.custom<object>().meta({ type: 'object', description: 'as the client sent it, decoded' }),
    paymentRequirements: z.union([requirementV1, requirementV2]),
  })
  .meta({ id: 'FacilitatorRequest' });

export const verifyResponse = z
  .object({
    isValid: z.boolean(),
    invalidReason: reason.exactOptional(),
    invalidMessage: message.exactOptional(),
    payer: address.exactOptional(),
  })
  .meta({ id: 'VerifyResponse' });

export const settleResponse = z
  .object({
    success: z.boolean(),
    errorReason: reason.exactOptional(),
    errorMessage: message.exactOptional(),
    payer: address.exactOptional(),
    transaction: z.string().meta({ pattern: '^(0x[0-9a-f]{64})?$', description: 'empty where there is none' }),
    network: z.string(),
    amount: baseUnits.exactOptional().describe('settled amount in base units'),
  })
  .meta({ id: 'SettleResponse' });

const kind = z.object({
  x402Version: version,
  scheme: z.string(),
  network: z.string(),
  extra: z.custom<object>().meta({ type: 'object' }).exactOptional(),
});
export const supportedResponse = z
  .object({
    kinds: z.array(kind),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(address)).describe('accounts that send settlements, by network pattern'),
  })
  .meta({ id: 'SupportedResponse' });

const listedResource = z.object({
  resource: z.string(),
  type: z.enum(['http']),
  x402Version: version,
  accepts: z.array(z.union([requirementV1, requirementV2])),
  lastUpdated: z.string().meta({ format: 'date-time' }),
  description: z.string(),
  mimeType: z.string(),
  metadata: z.object({ methods: z.array(z.string()) }),
});
export const discoveryResponse = z
  .object({
    x402Version: version,
    items: z.array(listedResource),
    pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
  })
  .meta({ id: 'DiscoveryResponse' });

const requirement = {
  scheme: 'exact',
  network: 'eip155:1328',
  amount: '1000',
  asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  payTo: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  maxTimeoutSeconds: 300,
  extra: { name: 'USDC', version: '2' },
};

/**
 * A payment signed by the devnet's first payer, as in docs/facilitator.md, since a made-up payment would not verify.
 */
export const EXAMPLE_REQUEST = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: requirement,
    payload: {
      signature:
        '0x858a78cb46ed4da5d99fd1bb7dd36d2461f72954692bee1a61ebcff0ab6134a5511f005e6dc9aefb57fa337f9add58277722269e96e46e77b77b803cc4c904d61b',
      authorization: {
        from: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
        to: '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
        value: '1000',
        validAfter: '0',
        validBefore: '4102444800',
        nonce: `0x${'01'.repeat(32)}`,
      },
    },
  },
  paymentRequirements: requirement,
};
