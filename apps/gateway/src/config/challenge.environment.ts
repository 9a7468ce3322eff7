import { Setting } from '@tollgate/common';
import { ArrayNotEmpty, IsArray, IsOptional, IsUrl, MinLength } from 'class-validator';

export class ChallengeEnvironment {
  @Setting({
    help: 'Signs the references of challenges; comma separated, the first one signs, all are accepted. At least 32 characters each, the same for every replica.',
    secret: true,
    as: 'list',
    example: '$(openssl rand -hex 32)',
  })
  @IsArray()
  @ArrayNotEmpty()
  @MinLength(32, { each: true, message: 'every secret of $property must have at least 32 characters' })
  readonly challengeSecret!: string[];

  @Setting({
    help: 'YAML or JSON file of the routes that are sold, beside the weather.',
    example: 'routes.yaml',
  })
  @IsOptional()
  readonly routesFile?: string;

  @Setting({
    help: 'Block explorer; the log then links each transaction at {EXPLORER_URL}/tx/{hash}.',
    example: 'https://explorer.example',
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly explorerUrl?: string;
}
