// One client in a process of its own: `serve-client.mjs <its module>`, configured by JSON in INTEROP_CLIENT. Each POST
// says what to buy (JSON: url, method?, headers?, body?) and is answered with what the client got, or why it gave up.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const { createClient } = await import(`./${process.argv[2]}`);
const client = await createClient(JSON.parse(process.env.INTEROP_CLIENT ?? '{}'));

const server = createServer(async (request, response) => {
  const { url, ...init } = await json(request);
  const answer = await client(url, init).catch((error) => ({ gaveUp: error.message }));
  response.end(JSON.stringify(answer));
});
// Whoever asks again after five idle seconds is not to meet the end of his connection.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready http://127.0.0.1:${server.address().port}\n`));
