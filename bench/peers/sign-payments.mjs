// Signs EIP-3009 payments with the published clients' own code, before any clock runs: takes
// `{ server, version: 1|2, payerKeys, count }` as JSON argument and prints one header value a line.
import { privateKeyToAccount } from 'viem/accounts';

const { server, version, payerKeys, count } = JSON.parse(process.argv[2]);
const challenge = await fetch(`${server}/api/weather`);
const sign = version === 1 ? await createSignerV1() : await createSignerV2();
for (let index = 0; index < count; index++) {
  process.stdout.write((await sign(payerKeys[index % payerKeys.length])) + '\n');
}

async function createSignerV1() {
  const { createPaymentHeader } = await import('x402/client');
  const { accepts } = await challenge.json();
  return (key) => createPaymentHeader(privateKeyToAccount(key), 1, accepts[0]);
}

async function createSignerV2() {
  const { x402Client, x402HTTPClient } = await import('@x402/core/client');
  const { registerExactEvmScheme } = await import('@x402/evm/exact/client');
  const body = await challenge.json();
  const clients = new Map(
    payerKeys.map((key) => {
      const client = new x402Client();
      registerExactEvmScheme(client, { signer: privateKeyToAccount(key) });
      return [key, new x402HTTPClient(client)];
    }),
  );
  return async (key) => {
    const client = clients.get(key);
    const required = client.getPaymentRequiredResponse((name) => challenge.headers.get(name), body);
    const payload = await client.createPaymentPayload(required);
    return Object.values(client.encodePaymentSignatureHeader(payload))[0];
  };
}
