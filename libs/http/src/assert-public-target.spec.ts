import { startDnsServer, type DnsServer } from '../test/dns-server.js';
import { assertPublicTarget } from './resolve-target.js';

describe('a target to be registered', () => {
  const records: Record<string, string[]> = {
    'shop.example': ['8.8.8.8', '2606:4700:0:0:0:0:0:1111'],
    'inside.example': ['10.1.2.3'],
    'half.example': ['8.8.8.8', '192.168.0.1'],
    'six.example': ['fd00:0:0:0:0:0:0:1'],
    'mapped.example': ['0:0:0:0:0:ffff:7f00:1'],
  };
  let dns: DnsServer;

  beforeAll(async () => {
    dns = await startDnsServer((name, type) =>
      (records[name] ?? []).filter((address) => address.includes('.') === (type === 'A')),
    );
  });

  afterAll(() => dns.close());

  const check = (url: string, allowPrivateTargets = false) =>
    assertPublicTarget(url, { allowPrivateTargets, nameServers: [dns.address] });

  it('is accepted with a public host name or address, on any port', async () => {
    expect((await check('https://SHOP.example:8443/hook?a=1')).href).toBe('https://shop.example:8443/hook?a=1');
    expect((await check('https://8.8.8.8/')).href).toBe('https://8.8.8.8/');
    expect((await check('https://[2606:4700::1111]/')).href).toBe('https://[2606:4700::1111]/');
  });

  it.each([
    ['a loopback address', 'https://127.0.0.1/'],
    ['loopback as one decimal number', 'https://2130706433/'],
    ['loopback in hexadecimal', 'https://0x7f000001/'],
    ['loopback in octal', 'https://0177.0.0.1/'],
    ['loopback in short', 'https://127.1/'],
    ['loopback with a trailing dot', 'https://127.0.0.1./'],
    ['loopback in full-width digits', 'https://１２７.0.0.1/'],
    ['zero', 'https://0/'],
    ['the cloud metadata address', 'https://169.254.169.254/latest/meta-data/'],
    ['the cloud metadata address in hexadecimal', 'https://0xA9FEA9FE/'],
    ['loopback over IPv6', 'https://[::1]/'],
    ['unspecified over IPv6', 'https://[::]/'],
    ['loopback mapped into IPv6', 'https://[::ffff:127.0.0.1]/'],
    ['localhost', 'https://localhost/'],
    ['localhost with a trailing dot', 'https://LOCALHOST./'],
    ['a subdomain of localhost', 'https://api.localhost/'],
    ['a host name with a private address', 'https://inside.example/'],
    ['a host name with a private address among public ones', 'https://half.example/'],
    ['a host name with a private IPv6 address', 'https://six.example/'],
    ['a host name with IPv6-mapped loopback', 'https://mapped.example/'],
  ])('is refused with %s', async (_, url) => {
    await expect(check(url)).rejects.toMatchObject({ name: 'TargetRefusedError', code: 'private_target' });
  });

  it.each([
    ['text that is not a URL', 'shop.example', 'malformed_url'],
    ['another scheme', 'file:///etc/passwd', 'malformed_url'],
    ['a user name', 'https://user@shop.example/', 'malformed_url'],
    ['a password', 'https://:secret@shop.example/', 'malformed_url'],
    ['plain HTTP', 'http://shop.example/', 'insecure_url'],
    ['a host name without an address', 'https://nowhere.example/', 'unknown_host'],
  ])('is refused with %s', async (_, url, code) => {
    await expect(check(url)).rejects.toMatchObject({ name: 'TargetRefusedError', code });
  });

  it('reveals no address and no password in its refusal', async () => {
    await expect(check('https://inside.example/')).rejects.toThrow(/^inside\.example is not on the public internet\.$/);
    await expect(check('https://user:canary@shop.example/')).rejects.not.toThrow(/canary/);
  });

  it('may be private and use plain HTTP if that is allowed', async () => {
    expect((await check('http://localhost:3000/hook', true)).href).toBe('http://localhost:3000/hook');
    await expect(check('http://user@localhost/', true)).rejects.toMatchObject({ code: 'malformed_url' });
  });
});
