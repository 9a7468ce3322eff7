import { Agent, buildConnector } from 'undici';

/** The upstream was never reached, so the request cannot have had an effect. */
export class NotConnectedError extends Error {
  constructor(
    cause: Error,
    readonly timedOut: boolean,
  ) {
    super(timedOut ? 'no connection in time' : cause.message || 'no connection', { cause });
  }
}

/** An agent for one upstream. Connection errors are marked, for they alone prove that nothing was sent. */
export function createUpstreamAgent({ connectTimeoutMs }: { readonly connectTimeoutMs: number }): Agent {
  const connect = buildConnector({ timeout: 0 });
  return new Agent({
    connect: (options, done) => {
      let timedOut = false;
      // The connector returns its socket, which its types do not say.
      const socket = connect(options, (error, connected) => {
        clearTimeout(timer);
        if (error === null) done(null, connected);
        else done(new NotConnectedError(error, timedOut), null);
      }) as unknown as import('node:net').Socket;
      const timer = setTimeout(() => {
        timedOut = true;
        socket.destroy(new Error('time-out'));
      }, connectTimeoutMs);
    },
  });
}
