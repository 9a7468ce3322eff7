// A client of the second version of MCP's SDK. Argument: JSON with `url` and `key`, or with `command`, `args` and `env` for
// stdio, and `tool`. Prints what it was told, as JSON.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { url, key, tool, ...program } = JSON.parse(process.argv[2]);
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } })
  : new StdioClientTransport(program);
const client = new Client({ name: 'interop', version: '2' }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler('elicitation/create', ({ params }) => {
  asked.push(params.message);
  return { action: 'accept', content: { confirm: true } };
});
try {
  await client.connect(transport);
  const { tools } = await client.listTools();
  const { structuredContent } = await client.callTool(tool);
  process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), structuredContent, asked }));
} catch (error) {
  process.stdout.write(JSON.stringify({ refused: String(error) }));
} finally {
  await client.close();
}
