import { IsIntIn, Setting } from '@tollgate/common';
import { IsNotEmpty, Matches } from 'class-validator';

export class BookkeeperServerEnvironment {
  @Setting({ help: 'Port for the operator API, health and metrics of the bookkeeper; 0 picks a free one.' })
  @IsIntIn(0, 65_535)
  readonly bookkeeperPort: number = 4023;

  @Setting({
    help: 'Address on which the operator API, health and metrics of the bookkeeper listen; 0.0.0.0 for every interface. Keep it off the public internet.',
  })
  @IsNotEmpty()
  readonly bookkeeperHost: string = '127.0.0.1';

  @Setting({
    help: 'Host names, besides those of loopback, by which browsers reach the console at /console, comma separated: those of the proxy with HTTPS in front of it.',
    as: 'list',
    example: 'console.example',
  })
  @Matches(/^([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])$/i, {
    each: true,
    message: 'every entry of $property must be a host name without a port',
  })
  readonly consoleHosts: string[] = [];

  @Setting({ help: 'Requests to /operator per minute and API key; 0 means no limit.' })
  @IsIntIn(0)
  readonly operatorRateLimitPerMinute: number = 600;

  @Setting({ help: 'Invalid API keys per minute and client address at the operator API; 0 means no limit.' })
  @IsIntIn(0)
  readonly operatorRefusedKeysPerMinute: number = 20;

  @Setting({
    help: 'Writes of one API key to /operator in a day, UTC: approvals, refunds, pauses and so on; 0 means no limit.',
  })
  @IsIntIn(0)
  readonly operatorWritesPerDay: number = 1_000;
}
