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
