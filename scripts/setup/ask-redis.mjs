// Checks whether a Redis answers, without a client library.
import { connect } from 'node:net';

/**
 * Whether a Redis answers at REDIS_URL; a request for a password is an answer too.
 * @param {string} url
 * @returns {Promise<boolean>}
 */
export function isRedisUrlAnswering(url) {
  return new Promise((resolve) => {
    let parsed;
    try {
      parsed = new URL(url);
    } catch {
      return resolve(false);
    }
    const socket = connect(Number(parsed.port || 6379), parsed.hostname.replace(/^\[|\]$/g, ''), () => {
      if (parsed.protocol === 'rediss:') finish(true);
      else socket.write('PING\r\n');
    });
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('data', (data) => finish(/^(\+PONG|-NOAUTH|-NOPERM)/.test(data.toString())));
  });
}
