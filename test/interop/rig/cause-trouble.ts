import type { HttpTap } from '../../../tools/devnet/interop/http-tap.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import type { RpcCall } from '../../harness/network/rpc-proxy.js';
import { waitFor } from '../../harness/retry.js';
import { holdsRelayer } from '../../harness/stack/holds-relayer.js';
import type { Fault } from '../matrix.js';
import type { Rig } from './start-rig.js';

/** Where a fault is caused. */
export interface Place {
  rig: Rig;
  /** In front of the server that the client pays. */
  tap: HttpTap;
  /** Whether a client was answered that the settlement is pending. */
  isToldToWait: () => boolean;
}

type Trouble = <Result>(place: Place, buy: () => Promise<Result>) => Promise<Result>;

/** Both methods: with and without waiting for the receipt. */
const sends = (call: RpcCall): boolean => JSON.stringify(call).includes('"eth_sendRawTransaction');

/** Causes each fault while a payment is made, and repairs it. Throws when the fault did not happen. */
export const TROUBLE: Readonly<Record<Fault, Trouble>> = {
  slowChain: async ({ rig: { chain }, isToldToWait }, buy) => {
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const mineLate = async () => {
      try {
        await waitFor('an answer that the settlement is pending', isToldToWait);
      } finally {
        await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
        await callRpc(chain.rpcUrl, 'evm_mine');
      }
    };
    const [result] = await Promise.all([buy(), mineLate()]);
    return result;
  },

  lostReply: async ({ rig: { rpc } }, buy) => {
    let lost = 0;
    rpc.intercept('*', async (call, forward) => {
      const body = await forward();
      return sends(call) && lost++ === 0 ? 'broken' : { body };
    });
    const result = await buy();
    expect(lost).toBeGreaterThan(0);
    return result;
  },

  killedVerifier: async ({ rig: { rpc, stack } }, buy) => {
    const [verifier] = stack.verifiers;
    if (!verifier) throw new Error('the rig has no verifier');
    const restarted = new Promise<void>((resolve, reject) => {
      rpc.intercept('*', async (call, forward) => {
        const body = await forward();
        if (!sends(call)) return { body };
        rpc.reset();
        await verifier.kill('SIGKILL');
        // A metered route has no offer for the next client between the end of the killed verifier's lease and the next one.
        const holdAgain = () => waitFor('the verifier to hold its relayer again', () => holdsRelayer(verifier));
        verifier.restart().then(holdAgain).then(resolve, reject);
        return 'broken';
      });
    });
    const [result] = await Promise.all([buy(), restarted]);
    return result;
  },

  lostAnswer: async ({ tap }, buy) => {
    let lost = 0;
    tap.interfere(async (request, send) => {
      const answer = await send(request);
      if (answer.status === 200 && lost++ === 0) throw new Error('the answer gets lost');
      return answer;
    });
    const result = await buy();
    expect(lost).toBeGreaterThan(0);
    return result;
  },
};
