import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions/payment-identifier';
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x';
import { createPublicClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/**
 * Gives an `x402Client` (of the version that the wrapper brings) everything that a test may request of it.
 * `scheme` and `transferMethod` select one of several offers; without them the client takes the first.
 */
export function createX402Client(X402Client, { privateKey, rpcUrl, scheme, transferMethod, paymentId, signsIn }) {
  const account = privateKeyToAccount(privateKey);
  const chain = createPublicClient({ transport: http(rpcUrl) });
  const signer = Object.assign(account, { readContract: (request) => chain.readContract(request) });
  const client = new X402Client().register('eip155:*', new UptoEvmScheme(signer));
  registerExactEvmScheme(client, { signer });
  if (scheme) {
    client.registerPolicy((_version, offers) =>
      offers.filter(
        (offer) =>
          offer.scheme === scheme &&
          (!transferMethod || (offer.extra?.assetTransferMethod ?? 'eip3009') === transferMethod),
      ),
    );
  }
  if (paymentId) {
    client.onBeforePaymentCreation(async ({ paymentRequired }) => {
      appendPaymentIdentifierToExtensions(paymentRequired.extensions ?? {}, paymentId);
    });
  }
  if (signsIn) client.registerExtension(createSIWxClientExtension({ signers: [account] }));
  return client;
}
