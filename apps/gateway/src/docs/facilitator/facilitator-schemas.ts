import { PAYMENT_FAILURES } from '@tollgate/protocol';

import { flag, integer, listOf, record, ref, text } from '../describe/openapi-parts.js';

const address = { ...text, pattern: '^0x[0-9a-fA-F]{40}$' };
const baseUnits = { ...text, pattern: '^[0-9]{1,78}$', description: 'decimal integer in base units of the asset' };
const version = { ...integer, enum: [1, 2] };
const extra = {
  type: 'object',
  properties: { name: text, version: text },
  description: "the token's EIP-712 domain, and further fields of the scheme",
};
const terms = { scheme: text, network: text, asset: address, payTo: address, maxTimeoutSeconds: integer, extra };
const failure = { ...text, enum: [...PAYMENT_FAILURES] };

/** The request and response schemas of the facilitator. */
export const FACILITATOR_SCHEMAS: Readonly<Record<string, object>> = {
  RequirementV1: record(
    {
      ...{ ...terms, network: { ...text, examples: ['sei-testnet'] }, maxAmountRequired: baseUnits },
      ...{ resource: text, description: text, mimeType: text },
    },
    ['extra', 'resource', 'description', 'mimeType'],
  ),
  RequirementV2: record({ ...terms, network: { ...text, examples: ['eip155:1328'] }, amount: baseUnits }, ['extra']),
  FacilitatorRequest: record(
    {
      x402Version: version,
      paymentPayload: { type: 'object', description: 'as the client sent it, decoded' },
      paymentRequirements: { anyOf: [ref('RequirementV1'), ref('RequirementV2')] },
    },
    ['x402Version'],
  ),
  VerifyResponse: record(
    {
      isValid: flag,
      invalidReason: { ...text, description: 'a reason defined by the x402 version of the request' },
      invalidMessage: { anyOf: [failure, text], description: 'the code of the failure, or a sentence' },
      payer: address,
    },
    ['invalidReason', 'invalidMessage', 'payer'],
  ),
  SettleResponse: record(
    {
      success: flag,
      errorReason: { ...text, description: 'a reason defined by the x402 version of the request' },
      errorMessage: { anyOf: [failure, text], description: 'the code of the failure, or a sentence' },
      payer: address,
      transaction: { ...text, pattern: '^(0x[0-9a-f]{64})?$', description: 'empty where there is none' },
      network: text,
      amount: { ...baseUnits, description: 'settled amount in base units' },
    },
    ['errorReason', 'errorMessage', 'payer', 'amount'],
  ),
  SupportedResponse: record({
    kinds: listOf(record({ x402Version: version, scheme: text, network: text, extra: { type: 'object' } }, ['extra'])),
    extensions: listOf(text),
    signers: {
      type: 'object',
      additionalProperties: listOf(address),
      description: 'accounts that send settlements, by network pattern',
    },
  }),
  DiscoveryResponse: record({
    x402Version: version,
    items: listOf(
      record({
        ...{ resource: text, type: { ...text, enum: ['http'] }, x402Version: version },
        ...{ accepts: listOf({ anyOf: [ref('RequirementV1'), ref('RequirementV2')] }) },
        ...{ lastUpdated: { ...text, format: 'date-time' }, description: text, mimeType: text },
        metadata: record({ methods: listOf(text) }),
      }),
    ),
    pagination: record({ limit: integer, offset: integer, total: integer }),
  }),
};

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
