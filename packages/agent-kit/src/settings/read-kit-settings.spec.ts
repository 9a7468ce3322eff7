import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { AgentKit } from '../agent-kit.js';
import { readKitSettings } from './read-kit-settings.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kit-settings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const KEY = `0x${'11'.repeat(32)}`;
const createKit = (policy: string) => {
  const file = join(folder, 'policy.json');
  writeFileSync(file, policy);
  const problems: string[] = [];
  const settings = readKitSettings({ POLICY_FILE: file }, problems);
  expect(problems).toEqual([]);
  return new AgentKit(KEY, 'offline', { ...settings, rpcUrl: 'http://127.0.0.1:1' });
};

it('passes the policy of a file to the kit', async () => {
  const kit = createKit('{ "operations": ["swap"], "maxPerDay": { "USDC": "5" } }');
  expect(kit.operations().map(({ name }) => name)).toContain('swap');
});

it('reads the further chains to pay on', () => {
  const { payments } = readKitSettings({ PAYMENT_RPC_URLS: 'https://a.example/key, http://b.example' }, []);
  expect(payments?.chains).toEqual([{ rpcUrl: 'https://a.example/key' }, { rpcUrl: 'http://b.example' }]);
});

it('refuses a policy with a misspelled rule', () => {
  expect(() => createKit('{ "operatoins": ["swap"] }')).toThrow(/operatoins/);
});

it('lists every problem of the files and addresses', () => {
  const broken = join(folder, 'broken.json');
  writeFileSync(broken, '{');
  const problems: string[] = [];
  readKitSettings({ POLICY_FILE: broken, EXPLORER_URL: 'explorer' }, problems);
  readKitSettings({ POLICY_FILE: join(folder, 'missing.json'), PAYMENT_RPC_URLS: 'https://a.example,base' }, problems);
  expect(problems).toEqual([
    'POLICY_FILE is not JSON',
    'EXPLORER_URL is not an http or https URL',
    `POLICY_FILE cannot be read (ENOENT): ${join(folder, 'missing.json')}`,
    'PAYMENT_RPC_URLS must be http or https URLs, separated by commas',
  ]);
});
