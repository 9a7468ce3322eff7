import { randomBytes } from 'node:crypto';

import { ConfigurationError, listSettings, readEnvironment, warningsOf } from '@tollgate/config';

import { GatewayEnvironment } from './gateway.config.js';

const complete = {
  CHALLENGE_SECRET: 'a-secret-of-more-than-thirty-two-characters',
  PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  ASSET_ADDRESS: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
};

function problemsOf(env: Record<string, string>): string {
  try {
    readEnvironment(GatewayEnvironment, env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  return '';
}

describe('the configuration of the gateway', () => {
  it('has the defaults of the specification', () => {
    const environment = readEnvironment(GatewayEnvironment, complete);
    expect(environment.payment).toMatchObject({ network: 'chain-testnet', chainId: 1328, maxTimeoutSeconds: 300 });
    expect(environment.server).toMatchObject({ port: 4020, host: '127.0.0.1', allowInsecureHttp: false });
    expect(environment.challenge.challengeSecret).toEqual([complete.CHALLENGE_SECRET]);
  });

  it('names every missing setting at once', () => {
    const problems = problemsOf({});
    for (const name of ['CHALLENGE_SECRET', 'PAY_TO', 'ASSET_ADDRESS']) expect(problems).toContain(name);
  });

  it('names invalid entries of its lists, whatever else is invalid', () => {
    const lists = { FACILITATOR_PAY_TO: '0x12', FACILITATOR_ASSETS: 'foo', TRUST_PROXY: 'all', CORS_ORIGINS: 'a/b' };
    const others = { FACILITATOR: 'maybe', PUBLIC_URL: 'nowhere', PORT: 'four' };
    const problems = problemsOf({ ...complete, ...lists, ...others });
    for (const name of Object.keys({ ...lists, ...others })) expect(problems).toContain(`  - ${name}`);
  });

  it.each([
    ['PAY_TO', `0x${'0'.repeat(40)}`],
    ['PAY_TO', '0x1234'],
    ['CHALLENGE_SECRET', 'short'],
    ['CHALLENGE_SECRET', `${complete.CHALLENGE_SECRET},short`],
    ['PORT', 'four'],
    ['TLS_CERT', 'cert.pem'],
    ['TRUST_PROXY', 'everybody'],
    ['TRUST_PROXY', '10.0.0.0/8,0.0.0.0/0'],
    ['TRUST_PROXY', '::/0'],
    ['PAY_TO', complete.ASSET_ADDRESS.toLowerCase()],
    ['CORS_ORIGINS', 'shop.example/path'],
    ['VERIFY_RETRY_MS', '20000'],
    ['BOOK_QUERY_WITHOUT', 'token,_'],
    ['WEATHER_PRICE', '-1'],
    ['WEATHER_SOURCE', 'none'],
    ['MAX_STORED_ANSWER_BYTES', '1e9'],
    ['MAX_REQUEST_BODY_BYTES', '0'],
    ['LOG_UNPAID', 'yes'],
  ])('refuses %s=%s and says how to fix it', (name, value) => {
    expect(problemsOf({ ...complete, [name]: value })).toContain(name);
  });

  it('refuses signed payments under the policy receipt', () => {
    const env = { ...complete, SIGNED_PAYMENTS: 'true' };
    expect(problemsOf({ ...env, PAYMENT_POLICY: 'receipt' })).toContain('SIGNED_PAYMENTS');
    const serving = { ...complete, FACILITATOR: 'true', PAYMENT_POLICY: 'receipt' };
    expect(problemsOf(serving)).toContain('FACILITATOR needs PAYMENT_POLICY transfer or bound');
    expect(problemsOf({ ...env, PAYMENT_POLICY: 'bound' })).toBe('');
  });

  it.each([
    '$(openssl rand -hex 32)',
    '${A_SECRET_THAT_NOTHING_HAS_FILLED_IN}',
    '<a random text of 32 characters or more>',
    'change-me-change-me-change-me-change-me',
    'your-secret-of-at-least-32-characters-here',
    'x'.repeat(40),
    '12345'.repeat(8),
    '0123456789abcdef'.repeat(4),
    '1234567890'.repeat(7).slice(0, 64),
    Buffer.from(Array.from({ length: 32 }, (_, index) => index + 1)).toString('hex'),
    '7f3a9c0b51d2e8'.padStart(64, '0'),
  ])('refuses a placeholder as a secret: %s', (text) => {
    expect(problemsOf({ ...complete, CHALLENGE_SECRET: text })).toContain('CHALLENGE_SECRET is a placeholder');
    expect(problemsOf({ ...complete, CHALLENGE_SECRET: `${complete.CHALLENGE_SECRET},${text}` })).toContain(
      'placeholder',
    );
    expect(problemsOf({ ...complete, AGENT_SECRET: text })).toContain('AGENT_SECRET holds a placeholder');
  });

  it('accepts random text in the usual forms as a secret', () => {
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      const secrets = Array.from({ length: 200 }, () => randomBytes(32).toString(form));
      expect(problemsOf({ ...complete, CHALLENGE_SECRET: secrets.join() })).toBe('');
    }
  });

  it('refuses a secret that is used twice', () => {
    const secret = complete.CHALLENGE_SECRET;
    expect(problemsOf({ ...complete, CHALLENGE_SECRET: `${secret},${secret}` })).toContain('two entries are equal');
    const other = 'another-secret-of-more-than-32-characters';
    const equal = problemsOf({ ...complete, CHALLENGE_SECRET: `${other},${secret}`, AGENT_SECRET: secret });
    expect(equal).toContain('AGENT_SECRET and CHALLENGE_SECRET are equal');
    expect(equal).not.toContain(secret);
  });

  it.each<[Record<string, string>, string[]]>([
    [{}, []],
    [{ PAYMENT_POLICY: 'receipt' }, ['PAYMENT_POLICY=receipt']],
    [{ ALLOW_INSECURE_HTTP: 'true' }, []],
    [{ ALLOW_INSECURE_HTTP: 'true', HOST: '10.0.0.7' }, []],
    [{ ALLOW_INSECURE_HTTP: 'true', HOST: '0.0.0.0' }, ['ALLOW_INSECURE_HTTP on 0.0.0.0']],
    [{ ALLOW_INSECURE_HTTP: 'true', HOST: '::' }, ['ALLOW_INSECURE_HTTP on ::']],
    [{ ALLOW_INSECURE_HTTP: 'true', HOST: '8.8.8.8' }, ['ALLOW_INSECURE_HTTP on 8.8.8.8']],
    [{ ALLOW_INSECURE_HTTP: 'true', HOST: '0.0.0.0', TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' }, []],
    [{ HOST: '0.0.0.0' }, []],
    [{ PUBLIC_URL: 'https://api.example.com' }, []],
    [{ PUBLIC_URL: 'http://api.example.com' }, ['PUBLIC_URL=http://api.example.com']],
    [{ PUBLIC_URL: 'http://8.8.8.8:4020' }, ['PUBLIC_URL=http://8.8.8.8:4020']],
    [{ PUBLIC_URL: 'http://localhost:4020' }, []],
    [{ PUBLIC_URL: 'http://127.0.0.1:4020' }, []],
    [{ PUBLIC_URL: 'http://gateway:4020' }, []],
    [{ WEATHER_SOURCE: 'off' }, ['sells nothing']],
    [{ WEATHER_SOURCE: 'off', ROUTES_FILE: 'routes.yaml' }, []],
    [{ PUBLIC_URL: 'http://gateway.shop.internal' }, []],
  ])('logs a warning at the start if it is risky: %j', (env, warnings) => {
    const environment = readEnvironment(GatewayEnvironment, { ...complete, ...env });
    expect(warningsOf(environment)).toEqual(warnings.map((warning): unknown => expect.stringContaining(warning)));
  });

  it('never prints a secret', () => {
    expect(problemsOf({ ...complete, CHALLENGE_SECRET: 'too-short-secret' })).not.toContain('too-short-secret');
  });

  it('describes every setting', () => {
    for (const setting of listSettings(GatewayEnvironment)) expect(setting.help.length).toBeGreaterThan(10);
  });
});
