import { PaymentError, type Hex } from '@tollgate/protocol';

import { FilePaymentStore } from './file-payment-store.js';
import { findNodeModule } from './find-node-module.js';
import { MemoryPaymentStore, type PaymentStore } from './payment-store.js';

/** The payer whose payments a store holds. */
interface Payer {
  address: Hex;
  chainId: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where this user's programs keep their state on this system: TOLLGATE_STATE_DIR if it is set. For Node only.
 * @throws PaymentError `store_unavailable` when nothing says where
 */
export function findStateDirectory(env: Environment): string {
  if (env['TOLLGATE_STATE_DIR']) return env['TOLLGATE_STATE_DIR'];
  const { platform } = process;
  const home = findNodeModule<typeof import('node:os')>('node:os')?.homedir() || null;
  if (platform === 'win32' && env['LOCALAPPDATA']) return `${env['LOCALAPPDATA']}/tollgate`;
  if (platform !== 'darwin' && env['XDG_STATE_HOME']) return `${env['XDG_STATE_HOME']}/tollgate`;
  if (home !== null)
    return `${home}/${platform === 'darwin' ? 'Library/Application Support' : '.local/state'}/tollgate`;
  throw new PaymentError('store_unavailable', 'This user has no folder to keep payments in.', {
    hint: 'Set TOLLGATE_STATE_DIR, or give `store`.',
  });
}

/** A payer's folder below a state folder: what one payer has paid serves no other payer and no other chain. */
export function openPayerStore(stateDirectory: string, { address, chainId }: Payer): FilePaymentStore {
  return new FilePaymentStore(`${stateDirectory}/payments/${chainId}-${address.toLowerCase()}`);
}

/** Of this process: calls that are clients of their own find each other's payments, as in files. */
const inMemory = new Map<string, MemoryPaymentStore>();

function openMemory({ address, chainId }: Payer): MemoryPaymentStore {
  const name = `${chainId}-${address.toLowerCase()}`;
  const store = inMemory.get(name) ?? new MemoryPaymentStore();
  inMemory.set(name, store);
  return store;
}

/** Workers may have Node's modules too, over files that end with a request. */
function keepsFiles(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent !== 'Cloudflare-Workers' && findNodeModule('node:fs/promises') !== undefined;
}

/** Whether the store that the options name loses payments with the process. It opens none. */
export function isVolatile(choice: PaymentStore | 'memory' | undefined): boolean {
  if (choice === undefined) return !keepsFiles();
  return choice === 'memory' || choice.isVolatile === true;
}

let isMemoryAnnounced = false;

/**
 * The store that the options name. By default it is a folder of the payer, and memory only where there is no file
 * system, which the console then says once.
 * @throws PaymentError `store_unavailable` as `findStateDirectory`
 */
export function openPaymentStore(choice: PaymentStore | 'memory' | undefined, payer: Payer): PaymentStore {
  if (choice === 'memory') return openMemory(payer);
  if (choice !== undefined) return choice;
  if (keepsFiles()) return openPayerStore(findStateDirectory(process.env), payer);
  if (!isMemoryAnnounced) {
    isMemoryAnnounced = true;
    console.warn(
      'Tollgate keeps payments in memory here, and loses them with this page or process. Give `store`: one of your own, or "memory" to agree.',
    );
  }
  return openMemory(payer);
}
