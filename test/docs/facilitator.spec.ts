import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { useStack } from '../harness/stack/use-stack.js';

const PAGE = readFileSync('docs/facilitator.md', 'utf8');
const GATEWAY = 'http://127.0.0.1:4020';

/** The page's commands, and the answers that it shows for them. */
const examples = [...PAGE.matchAll(/```sh\n(curl [\s\S]*?)```\n\n```json\n([\s\S]*?)```/g)].map(
  ([, command = '', answer = '']) => ({ command, answer: JSON.parse(answer) as object }),
);
/** The settings with which the page starts `npm run dev`. */
const [, assignments = ''] = /```sh\n(FACILITATOR.*) npm run dev\n```/.exec(PAGE) ?? [];
const env = Object.fromEntries(assignments.split(' ').map((one) => one.split('=') as [string, string]));

describe('docs/facilitator.md', () => {
  const stack = useStack({ env: { SIGNED_PAYMENTS: 'true', ...env } });

  it('starts a facilitator', () => {
    expect(env).toEqual({ FACILITATOR: 'true', FACILITATOR_PAY_TO: stack().chain.payTo });
    expect(examples).toHaveLength(4);
  });

  it.each(examples.map((example, index) => [index + 1, example] as const))(
    'shows the answer to command %s',
    (_, { command, answer }) => {
      const text = execFileSync('sh', ['-ec', command.replaceAll(GATEWAY, stack().baseUrl)]);
      const answered = JSON.parse(text.toString()) as Record<string, unknown>;
      expect(answered).toEqual(JSON.parse(JSON.stringify(answer), fillIn(answered)));
    },
  );

  // After the commands, because they settle this very payment.
  it('has the payment of its page as the example of /docs/facilitator', async () => {
    const written = readFileSync('examples/settle-a-payment/payment.json', 'utf8');
    const document = (await (await fetch(`${stack().baseUrl}/docs/facilitator/openapi.json`)).json()) as {
      paths: Record<string, { post: { requestBody: { content: Record<string, { examples: object }> } } }>;
    };
    for (const path of ['verify', 'settle']) {
      const { content } = document.paths[`/facilitator/${path}`]!.post.requestBody;
      expect(content['application/json']!.examples).toMatchObject({ devnet: { value: JSON.parse(written) as object } });
    }
  });

  it('docs/http-api.md has every operation of /docs but those of jobs, and no other', async () => {
    const documents = ['/docs', '/docs/facilitator', '/docs/operations'].map(async (folder) => {
      const { paths } = (await (await fetch(`${stack().baseUrl}${folder}/openapi.json`)).json()) as {
        paths: Record<string, object>;
      };
      return Object.entries(paths);
    });
    const served = (await Promise.all(documents))
      .flat()
      .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
    const rows = readFileSync('docs/http-api.md', 'utf8').matchAll(/^\| `([A-Z]+ \/[^`]*)` +\|/gm);
    // The pages for people are not part of the document.
    const isPage = (operation = '') => /^GET \/(llms\.txt|)$|^(GET|POST) \/pay(\/|$)/.test(operation);
    const listed = [...rows].map(([, operation]) => operation).filter((one) => !isPage(one));
    expect(served.length).toBeGreaterThan(5);
    expect(listed.sort()).toEqual(served.sort());
  });

  it('names settings that exist', () => {
    const named = [...PAGE.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name = '']) => name);
    const settings = readFileSync('docs/settings.md', 'utf8');
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !settings.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

/** `0x…` stands for a transaction hash, which differs each time. */
function fillIn(answered: Record<string, unknown>) {
  return (key: string, value: unknown): unknown => {
    if (value !== '0x…') return value;
    expect(answered[key]).toMatch(/^0x[0-9a-f]{64}$/);
    return answered[key];
  };
}
