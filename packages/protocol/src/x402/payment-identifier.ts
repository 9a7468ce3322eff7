/**
 * Name of the x402 version 2 extension by which a payer identifies a purchase, so that a repeat is not a second
 * payment.
 */
export const PAYMENT_IDENTIFIER = 'payment-identifier';

const PATTERN = '^[a-zA-Z0-9_-]+$';
const ID = /^[a-zA-Z0-9_-]{16,128}$/;

/** The extension as offered in a challenge. */
export const PAYMENT_IDENTIFIER_EXTENSION = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: PATTERN },
    },
    required: ['required'],
  },
} as const;

/** True for 16 to 128 letters, digits, hyphens and underscores. */
export const isPaymentIdentifier = (value: unknown): value is string => typeof value === 'string' && ID.test(value);
