import { isPublicAddress, Setting, type ChecksEntries, type ChecksTogether } from '@tollgate/common';
import { IsArray, IsBoolean, IsInt, IsNotEmpty, IsOptional, IsUrl, Max, Min } from 'class-validator';
import ipaddr from 'ipaddr.js';

const PRIVATE_NAME = /\.(localhost|local|internal|lan|home\.arpa|test)$/i;

export class ServerEnvironment implements ChecksEntries, ChecksTogether {
  @Setting({ help: 'Port the gateway listens on; 0 takes a free one.' })
  @IsInt()
  @Min(0)
  @Max(65_535)
  readonly port: number = 4020;

  @Setting({ help: 'Address the gateway listens on; 0.0.0.0 for every interface.' })
  @IsNotEmpty()
  readonly host: string = '127.0.0.1';

  @Setting({ help: 'Where clients reach the gateway, for links in documents.', example: 'https://api.example' })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly publicUrl?: string;

  @Setting({ help: 'Accept plain HTTP from other machines. Proofs are credentials: only for development.' })
  @IsBoolean()
  readonly allowInsecureHttp: boolean = false;

  @Setting({
    help: 'Addresses or CIDR ranges of the proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, comma separated.',
    example: '10.0.0.0/8',
  })
  @IsArray()
  readonly trustProxy: string[] = [];

  @Setting({ help: 'PEM file with the certificate chain; the gateway then serves HTTPS itself.', example: 'cert.pem' })
  @IsOptional()
  @IsNotEmpty()
  readonly tlsCert?: string;

  @Setting({ help: 'PEM file with the private key of TLS_CERT.', example: 'key.pem' })
  @IsOptional()
  @IsNotEmpty()
  readonly tlsKey?: string;

  @Setting({ help: 'Requests a minute from one client address (IPv6: one /64 network); 0 sets no limit.' })
  @IsInt()
  @Min(0)
  readonly rateLimitPerMinute: number = 0;

  @Setting({
    help: 'Wrong API keys a minute from one client address; above it only keys that were let in before are looked up for it. 0 sets no limit.',
  })
  @IsInt()
  @Min(0)
  readonly refusedKeysPerMinute: number = 60;

  @Setting({ help: 'Origins whose browser pages may call the gateway, comma separated; * for every one.' })
  @IsArray()
  readonly corsOrigins: string[] = ['*'];

  @Setting({ help: 'Largest body of a request in bytes.' })
  @IsInt()
  @Min(0)
  readonly maxRequestBodyBytes: number = 1_048_576;

  @Setting({
    help: 'Milliseconds that the gateway goes on serving after SIGTERM or SIGINT, not ready any more, so that load balancers notice; 0 stops at once.',
  })
  @IsInt()
  @Min(0)
  @Max(600_000)
  readonly drainMs: number = 5_000;

  @Setting({ help: 'Log every unpaid 402 too.' })
  @IsBoolean()
  readonly logUnpaid: boolean = false;

  /** For the log, once at start. */
  get warnings(): string[] {
    const { allowInsecureHttp, host, tlsCert, publicUrl } = this;
    const warnings: string[] = [];
    if (allowInsecureHttp && tlsCert === undefined && isOpenToOthers(host)) {
      warnings.push(`ALLOW_INSECURE_HTTP on ${host}: whoever reads the traffic can take the proofs in it. Use HTTPS.`);
    }
    if (publicUrl !== undefined && isPublicHttp(publicUrl)) {
      warnings.push(`PUBLIC_URL=${publicUrl} leads clients to plain HTTP on a public name. Use https://.`);
    }
    return warnings;
  }

  problemsTogether(): string[] {
    return (this.tlsCert === undefined) === (this.tlsKey === undefined)
      ? []
      : ['TLS_CERT and TLS_KEY go together: set both, or neither.'];
  }

  problemsOfEntries(): string[] {
    const problems: string[] = [];
    for (const range of this.trustProxy) {
      if (!ipaddr.isValid(range) && !ipaddr.isValidCIDR(range)) {
        problems.push(`TRUST_PROXY: "${range}" is neither an address nor a CIDR range such as 10.0.0.0/8.`);
      } else if (range.endsWith('/0')) {
        problems.push(
          `TRUST_PROXY: "${range}" is every address: any client could claim another's. Name the proxies alone, as 10.0.0.0/8.`,
        );
      }
    }
    for (const origin of this.corsOrigins) {
      if (origin !== '*' && !isOrigin(origin)) {
        problems.push(`CORS_ORIGINS: "${origin}" is not an origin such as https://shop.example.`);
      }
    }
    return problems;
  }
}

/** Every interface, or an address of the public internet. */
function isOpenToOthers(host: string): boolean {
  return isPublicAddress(host) || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified');
}

/** Names of one label, and of the domains that are never given out, are of a private network. */
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
