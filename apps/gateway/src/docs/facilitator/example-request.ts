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
