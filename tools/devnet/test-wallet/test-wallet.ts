// A wallet for the pages of a devnet: it announces itself as wallets do (EIP-6963), asks nobody, and holds no key. The
// accounts are anvil's, which has unlocked them. It is built by `npm run dev` and is part of no build and no image.

/** One for each chain. */
const nodes = ((document.currentScript as HTMLScriptElement).dataset['rpc'] ?? '').split(' ');
/** Of the chain that the wallet is on. */
let current = nodes[0] ?? '';
let calls = 0;

async function call(method: string, params: unknown, node = current): Promise<unknown> {
  calls += 1;
  const response = await fetch(node, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: calls, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { code: number; message: string } };
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
  return result;
}

/** A page asks for the chain's id afterwards. */
async function moveTo(chainId: string): Promise<null> {
  for (const node of nodes) if ((await call('eth_chainId', [], node)) === chainId) current = node;
  return null;
}

async function readAccounts(): Promise<unknown[]> {
  const accounts = (await call('eth_accounts', [])) as unknown[];
  return accounts.slice(0, 1);
}

async function request({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> {
  switch (method) {
    case 'eth_requestAccounts':
    case 'eth_accounts':
      return readAccounts();
    case 'wallet_switchEthereumChain':
    case 'wallet_addEthereumChain':
      return moveTo((params as [{ chainId: string }])[0].chainId);
    case 'eth_signTypedData_v4': {
      const [account, text] = params as [string, string];
      return call(method, [account, JSON.parse(text)]);
    }
    default:
      return call(method, params);
  }
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Crect width='8' height='8' rx='2' fill='%230b5cad'/%3E%3C/svg%3E";
const detail = {
  info: { uuid: '7c9d3c4e-3b0f-4a6e-9f0e-0d6f0c1e2a55', name: 'the test wallet', icon, rdns: 'local.tollgate.test' },
  provider: { request },
};

function announce(): void {
  window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze(detail) }));
}

window.addEventListener('eip6963:requestProvider', announce);
announce();
