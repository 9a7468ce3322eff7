import { PAYMENT_FAILURES } from '@tollgate/protocol';

import { flag, integer, listOf, record, ref, text } from '../openapi-parts.js';

const address = { ...text, pattern: '^0x[0-9a-fA-F]{40}$' };
const baseUnits = { ...text, pattern: '^[0-9]{1,78}$', description: 'decimal integer in base units of the asset' };
const version = { ...integer, enum: [1, 2] };
const extra = {
  type: 'object',
  properties: { name: text, version: text },
  description: "the token's EIP-712 domain, and what a scheme needs besides",
};
const terms = { scheme: text, network: text, asset: address, payTo: address, maxTimeoutSeconds: integer, extra };
const failure = { ...text, enum: [...PAYMENT_FAILURES] };

/** What the facilitator is asked, and answers. */
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
      invalidReason: { ...text, description: 'in the words of the published protocol, by its version' },
      invalidMessage: { anyOf: [failure, text], description: 'the code of the failure, or a sentence' },
      payer: address,
    },
    ['invalidReason', 'invalidMessage', 'payer'],
  ),
  SettleResponse: record(
    {
      success: flag,
      errorReason: { ...text, description: 'in the words of the published protocol, by its version' },
      errorMessage: { anyOf: [failure, text], description: 'the code of the failure, or a sentence' },
      payer: address,
      transaction: { ...text, pattern: '^(0x[0-9a-f]{64})?$', description: 'empty where there is none' },
      network: text,
      amount: { ...baseUnits, description: 'base units that were moved' },
    },
    ['errorReason', 'errorMessage', 'payer', 'amount'],
  ),
  SupportedResponse: record({
    kinds: listOf(record({ x402Version: version, scheme: text, network: text, extra: { type: 'object' } }, ['extra'])),
    extensions: listOf(text),
    signers: { type: 'object', additionalProperties: listOf(address), description: 'who sends, by network pattern' },
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
