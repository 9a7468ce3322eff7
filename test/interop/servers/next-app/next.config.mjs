/** The middlewares' dependencies are loaded as they are published: compiling them takes time and tests nothing. */
export default {
  pageExtensions: ['mjs'],
  serverExternalPackages: ['x402', '@x402/core', '@x402/evm', 'viem'],
  devIndicators: false,
};
