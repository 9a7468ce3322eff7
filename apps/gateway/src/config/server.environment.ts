import {
  IsIntIn,
  ProxyEnvironment,
  Setting,
  SettingGroup,
  type ChecksEntries,
  type ChecksTogether,
} from '@tollgate/config';
import { isPublicAddress } from '@tollgate/http';
import { IsArray, IsBoolean, IsNotEmpty, IsOptional, IsUrl } from 'class-validator';
import ipaddr from 'ipaddr.js';

const PRIVATE_NAME = /\.(localhost|local|internal|lan|home\.arpa|test)$/i;

export class ServerEnvironment implements ChecksEntries, ChecksTogether {
  @Setting({ help: 'Port the gateway listens on; 0 picks a free one.' })
  @IsIntIn(0, 65_535)
  readonly port: number = 4020;

  @Setting({ help: 'Address the gateway listens on; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly host: string = '127.0.0.1';

  @Setting({ help: 'URL at which clients reach the gateway.', example: 'https://api.example' })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly publicUrl?: string;

  @Setting({ help: 'Accept plain HTTP from other machines. Payments are credentials: for development only.' })
  @IsBoolean()
  readonly allowInsecureHttp: boolean = false;

  @SettingGroup(ProxyEnvironment) readonly proxies!: ProxyEnvironment;

  @Setting({ help: 'PEM file with the certificate chain; the gateway then serves HTTPS itself.', example: 'cert.pem' })
  @IsOptional()
  @IsNotEmpty()
  readonly tlsCert?: string;

  @Setting({ help: 'PEM file with the private key of TLS_CERT.', example: 'key.pem' })
  @IsOptional()
  @IsNotEmpty()
  readonly tlsKey?: string;

  @Setting({ help: 'Requests per minute and client address (IPv6: /64 network); 0: no limit.' })
  @IsIntIn(0)
  readonly rateLimitPerMinute: number = 0;

  @Setting({
    help: 'Invalid API keys per minute and client address; above it only keys that were accepted before are checked. 0: no limit.',
  })
  @IsIntIn(0)
  readonly refusedKeysPerMinute: number = 60;

  @Setting({
    help: 'Origins whose pages may call the gateway, comma separated; * is every origin, without its cookies.',
  })
  @IsArray()
  readonly corsOrigins: string[] = ['*'];

  @Setting({ help: 'Largest request body in bytes.' })
  @IsIntIn(1)
  readonly maxRequestBodyBytes: number = 1_048_576;

  @Setting({
    help: 'Milliseconds that the gateway goes on serving after SIGTERM while it is not ready, so that load balancers notice.',
  })
  @IsIntIn(0, 600_000)
  readonly drainMs: number = 5_000;

  @Setting({ help: 'Also log every unpaid 402.' })
  @IsBoolean()
  readonly logUnpaid: boolean = false;

  /** Logged once at the start. */
  get warnings(): string[] {
    const { allowInsecureHttp, host, tlsCert, publicUrl } = this;
    const warnings: string[] = [];
    if (allowInsecureHttp && tlsCert === undefined && isOpenToOthers(host)) {
      warnings.push(
        `ALLOW_INSECURE_HTTP on ${host}: anyone who can read the traffic can steal the payments in it. Use HTTPS.`,
      );
    }
    if (publicUrl !== undefined && isPublicHttp(publicUrl)) {
      warnings.push(`PUBLIC_URL=${publicUrl} directs clients to plain HTTP on a public name. Use https://.`);
    }
    return warnings;
  }

  problemsTogether(): string[] {
    return (this.tlsCert === undefined) === (this.tlsKey === undefined)
      ? []
      : ['TLS_CERT and TLS_KEY belong together: set both, or neither.'];
  }

  problemsOfEntries(): string[] {
    const wrong = this.corsOrigins.filter((origin) => origin !== '*' && !isOrigin(origin));
    return wrong.map((origin) => `CORS_ORIGINS: "${origin}" is not an origin such as https://shop.example.`);
  }
}

/** Whether the host means every interface or a public address. */
function isOpenToOthers(host: string): boolean {
  return isPublicAddress(host) || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified');
}

/** Whether the URL is plain HTTP on a public name. Names with one label and reserved domains are private. */
function isPublicHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const name = hostname.replace(/^\[|\]$|\.$/g, '');
  if (protocol !== 'http:') return false;
  if (ipaddr.isValid(name)) return isPublicAddress(name);
  return name.includes('.') && !PRIVATE_NAME.test(name);
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
