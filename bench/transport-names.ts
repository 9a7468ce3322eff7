/** Where client and server of the transport lane meet. */
export const QUEUE = 'bench';
export const ECHO_LIST = 'echo:requests';
