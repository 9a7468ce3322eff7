// One client in a process of its own: `serve-client.mjs <its module>`, configured by JSON in INTEROP_CLIENT. Each POST
// names a purchase (JSON: url, method?, headers?, body?); the answer is the client's result, or its error.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const { createClient } = await import(`./${process.argv[2]}`);
const client = await createClient(JSON.parse(process.env.INTEROP_CLIENT ?? '{}'));

const server = createServer(async (request, response) => {
  const { url, ...init } = await json(request);
  const answer = await client(url, init).catch((error) => ({ gaveUp: error.message }));
  response.end(JSON.stringify(answer));
});
// Keeps idle connections open, so that a second request after five idle seconds does not meet a closing connection.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready http://127.0.0.1:${server.address().port}\n`));
