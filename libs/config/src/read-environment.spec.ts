import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ArrayMinSize, IsBoolean, IsInt, IsOptional, Matches, Max, Min, MinLength } from 'class-validator';

import type { ConfigurationError } from './configuration-error.js';
import { PaymentEnvironment } from './payment.environment.js';
import { listSettings, readEnvironment, warningsOf } from './read-environment.js';
import { RedisEnvironment } from './redis.environment.js';
import { Setting, SettingGroup } from './setting.js';

class ServerEnvironment {
  @Setting({ help: 'Port to listen on.' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly port: number = 4020;

  @Setting({ help: 'Signs challenges.', secret: true, as: 'list', example: 'openssl rand -hex 32' })
  @ArrayMinSize(1)
  @MinLength(32, { each: true, message: ({ value }) => `$property has ${String(value)}, which is too short` })
  readonly challengeSecret!: string[];

  @Setting({ help: 'Whether plain HTTP is served.' })
  @IsBoolean()
  readonly allowInsecureHttp: boolean = false;

  @Setting({ help: 'Certificate file.' })
  @IsOptional()
  @Matches(/\.pem$/)
  readonly tlsCert?: string;

  @SettingGroup(RedisEnvironment)
  readonly redis!: RedisEnvironment;

  @SettingGroup(PaymentEnvironment)
  readonly payment!: PaymentEnvironment;

  problemsTogether(): string[] {
    return this.port === 1 && this.tlsCert !== undefined ? ['PORT=1 does not go with TLS_CERT.'] : [];
  }
}

const valid = {
  CHALLENGE_SECRET: `${'a'.repeat(32)},${'b'.repeat(40)}`,
  ASSET_ADDRESS: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
  PAY_TO: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readEnvironment(ServerEnvironment, env);
  } catch (error) {
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe('readEnvironment', () => {
  it('converts texts, keeps defaults and nests groups', () => {
    const environment = readEnvironment(ServerEnvironment, {
      ...valid,
      PORT: '8080',
      ALLOW_INSECURE_HTTP: 'true',
      QUEUE_REDIS_URL: ' redis://queues:6379 ',
      LOG_LEVEL: 'ignored',
    });
    expect(environment).toMatchObject({
      port: 8080,
      allowInsecureHttp: true,
      challengeSecret: ['a'.repeat(32), 'b'.repeat(40)],
      redis: { redisUrl: 'redis://127.0.0.1:6379', queueRedisUrl: 'redis://queues:6379' },
      payment: { chainId: 1328, assetDecimals: 6, paymentPolicy: 'transfer', payTo: valid.PAY_TO },
    });
    expect(environment.tlsCert).toBeUndefined();
  });

  it("puts the queues on the ledger's Redis unless they have their own", () => {
    const { redis } = readEnvironment(ServerEnvironment, { ...valid, REDIS_URL: 'redis://ledger:6379' });
    expect(redis.queueRedisUrl).toBe('redis://ledger:6379');
  });

  it.each(['redis-cluster://a:6379', 'redis-sentinel://a:26379'])(
    'refuses %s, which is no form of a URL of Redis',
    (url) => {
      const expected = expect.stringMatching(/^REDIS_URL must be redis:\/\/host:port, redis\+cluster:/);
      expect(problemsOf({ ...valid, REDIS_URL: url })).toEqual([expected]);
    },
  );

  it('lists every problem of the URL of Sentinels at once, without its password', () => {
    const problems = problemsOf({
      ...valid,
      REDIS_URL: 'redis+sentinel://user:canary%@a:26379,b:70000,?db=x&password=canary',
      QUEUE_REDIS_URL: 'redis+sentinel://a,b:26380,[::1]/primary?sentinelPassword=x',
    });
    expect(problems).toEqual([
      expect.stringMatching(
        /^REDIS_URL has no valid port at host 2, and has no valid address at host 3, and does not name/,
      ),
    ]);
    expect(problems[0]).toMatch(/parameter other than db, .*db that is not a number.* % in the password/);
    expect(problems[0]).not.toContain('canary');
  });

  it('treats an empty variable as unset, because compose files pass it so', () => {
    expect(readEnvironment(ServerEnvironment, { ...valid, PORT: '', TLS_CERT: ' ' }).port).toBe(4020);
    expect(problemsOf({ ...valid, PAY_TO: '' })).toHaveLength(1);
  });

  it('lists every problem at once, groups included, each with its name and how to correct it', () => {
    const problems = problemsOf({
      PORT: '70000',
      CHAIN_ID: 'one',
      ALLOW_INSECURE_HTTP: 'yes',
      TLS_CERT: 'cert.txt',
      REDIS_URL: 'http://x',
      PAYMENT_POLICY: 'trust',
      PAY_TO: `0x${'0'.repeat(40)}`,
    });
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'ALLOW_INSECURE_HTTP',
      'ASSET_ADDRESS',
      'CHAIN_ID',
      'CHALLENGE_SECRET',
      'PAYMENT_POLICY',
      'PAY_TO',
      'PORT',
      'REDIS_URL',
      'TLS_CERT',
    ]);
    expect(problems.find((problem) => problem.startsWith('PORT'))).toBe(
      'PORT must not be greater than 65535. Port to listen on. For example PORT=4020',
    );
    expect(problems.find((problem) => problem.startsWith('CHALLENGE_SECRET'))).toBe(
      'CHALLENGE_SECRET is not set. Signs challenges. For example CHALLENGE_SECRET=openssl rand -hex 32',
    );
  });

  it.each(['1e3', '0x10', '12abc', 'NaN', 'Infinity', '--1', '1.5', '99999999999999999999999'])(
    'refuses the port %s',
    (port) => {
      expect(problemsOf({ ...valid, PORT: port })).toHaveLength(1);
    },
  );

  it('never prints the value of a secret, even if a message quotes it', () => {
    const canaries = ['canary-one', 'canary-two'];
    const problems = problemsOf({ ...valid, CHALLENGE_SECRET: canaries.join(' , ') });
    expect(problems).toHaveLength(1);
    for (const canary of canaries) expect(problems[0]).not.toContain(canary);
    expect(problems[0]).toContain('(hidden)');
  });

  it('reads a secret from the file named by NAME_FILE, and does not print its content', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tollgate-secret-')), 'secret');
    const others = { ASSET_ADDRESS: valid.ASSET_ADDRESS, PAY_TO: valid.PAY_TO };
    writeFileSync(file, `${'c'.repeat(40)}\n`);
    expect(readEnvironment(ServerEnvironment, { ...others, CHALLENGE_SECRET_FILE: file }).challengeSecret).toEqual([
      'c'.repeat(40),
    ]);
    expect(problemsOf({ ...valid, CHALLENGE_SECRET_FILE: file })).toEqual([
      'CHALLENGE_SECRET and CHALLENGE_SECRET_FILE are both set. Keep one of them.',
    ]);
    expect(problemsOf({ ...others, CHALLENGE_SECRET_FILE: `${file}-gone` })).toEqual([
      `CHALLENGE_SECRET_FILE cannot be read (ENOENT): ${file}-gone`,
    ]);
    writeFileSync(file, 'canary-three');
    const [problem] = problemsOf({ ...others, CHALLENGE_SECRET_FILE: file });
    expect(problem).toContain('(hidden)');
    expect(problem).not.toContain('canary');
  });

  it('warns of the file of a secret that others can read, or its group where the process owns it', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tollgate-secret-')), 'secret');
    writeFileSync(file, 'c'.repeat(40));
    const others = { ASSET_ADDRESS: valid.ASSET_ADDRESS, PAY_TO: valid.PAY_TO };
    const read = (mode: number) => {
      chmodSync(file, mode);
      return warningsOf(readEnvironment(ServerEnvironment, { ...others, CHALLENGE_SECRET_FILE: file }));
    };
    const warning = `CHALLENGE_SECRET_FILE: others than its owner can read ${file}. Run chmod 400 on it.`;
    for (const mode of [0o644, 0o440, 0o604, 0o666]) expect(read(mode)).toEqual([warning]);
    for (const mode of [0o600, 0o400]) expect(read(mode)).toEqual([]);
    // A group's file of another owner, as Kubernetes mounts Secrets, is for that group to read.
    const uid = jest.spyOn(process, 'getuid').mockReturnValue(4_000_000);
    expect([read(0o440), read(0o444)]).toEqual([[], [warning]]);
    uid.mockRestore();
  });

  it("lists the warnings of every group, and a process's own, once all settings are valid", () => {
    const environment = readEnvironment(ServerEnvironment, { ...valid, PAYMENT_POLICY: 'receipt' });
    expect(warningsOf(environment)).toEqual([expect.stringContaining('PAYMENT_POLICY=receipt')]);
    expect(warningsOf(readEnvironment(ServerEnvironment, valid))).toEqual([]);
  });

  it('checks settings together only if each is valid alone', () => {
    expect(problemsOf({ ...valid, PORT: '1', TLS_CERT: 'cert.pem' })).toEqual(['PORT=1 does not go with TLS_CERT.']);
    expect(problemsOf({ ...valid, PORT: '1', TLS_CERT: 'cert.txt' })).toHaveLength(1);
  });
});

describe('listSettings', () => {
  it('lists names, defaults, and which are required or secret', () => {
    const settings = new Map(listSettings(ServerEnvironment).map((setting) => [setting.name, setting]));
    expect(settings.get('PORT')).toMatchObject({ kind: 'number', required: false, defaultText: '4020' });
    expect(settings.get('CHALLENGE_SECRET')).toMatchObject({ kind: 'list', required: true, secret: true });
    expect(settings.get('TLS_CERT')).toMatchObject({ required: false, defaultText: undefined });
    expect(settings.get('PAY_TO')).toMatchObject({ required: true });
    expect([...settings.keys()].slice(0, 2)).toEqual(['REDIS_URL', 'QUEUE_REDIS_URL']);
  });
});
