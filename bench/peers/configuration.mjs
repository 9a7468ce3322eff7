/**
 * The configuration of every program here, passed by the benchmark as JSON in one variable.
 * @type {{ rpcUrl: string, chainId: number, asset: `0x${string}`, assetVersion: string, payTo: `0x${string}`, facilitatorUrl: string, relayerKey: `0x${string}` }}
 */
export const configuration = JSON.parse(process.env.BENCH_PEER ?? '{}');

export const priceBaseUnits = '1000';
export const networkV1 = 'sei-testnet';
export const networkV2 = `eip155:${configuration.chainId}`;
export const eip712 = { name: 'USDC', version: configuration.assetVersion };

export const weather = () => ({
  location: 'Sample City',
  temperature: '21 °C',
  conditions: 'Partly cloudy',
  humidity: '60%',
  windSpeed: '12 km/h',
  timestamp: new Date().toISOString(),
});

/** The benchmark waits for this line. */
export function announce(port) {
  process.stdout.write(`ready http://127.0.0.1:${port}\n`);
}
