/**
 * The configuration of every server here, which the test passes as JSON in one variable.
 * @type {{ chainId: number, asset: `0x${string}`, assetName: string, assetVersion: string, payTo: `0x${string}`,
 *   priceBaseUnits: string, facilitatorUrl: string, facilitatorHeaders: Record<string, string> }}
 */
export const configuration = JSON.parse(process.env.INTEROP_SERVER ?? '{}');

const { chainId, asset, assetName, assetVersion, payTo, priceBaseUnits, facilitatorUrl, facilitatorHeaders } =
  configuration;
const eip712 = { name: assetName, version: assetVersion };
const network = `eip155:${chainId}`;
const description = 'A quote';
const mimeType = 'application/json';
const maxTimeoutSeconds = 300;

/** The route of version 1, for the path on sale. */
export const routeV1 = {
  price: { amount: priceBaseUnits, asset: { address: asset, decimals: 6, eip712 } },
  network: 'sei-testnet',
  config: { description, mimeType, maxTimeoutSeconds },
};
export const facilitatorV1 = {
  url: facilitatorUrl,
  createAuthHeaders: async () => ({
    verify: facilitatorHeaders,
    settle: facilitatorHeaders,
    supported: facilitatorHeaders,
    list: facilitatorHeaders,
  }),
};

/** The route of version 2. */
export const routeV2 = {
  accepts: {
    scheme: 'exact',
    network,
    payTo,
    price: { amount: priceBaseUnits, asset, extra: eip712 },
    maxTimeoutSeconds,
  },
  description,
  mimeType,
};

/** The same route paid by Permit2, and with a maximum of which `spent` is charged. */
const byPermit2 = { amount: priceBaseUnits, asset, extra: { ...eip712, assetTransferMethod: 'permit2' } };
export const routePermit2 = { ...routeV2, accepts: { ...routeV2.accepts, price: byPermit2 } };
export const routeMetered = { ...routeV2, accepts: { ...routeV2.accepts, scheme: 'upto' } };
export const spent = { amount: '400' };

/** The resource server of version 2 with our facilitator, made by the class of any package. */
export async function createResourceServer(X402ResourceServer) {
  const { HTTPFacilitatorClient } = await import('@x402/core/server');
  const { ExactEvmScheme } = await import('@x402/evm/exact/server');
  const { UptoEvmScheme } = await import('@x402/evm/upto/server');
  const facilitator = new HTTPFacilitatorClient({
    url: facilitatorUrl,
    createAuthHeaders: facilitatorV1.createAuthHeaders,
  });
  return new X402ResourceServer(facilitator)
    .register(network, new ExactEvmScheme())
    .register(network, new UptoEvmScheme());
}

/**
 * Products are at `/quote`, in version 2 at `/permit2` and `/metered` too; `/broken` accepts a payment and then fails.
 */
export const quote = (server) => ({ symbol: 'SEI', server });
export const failure = { error: 'the handler failed' };

/** The test waits for this line. */
export function announce(port) {
  process.stdout.write(`ready http://127.0.0.1:${port}\n`);
}
