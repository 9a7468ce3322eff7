/** What the middlewares stand on is loaded as it is published: compiling it takes time and tests nothing. */
export default {
  pageExtensions: ['mjs'],
  serverExternalPackages: ['x402', '@x402/core', '@x402/evm', 'viem'],
  devIndicators: false,
};
