import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { checkSettings, chosenSettings, warnOfPublicUrl } from './check-settings.js';

const SECRETS = {
  CHALLENGE_SECRET: 'a-challenge-secret-of-at-least-32-characters',
  AGENT_SECRET: 'an-agent-secret-of-at-least-32-characters',
};
const check = (env: NodeJS.ProcessEnv) => checkSettings(env, { ...SECRETS, ...chosenSettings(env) });

describe('the settings of a devnet', () => {
  it('are read where nothing is wrong', () => {
    expect(check({})).toEqual({
      ports: { PORT: 4020, VERIFIER_PORT: 4021, AGENT_WORKER_PORT: 4022, BOOKKEEPER_PORT: 4023 },
      chainId: undefined,
      bookDatabaseUrl: undefined,
    });
  });

  it("have the book in the devnet's own folder, or in the database that the bookkeeper reads from the settings", () => {
    expect(chosenSettings({ BOOK_FOLDER: '/elsewhere' })).toEqual({});
    const url = 'postgres://me@localhost/book';
    expect(check({ BOOK_DATABASE_URL: url })).toMatchObject({ bookDatabaseUrl: url });
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-settings-'));
    try {
      writeFileSync(join(folder, 'url'), `${url}\n`);
      expect(check({ BOOK_DATABASE_URL_FILE: join(folder, 'url') })).toMatchObject({ bookDatabaseUrl: url });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  // Prevents: a developer has to correct one setting per start, because only the first problem is reported.
  it('are listed all at once if they are wrong, each once, with the services that read them', () => {
    const wrong = {
      PORT: '99999',
      MAX_IN_FLIGHT: '0',
      LANE_MAX_IN_FLIGHT: 'many',
      LEASE_MS: '-1',
      LOG_LEVEL: 'loud',
      ROUTES_FILE: '/nowhere/routes.yaml',
      CHALLENGE_SECRET: 'canary',
    };
    const listed = ((): string => {
      try {
        check(wrong);
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(listed).toMatch(/ PORT must not be greater than 65535.*\(gateway\)/);
    expect(listed).toMatch(/ MAX_IN_FLIGHT .*\(verifier\)/);
    expect(listed).toMatch(/LANE_MAX_IN_FLIGHT .*\(agent-worker\)/);
    expect(listed).toMatch(/LEASE_MS .*\(gateway\)/);
    expect(listed).toMatch(/LOG_LEVEL .*\(verifier, agent-worker, bookkeeper, gateway\)/);
    expect(listed).toMatch(/ROUTES_FILE.*\/nowhere\/routes\.yaml.*\(gateway\)/);
    expect(listed).toMatch(/CHALLENGE_SECRET.*\(gateway\)/);
    expect(listed).toContain('7 problems');
    expect(listed).not.toContain('canary');
  });
});

describe('PUBLIC_URL', () => {
  it.each([
    ['http://localhost:4020', 4020, 'http://127.0.0.1:20123'],
    ['http://box.example', 80, 'http://127.0.0.1:20123'],
    ['https://box.example', 443, 'https://127.0.0.1:20123'],
  ])('causes a warning where it names the port that was taken: %s', (publicUrl, wantedPort, baseUrl) => {
    const warning = warnOfPublicUrl(publicUrl, wantedPort, baseUrl);
    expect(warning).toContain(publicUrl);
    expect(warning).toContain(baseUrl);
  });

  it.each([
    [undefined, 4020, 'http://127.0.0.1:20123'],
    ['', 4020, 'http://127.0.0.1:20123'],
    ['http://localhost:4020', 4020, 'http://127.0.0.1:4020'],
    ['https://api.example', 4020, 'http://127.0.0.1:20123'],
    ['http://localhost:4020', 0, 'http://127.0.0.1:20123'],
  ])('causes no warning: %j where port %d was wanted, at %s', (publicUrl, wantedPort, baseUrl) => {
    expect(warnOfPublicUrl(publicUrl, wantedPort, baseUrl)).toBeNull();
  });
});
